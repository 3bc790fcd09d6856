"""Anthropic Messages on the wire: answers, streams and errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import orjson

from openprogram.fakeapi import web_search
from openprogram.fakeapi.answer import (
    Block,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    WebFoundBlock,
    WebSearchBlock,
    joined,
)
from openprogram.fakeapi.cache.segments import Rendering, SegmentTable
from openprogram.fakeapi.conversation import Conversation
from openprogram.fakeapi.dialects import anthropic_conversation, anthropic_prompt
from openprogram.fakeapi.dialects.base import Exchange, Frame, RequestOptions, merged_usage
from openprogram.fakeapi.models import Api
from openprogram.fakeapi.rules.base import Violation
from openprogram.fakeapi.shapes import JsonObject, compact, json_string, parsed_arguments

_FAULTS: Final = {
    "rate_limit": Violation(
        "This request would exceed your organization's rate limit. Please try again later.",
        429,
        "rate_limit_error",
    ),
    "overloaded": Violation("Overloaded", 529, "overloaded_error"),
    "server_error": Violation("Internal server error", 500, "api_error"),
    "unauthorised": Violation("invalid x-api-key", 401, "authentication_error"),
    "forbidden": Violation(
        "Your API key does not have permission to use the specified resource.", 403, "permission_error"
    ),
    "no_credit": Violation("There is an issue with your billing or payment information.", 402, "billing_error"),
    "quota": Violation(
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to "
        "upgrade or purchase credits."
    ),
}


_DELTA_FIELDS: Final = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "tool_use": ("input_json_delta", "partial_json"),
    "web_search": ("input_json_delta", "partial_json"),
    "web_found": ("", ""),
}


def _event(name: str, data: JsonObject) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), orjson.dumps(data))


class AnthropicDialect:
    """`POST /v1/messages`."""

    api: Api = "anthropic"
    call_prefix = "toolu_01"
    message_prefix = "msg_01"

    def options(self, body: JsonObject) -> RequestOptions:
        """The common parameters; usage is always reported here."""
        thinking = body.get("thinking") or {}
        return RequestOptions(
            stream=body.get("stream") is True,
            max_output=body["max_tokens"],
            include_usage=True,
            show_thinking=thinking.get("display") != "omitted",
            thinks=thinking.get("type", "disabled") != "disabled",
        )

    def conversation(self, body: JsonObject) -> Conversation:
        """A valid request as the demo model sees it."""
        return anthropic_conversation.conversation(body)

    def render(self, body: JsonObject, table: SegmentTable) -> Rendering:
        """A valid request as tokenised segments."""
        return anthropic_prompt.render(body, table)

    def frames(self, exchange: Exchange) -> Iterator[Frame]:
        """message_start, the blocks with a ping after the first start, message_delta, message_stop."""
        message = _message(exchange, content=[], stopped=False)
        yield Frame(_event("message_start", {"type": "message_start", "message": message}), exchange.answer.hold)
        for index, block in enumerate(web_search.expanded(exchange.answer.blocks)):
            start = {"type": "content_block_start", "index": index, "content_block": _opening(block)}
            yield Frame(_event("content_block_start", start))
            if index == 0:
                yield Frame(_event("ping", {"type": "ping"}))
            yield from _deltas(index, block, exchange.show_thinking)
            yield Frame(_event("content_block_stop", {"type": "content_block_stop", "index": index}))
        yield Frame(_event("message_delta", _message_delta(exchange)))
        yield Frame(_event("message_stop", {"type": "message_stop"}))

    def whole(self, exchange: Exchange) -> bytes:
        """The message as one body."""
        content = [_closed(block, exchange.show_thinking) for block in web_search.expanded(exchange.answer.blocks)]
        return orjson.dumps(_message(exchange, content=content, stopped=True))

    def error_body(self, violation: Violation, request_id: str) -> bytes:
        """`{"type": "error", "error": {...}, "request_id": ...}`."""
        return orjson.dumps(_error(violation, request_id))

    def error_frame(self, violation: Violation, request_id: str) -> bytes:
        """The `error` event."""
        return _event("error", _error(violation, request_id))

    def broken_frame(self) -> bytes:
        """A delta whose JSON ends too early."""
        return (
            b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
            b'"delta":{"type":"text_delta","text":"brok\n\n'
        )

    def fault(self, kind: str, model: str) -> Violation:
        """The error of that kind in this API's words."""
        if kind == "model_not_found":
            return Violation(f"model: {model}", 404, "not_found_error")
        if kind == "context_too_long":
            return Violation("prompt is too long: 208310 tokens > 200000 maximum")
        return _FAULTS[kind]


