"""OpenAI Responses: the items of an answer, and the response object around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, TypeAlias

from openprogram.fakeapi import web_search
from openprogram.fakeapi.answer import (
    Block,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    WebFoundBlock,
    WebSearchBlock,
    encrypted,
    joined,
)
from openprogram.fakeapi.dialects.base import Exchange, merged_usage
from openprogram.fakeapi.shapes import JsonObject, parsed_arguments

Status: TypeAlias = Literal["in_progress", "completed", "incomplete"]

_PREFIXES = {"text": "msg", "thinking": "rs", "tool_use": "fc", "web_search": "ws"}
_INCOMPLETE = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}


@dataclass(frozen=True, slots=True)
class Part:
    """One output item: its place, its id, and the block that it shows. A search of the provider's own has a
    result as well, and no block."""

    index: int
    id: str
    block: Block | None = None
    item: JsonObject | None = None


def parts(exchange: Exchange) -> Iterator[Part]:
    """The output items in order. A call of a function that is not loaded yet is preceded by the provider's
    search for it, where the request has one."""
    loaded: set[str] = set()
    index = 0
    for block in exchange.answer.blocks:
        if isinstance(block, WebFoundBlock):
            continue  # no block of its own here
        definition = exchange.loadable.get(block.name) if isinstance(block, ToolUseBlock) else None
        if definition is not None and definition["name"] not in loaded:
            loaded.add(definition["name"])
            for item in _hosted_search(exchange, index, definition):
                yield Part(index, item["id"], item=item)
                index += 1
        yield Part(index, item_id(exchange, block, index), block)
        index += 1


def item_id(exchange: Exchange, block: Block, index: int) -> str:
    """The id of the item of a block; items of a kind begin alike."""
    prefix = "tsc" if is_client_search(exchange, block) else _PREFIXES[block.type]
    return f"{prefix}_{_token(exchange, index)}"


def _token(exchange: Exchange, index: int) -> str:
    return blake2b(f"{exchange.id} {index}".encode(), digest_size=24).hexdigest()


def is_client_search(exchange: Exchange, block: Block) -> bool:
    """Whether a call is the search that the client runs: it has an item type of its own."""
    return exchange.client_search and isinstance(block, ToolUseBlock) and block.name == "tool_search"


def _hosted_search(exchange: Exchange, index: int, definition: JsonObject) -> Iterator[JsonObject]:
    common: JsonObject = {"execution": "server", "call_id": None, "status": "completed"}
    arguments = {"paths": [definition["name"]]}
    call_id, output_id = f"tsc_{_token(exchange, index)}", f"tso_{_token(exchange, index + 1)}"
    yield {"id": call_id, "type": "tool_search_call", "arguments": arguments, **common}
    yield {"id": output_id, "type": "tool_search_output", "tools": [definition], **common}


def item(exchange: Exchange, part: Part, status: Status = "completed") -> JsonObject:
    """An item as JSON. One that is in progress has no content yet."""
    block = part.block
    if block is None:
        return {**(part.item or {}), "status": status}
    done = status != "in_progress"
    text = joined(block.chunks) if done else ""
    match block:
        case TextBlock():
            content = [text_part(text, block)] if done else []
            return {"id": part.id, "type": "message", "status": status, "role": "assistant", "content": content}
        case WebSearchBlock():
            return web_search.search_call(block, part.id, status, sources=exchange.search_sources)
        case WebFoundBlock():
            raise TypeError("what a search found is part of it")
        case ThinkingBlock():
            summary = [summary_part(text)] if done and exchange.show_thinking else []
            sealed = encrypted(joined(block.chunks))
            return {"id": part.id, "type": "reasoning", "summary": summary, "encrypted_content": sealed}
        case ToolUseBlock() if is_client_search(exchange, block):
            return {
                "id": part.id,
                "type": "tool_search_call",
                "execution": "client",
                "call_id": block.id,
                "status": status,
                "arguments": parsed_arguments(text) if done else {},
            }
        case ToolUseBlock():
            return {
                "id": part.id,
                "type": "function_call",
                "status": status,
                "call_id": block.id,
                "name": block.name,
                "arguments": text,
            }


def text_part(text: str, block: TextBlock | None = None) -> JsonObject:
    """Text as a content part of a message, with where it comes from once it is done."""
    cited = [web_search.annotation(page, len(text)) for page in block.cites] if block else []
    return {"type": "output_text", "text": text, "annotations": cited, "logprobs": []}


def summary_part(text: str) -> JsonObject:
    """Text as a part of a reasoning summary."""
    return {"type": "summary_text", "text": text}


def items(exchange: Exchange) -> list[JsonObject]:
    """All items of the finished answer; the last one of a cut answer is incomplete."""
    every = list(parts(exchange))
    cut = exchange.answer.stop in _INCOMPLETE
    return [item(exchange, part, "incomplete" if cut and part is every[-1] else "completed") for part in every]


def response_object(exchange: Exchange, output: list[JsonObject], *, ended: bool) -> JsonObject:
    """The response, in progress or ended."""
    reason = _INCOMPLETE.get(exchange.answer.stop) if ended else None
    status = "in_progress" if not ended else "incomplete" if reason else "completed"
    response: JsonObject = {
        "id": exchange.id,
        "object": "response",
        "created_at": exchange.created,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "model": exchange.model,
        "output": output,
        "previous_response_id": None,
        **exchange.echo,
        "usage": _usage(exchange) if ended and exchange.answer.report_usage else None,
    }
    if ended and exchange.diagnosis is not None:
        response["prompt_cache_diagnostics"] = exchange.diagnosis
    return response


def _usage(exchange: Exchange) -> JsonObject:
    """OpenAI's inclusive convention: what was cached and what was written are part of the input tokens."""
    cache = exchange.cache
    usage: JsonObject = {
        "input_tokens": cache.prompt,
        "input_tokens_details": {
            "cached_tokens": cache.read,
            "cache_write_tokens": cache.written,
            "cache_write_tokens_details": {"ttl_30m_tokens": cache.write_30m, "ttl_12h_tokens": cache.write_12h},
        },
        "output_tokens": exchange.output,
        "output_tokens_details": {"reasoning_tokens": exchange.reasoning},
        "total_tokens": cache.prompt + exchange.output,
    }
    return merged_usage(usage, exchange.answer.usage)
