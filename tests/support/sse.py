"""Event streams for tests, written as the endpoints write them."""

from collections.abc import Iterable
from typing import Any

import orjson

from openprogram.core.prompt import ProviderEvent
from openprogram.providers.sse import SseSplitter
from openprogram.providers.wire import Parser


def chat_stream(*chunks: dict[str, Any], done: bool = True) -> bytes:
    """Chat Completions chunks as an event stream."""
    return b"".join(b"data: %b\n\n" % orjson.dumps(chunk) for chunk in chunks) + (b"data: [DONE]\n\n" if done else b"")


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """One chunk with one delta."""
    return {"id": "x", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def tool_delta(*, finish: str | None = None, **call: Any) -> dict[str, Any]:
    """One chunk with part of one tool call; `name` and `arguments` go into its function."""
    function = {name: call.pop(name) for name in ("name", "arguments") if name in call}
    return delta(finish, tool_calls=[{**call, "function": function}])


def messages_stream(*events: dict[str, Any]) -> bytes:
    """Messages API events as an event stream."""
    return b"".join(b"event: %b\ndata: %b\n\n" % (event["type"].encode(), orjson.dumps(event)) for event in events)


def message_start(**usage: Any) -> dict[str, Any]:
    """The first event of an answer."""
    return {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": [], "usage": usage}}


def block(index: int, kind: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    """A content block: its start, its deltas, its stop."""
    return [
        {"type": "content_block_start", "index": index, "content_block": kind},
        *({"type": "content_block_delta", "index": index, "delta": each} for each in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text_block(index: int, *texts: str) -> list[dict[str, Any]]:
    """A text block in these deltas."""
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": text} for text in texts))


def message_end(stop_reason: str, **usage: Any) -> list[dict[str, Any]]:
    """The last two events of an answer."""
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    return [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


def pieces(parser: Parser, stream: bytes, size: int | None = None) -> list[ProviderEvent]:
    """What a parser gives for a stream that arrives in chunks of `size` bytes, or at once."""
    splitter = SseSplitter()
    step = size or len(stream) or 1
    chunks: Iterable[bytes] = (stream[start : start + step] for start in range(0, len(stream), step))
    given = []
    for chunk in chunks:
        parser.feed(splitter.feed(chunk))
        given += parser.take()
    return given