def _error(violation: Violation, request_id: str) -> JsonObject:
    error: JsonObject = {"type": violation.type, "message": violation.message}
    if violation.code is not None:
        error["details"] = {"error_code": violation.code, **violation.details}
    return {"type": "error", "error": error, "request_id": request_id}


def _message(exchange: Exchange, content: list[JsonObject], stopped: bool) -> JsonObject:
    message: JsonObject = {
        "id": exchange.id,
        "type": "message",
        "role": "assistant",
        "model": exchange.model,
        "content": content,
        "stop_reason": exchange.answer.stop if stopped else None,
        "stop_sequence": None,
        "usage": _usage(exchange, stopped),
    }
    if exchange.diagnosis is not None:
        message["diagnostics"] = exchange.diagnosis
    if exchange.dropped:
        message["input_transformations"] = [
            {"type": "thinking_dropped", "path": path, "reason": "prefix_binding_mismatch"} for path in exchange.dropped
        ]
    return message


def _usage(exchange: Exchange, stopped: bool) -> JsonObject:
    """Anthropic's exclusive convention: the three input figures add up to the prompt."""
    cache = exchange.cache
    usage: JsonObject = {
        "input_tokens": cache.uncached,
        "cache_creation_input_tokens": cache.write_5m + cache.write_1h,
        "cache_read_input_tokens": cache.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": cache.write_5m,
            "ephemeral_1h_input_tokens": cache.write_1h,
        },
        "output_tokens": exchange.output if stopped else min(1, exchange.output),
        "service_tier": "standard",
    }
    return merged_usage(usage, exchange.answer.usage)


def _message_delta(exchange: Exchange) -> JsonObject:
    """The end of the message. Its usage is cumulative and has no split by lifetime."""
    cache = exchange.cache
    usage: JsonObject = {
        "input_tokens": cache.uncached,
        "cache_creation_input_tokens": cache.write_5m + cache.write_1h,
        "cache_read_input_tokens": cache.read,
        "output_tokens": exchange.output,
    }
    if searches := sum(isinstance(block, WebSearchBlock) for block in exchange.answer.blocks):
        usage["server_tool_use"] = {"web_search_requests": searches}
    if exchange.reasoning:
        usage["output_tokens_details"] = {"thinking_tokens": exchange.reasoning}
    return {
        "type": "message_delta",
        "delta": {"stop_reason": exchange.answer.stop, "stop_sequence": None},
        "usage": merged_usage(usage, exchange.answer.usage),
    }


def _opening(block: Block) -> JsonObject:
    match block:
        case TextBlock():
            return {"type": "text", "text": ""}
        case ThinkingBlock():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case ToolUseBlock():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
        case WebSearchBlock():
            return web_search.server_tool_use(block, empty=True)
        case WebFoundBlock():
            return web_search.search_result(block)


def _closed(block: Block, show_thinking: bool) -> JsonObject:
    match block:
        case TextBlock():
            cites = {"citations": [web_search.citation(page) for page in block.cites]} if block.cites else {}
            return {"type": "text", "text": joined(block.chunks), **cites}
        case WebSearchBlock():
            return web_search.server_tool_use(block)
        case WebFoundBlock():
            return web_search.search_result(block)
        case ThinkingBlock():
            shown = block if show_thinking else replace(block, chunks=())
            return {"type": "thinking", "thinking": joined(shown.chunks), "signature": shown.signature}
        case ToolUseBlock():
            return {
                "type": "tool_use",
                "id": block.id,
                "name": block.name,
                "input": parsed_arguments(joined(block.chunks)),
            }


def _deltas(index: int, block: Block, show_thinking: bool) -> Iterator[Frame]:
    kind, field = _DELTA_FIELDS[block.type]
    head = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":"%b","%b":' % (
        index,
        kind.encode(),
        field.encode(),
    )
    if isinstance(block, ToolUseBlock | WebSearchBlock):
        yield Frame(head + b'""}}\n\n')
    hidden = isinstance(block, ThinkingBlock) and not show_thinking
    for chunk in block.chunks:
        # Hidden thinking takes its time all the same, and holds and faults find their place in it.
        data = b"" if hidden else head + json_string(chunk.text) + b"}}\n\n"
        yield Frame(data, chunk.hold, True)
    for page in block.cites if isinstance(block, TextBlock) else ():
        cited = {"type": "citations_delta", "citation": web_search.citation(page)}
        yield Frame(_event("content_block_delta", {"type": "content_block_delta", "index": index, "delta": cited}))
    if isinstance(block, ThinkingBlock):
        signature = (replace(block, chunks=()) if hidden else block).signature
        delta = compact({"type": "signature_delta", "signature": signature}).encode()
        yield Frame(
            b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":%b}\n\n'
            % (index, delta)
        )
