"""Answers over any chunking give the same blocks; nonsense gives a fault and nothing else."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.messages import ReasoningBlock, TextBlock, ToolUseBlock
from openprogram.core.prompt import CallPiece, ReasoningPiece, TextPiece
from openprogram.providers.anthropic_events import AnthropicParser
from openprogram.providers.chat_events import ChatParser
from openprogram.providers.faults import Fault
from openprogram.providers.wire import Parser
from tests.support.sse import (
    block,
    chat_stream,
    delta,
    message_end,
    message_start,
    messages_stream,
    pieces,
    text_block,
    tool_delta,
)

_texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
_part = st.tuples(st.sampled_from(["text", "reasoning", "call"]), st.lists(_texts, min_size=1, max_size=3))
_answers = st.lists(_part, max_size=5)
_chunk_sizes = st.none() | st.integers(1, 200)
Parts = list[tuple[str, list[str]]]


def as_chat(parts: Parts) -> bytes:
    chunks: list[dict[str, Any]] = []
    for number, (kind, texts) in enumerate(parts):
        if kind == "call":
            chunks.append(tool_delta(index=number, id=f"id_{number}", name="read", arguments=""))
            whole = orjson.dumps({"path": "".join(texts)}).decode()
            chunks += [tool_delta(index=number, arguments=whole[:5]), tool_delta(index=number, arguments=whole[5:])]
        else:
            name = "content" if kind == "text" else "reasoning_content"
            chunks += [delta(**{name: text}) for text in texts]
    return chat_stream(*chunks, delta("stop"))


def as_messages(parts: Parts) -> bytes:
    events: list[dict[str, Any]] = [message_start()]
    for number, (kind, texts) in enumerate(parts):
        if kind == "call":
            whole = orjson.dumps({"path": "".join(texts)}).decode()
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", whole[:5], whole[5:])]
            events += block(number, {"type": "tool_use", "id": f"id_{number}", "name": "read", "input": {}}, *deltas)
        elif kind == "text":
            events += text_block(number, *texts)
        else:
            thoughts = [{"type": "thinking_delta", "thinking": text} for text in texts]
            events += block(number, {"type": "thinking", "thinking": ""}, *thoughts)
    return messages_stream(*events, *message_end("end_turn"))


@pytest.mark.parametrize(("make", "write"), [(ChatParser, as_chat), (AnthropicParser, as_messages)])
@given(parts=_answers, size=_chunk_sizes)
def test_pieces_join_to_the_blocks_whatever_the_chunks(
    make: Callable[[], Parser], write: Callable[[Parts], bytes], parts: Parts, size: int | None
) -> None:
    stream = write(parts)
    parser, at_once = make(), make()
    shown: dict[int, str] = {}
    for piece in pieces(parser, stream, size):
        match piece:
            case TextPiece(number, text) | ReasoningPiece(number, text) | CallPiece(number, _, _, text):
                shown[number] = shown.get(number, "") + text
            case _:
                pytest.fail(f"{piece} is no piece")
    pieces(at_once, stream)
    blocks = parser.ending().blocks
    assert blocks == at_once.ending().blocks
    assert parser.done
    assert sorted(shown) == list(range(len(blocks)))
    for number, whole in enumerate(blocks):
        match whole:
            case TextBlock(text) | ReasoningBlock(text):
                assert shown[number] == text
            case ToolUseBlock(_, _, arguments):
                assert orjson.loads(shown[number]) == arguments
            case _:
                pytest.fail(f"{whole} is no block of an answer")
    said = "".join("".join(texts) for kind, texts in parts if kind == "text")
    assert "".join(whole.text for whole in blocks if isinstance(whole, TextBlock)) == said


_words = st.sampled_from(
    [
        "choices",
        "delta",
        "content",
        "tool_calls",
        "function",
        "arguments",
        "name",
        "id",
        "index",
        "finish_reason",
        "usage",
        "reasoning",
        "refusal",
        "timings",
        "prompt_tokens",
        "prompt_tokens_details",
        "cached_tokens",
        "stop",
        "length",
        "type",
        "error",
        "text",
        "data",
        "message_start",
        "message_delta",
        "message_stop",
        "message",
        "stop_reason",
        "stop_details",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "content_block",
        "text_delta",
        "thinking_delta",
        "thinking",
        "signature_delta",
        "signature",
        "input_json_delta",
        "partial_json",
        "tool_use",
        "redacted_thinking",
        "cache_creation",
        "input_tokens",
    ]
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.floats(0, 1) | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("make", [ChatParser, AnthropicParser])
@given(chunks=st.lists(st.dictionaries(_words, _values, max_size=5), max_size=4))
def test_a_chunk_of_any_shape_is_taken_or_is_a_fault(make: Callable[[], Parser], chunks: list[dict[str, Any]]) -> None:
    parser = make()
    try:
        parser.feed([(b"", orjson.dumps(chunk)) for chunk in chunks])
        parser.ending()
    except Fault:
        pass
    parser.take()
    blocks, _ = parser.partial()
    orjson.dumps(blocks)
