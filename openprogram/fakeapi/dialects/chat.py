"""OpenAI Chat Completions on the wire: answers, streams and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import orjson

from openprogram.fakeapi.answer import (
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    WebFoundBlock,
    WebSearchBlock,
    joined,
)
from openprogram.fakeapi.cache.segments import Rendering, SegmentTable
from openprogram.fakeapi.conversation import Conversation
from openprogram.fakeapi.dialects import chat_prompt
from openprogram.fakeapi.dialects.base import Exchange, Frame, RequestOptions, merged_usage
from openprogram.fakeapi.dialects.openai_faults import FAULTS, error_object, model_not_found
from openprogram.fakeapi.models import Api
from openprogram.fakeapi.rules.base import Violation
from openprogram.fakeapi.shapes import JsonObject, compact, json_string

_FINISH: Final[dict[StopReason, str]] = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
    "pause_turn": "stop",
}


def _data(payload: JsonObject) -> bytes:
    return b"data: " + orjson.dumps(payload) + b"\n\n"


class ChatDialect:
    """`POST /v1/chat/completions`."""

    api: Api = "chat"
    call_prefix = "call_"
    message_prefix = "chatcmpl-"

    def options(self, body: JsonObject) -> RequestOptions:
        """The common parameters; a stream reports usage only if asked to."""
        stream = body.get("stream") is True
        asked = (body.get("stream_options") or {}).get("include_usage") is True
        limit = body.get("max_completion_tokens") or body.get("max_tokens")
        return RequestOptions(stream, limit, asked or not stream, show_thinking=True, thinks=True)

    def conversation(self, body: JsonObject) -> Conversation:
        """A valid request as the demo model sees it."""
        return chat_prompt.conversation(body)

    def render(self, body: JsonObject, table: SegmentTable) -> Rendering:
        """A valid request as tokenised segments."""
        return Rendering(chat_prompt.prompt(body, table))

    def frames(self, exchange: Exchange) -> Iterator[Frame]:
        """The role, the deltas, the finish reason, the usage if asked for, and `[DONE]`."""
        head, tail = _envelope(exchange)
        yield Frame(head + b'{"role":"assistant","content":"","refusal":null}' + tail, exchange.answer.hold)
        calls = 0
        for block in exchange.answer.blocks:
            match block:
                case TextBlock():
                    opening = b'{"content":'
                case ThinkingBlock():
                    opening = b'{"reasoning_content":'
                case ToolUseBlock():
                    yield Frame(head + _call_opening(calls, block) + tail)
                    opening = b'{"tool_calls":[{"index":%d,"function":{"arguments":' % calls
                    calls += 1
                case WebSearchBlock() | WebFoundBlock():
                    continue  # this API has none
            closing = (b"}}]}" if isinstance(block, ToolUseBlock) else b"}") + tail
            opening = head + opening
            for chunk in block.chunks:
                yield Frame(opening + json_string(chunk.text) + closing, chunk.hold, True)
        finish = json_string(_FINISH[exchange.answer.stop])
        yield Frame(head + b"{}" + tail.replace(b'"finish_reason":null', b'"finish_reason":' + finish, 1))
        if exchange.include_usage and exchange.answer.report_usage:
            last = {**_chunk_head(exchange), "choices": [], "usage": _usage(exchange)}
            yield Frame(_data(last))
        yield Frame(b"data: [DONE]\n\n")

    def whole(self, exchange: Exchange) -> bytes:
        """The completion as one body."""
        body: JsonObject = {
            "id": exchange.id,
            "object": "chat.completion",
            "created": exchange.created,
            "model": exchange.model,
            "choices": [
                {
                    "index": 0,
                    "message": _message(exchange),
                    "logprobs": None,
                    "finish_reason": _FINISH[exchange.answer.stop],
                }
            ],
            "service_tier": "default",
        }
        if exchange.answer.report_usage:
            body["usage"] = _usage(exchange)
        return orjson.dumps(body)

    def error_body(self, violation: Violation, request_id: str) -> bytes:
        """`{"error": {"message", "type", "param", "code"}}`."""
        return orjson.dumps(error_object(violation))

    def error_frame(self, violation: Violation, request_id: str) -> bytes:
        """An error object as a chunk of its own."""
        return _data(error_object(violation))

    def broken_frame(self) -> bytes:
        """A chunk whose JSON ends too early."""
        return b'data: {"id":"chatcmpl-","object":"chat.completion.chunk","choices":[{"index":0,"del\n\n'

    def fault(self, kind: str, model: str) -> Violation:
        """The error of that kind in this API's words."""
        if kind == "model_not_found":
            return model_not_found(model)
        return FAULTS[kind]


def _chunk_head(exchange: Exchange) -> JsonObject:
    return {
        "id": exchange.id,
        "object": "chat.completion.chunk",
        "created": exchange.created,
        "model": exchange.model,
        "service_tier": "default",
        "system_fingerprint": None,
    }


def _envelope(exchange: Exchange) -> tuple[bytes, bytes]:
    """The bytes before and after the `delta` of a chunk: built once, since only the delta changes."""
    head = compact(_chunk_head(exchange)).encode()[:-1]
    usage = b',"usage":null' if exchange.include_usage else b""
    return (
        b"data: " + head + b',"choices":[{"index":0,"delta":',
        b',"logprobs":null,"finish_reason":null}]' + usage + b"}\n\n",
    )


def _call_opening(index: int, block: ToolUseBlock) -> bytes:
    call: JsonObject = {
        "index": index,
        "id": block.id,
        "type": "function",
        "function": {"name": block.name, "arguments": ""},
    }
    return orjson.dumps({"tool_calls": [call]})


def _message(exchange: Exchange) -> JsonObject:
    blocks = exchange.answer.blocks
    text = "".join(joined(b.chunks) for b in blocks if isinstance(b, TextBlock))
    reasoning = "".join(joined(b.chunks) for b in blocks if isinstance(b, ThinkingBlock))
    calls = [
        {"id": b.id, "type": "function", "function": {"name": b.name, "arguments": joined(b.chunks)}}
        for b in blocks
        if isinstance(b, ToolUseBlock)
    ]
    message: JsonObject = {"role": "assistant", "content": text or None, "refusal": None}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = calls
    return message


def _usage(exchange: Exchange) -> JsonObject:
    """OpenAI's inclusive convention: the cached tokens are part of the prompt tokens. What was written is
    reported for the models that bill it."""
    prompt = exchange.cache.prompt
    written = {"cache_write_tokens": exchange.cache.written} if exchange.bills_writes else {}
    usage: JsonObject = {
        "prompt_tokens": prompt,
        "completion_tokens": exchange.output,
        "total_tokens": prompt + exchange.output,
        "prompt_tokens_details": {"cached_tokens": exchange.cache.read, "audio_tokens": 0, **written},
        "completion_tokens_details": {"reasoning_tokens": exchange.reasoning},
    }
    return merged_usage(usage, exchange.answer.usage)
