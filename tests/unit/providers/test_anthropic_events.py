"""Reading Messages API answers."""

from typing import Any

import pytest

from openprogram.core.messages import ReasoningBlock, TextBlock, ToolUseBlock
from openprogram.core.prompt import CallPiece, ReasoningPiece, StopReason, TextPiece
from openprogram.core.usage import Usage
from openprogram.providers.anthropic_events import AnthropicParser, usage_of
from openprogram.providers.faults import Cut, Declined, Garbled, Reported
from tests.support.sse import block, message_end, message_start, messages_stream, pieces, text_block


def parsed(*events: dict[str, Any], taken: tuple[str, ...] = ()) -> AnthropicParser:
    parser = AnthropicParser(taken)
    pieces(parser, messages_stream(*events))
    return parser


def test_text_arrives_in_pieces_and_is_whole_at_the_end() -> None:
    parser = AnthropicParser()
    stream = messages_stream(
        message_start(input_tokens=3), {"type": "ping"}, *text_block(0, "Hel", "lo"), *message_end("end_turn")
    )
    assert pieces(parser, stream, size=40) == [TextPiece(0, "Hel"), TextPiece(0, "lo")]
    assert parser.ending().blocks == (TextBlock("Hello"),)


def test_thinking_keeps_its_signature_byte_for_byte() -> None:  # C14
    thinking = block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "hm\n"},
        {"type": "thinking_delta", "thinking": "m "},
        {"type": "signature_delta", "signature": "EqQB+/="},
    )
    parser = AnthropicParser()
    stream = messages_stream(message_start(), *thinking, *text_block(1, "Hi"), *message_end("end_turn"))
    assert pieces(parser, stream) == [ReasoningPiece(0, "hm\nm "), TextPiece(1, "Hi")]
    assert parser.ending().blocks == (ReasoningBlock("hm\nm ", "EqQB+/="), TextBlock("Hi"))


def test_thinking_that_is_not_shown_keeps_its_signature() -> None:  # C14
    hidden = block(0, {"type": "thinking", "thinking": ""}, {"type": "signature_delta", "signature": "sig"})
    parser = AnthropicParser()
    stream = messages_stream(message_start(), *hidden, *text_block(1, "Hi"), *message_end("end_turn"))
    assert pieces(parser, stream) == [TextPiece(1, "Hi")]
    assert parser.ending().blocks == (ReasoningBlock("", "sig"), TextBlock("Hi"))


def test_thinking_that_starts_with_text_and_signature_is_taken() -> None:
    started = block(0, {"type": "thinking", "thinking": "hm", "signature": "sig"})
    assert parsed(message_start(), *started, *message_end("end_turn")).ending().blocks == (ReasoningBlock("hm", "sig"),)


def test_redacted_thinking_is_kept_in_its_opaque_form() -> None:  # C14
    redacted = block(0, {"type": "redacted_thinking", "data": "opaque=="})
    blocks = parsed(message_start(), *redacted, *text_block(1, "Hi"), *message_end("end_turn")).ending().blocks
    assert blocks == (ReasoningBlock("", None, "opaque=="), TextBlock("Hi"))


def test_two_thinking_blocks_in_a_row_stay_two() -> None:
    def thinking(index: int, signature: str) -> list[dict[str, Any]]:
        deltas = ({"type": "thinking_delta", "thinking": "hm"}, {"type": "signature_delta", "signature": signature})
        return block(index, {"type": "thinking", "thinking": ""}, *deltas)

    blocks = parsed(message_start(), *thinking(0, "a"), *thinking(1, "b"), *message_end("end_turn")).ending().blocks
    assert blocks == (ReasoningBlock("hm", "a"), ReasoningBlock("hm", "b"))


def test_calls_arrive_in_pieces_of_json() -> None:
    first = block(
        1,
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}},
        {"type": "input_json_delta", "partial_json": ""},
        {"type": "input_json_delta", "partial_json": '{"path": "a'},
        {"type": "input_json_delta", "partial_json": '.txt"}'},
    )
    second = block(2, {"type": "tool_use", "id": "toolu_2", "name": "list", "input": {}})
    parser = AnthropicParser()
    stream = messages_stream(message_start(), *text_block(0, "I read."), *first, *second, *message_end("tool_use"))
    assert pieces(parser, stream) == [
        TextPiece(0, "I read."),
        CallPiece(1, "toolu_1", "read", '{"path": "a.txt"}'),
        CallPiece(2, "toolu_2", "list", ""),
    ]
    ending = parser.ending()
    assert ending.stop_reason == "tool_use"
    calls = (ToolUseBlock("toolu_1", "read", {"path": "a.txt"}), ToolUseBlock("toolu_2", "list", {}))
    assert ending.blocks == (TextBlock("I read."), *calls)


def test_an_id_that_the_history_has_already_is_replaced() -> None:
    repeated = block(0, {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}})
    [call] = parsed(message_start(), *repeated, *message_end("tool_use"), taken=("toolu_1",)).ending().blocks
    assert isinstance(call, ToolUseBlock)
    assert call.call_id.startswith("c_")


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", "end_turn"),
        ("stop_sequence", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("something_new", "end_turn"),
    ],
)
def test_stop_reasons(reason: str, expected: StopReason) -> None:
    assert parsed(message_start(), *text_block(0, "Hi"), *message_end(reason)).ending().stop_reason == expected


def test_a_refusal_is_no_answer_and_carries_the_explanation() -> None:
    end = message_end("refusal")
    end[0]["delta"]["stop_details"] = {"type": "refusal", "category": "bio", "explanation": "Not this."}
    with pytest.raises(Declined) as caught:
        parsed(message_start(), *text_block(0, "So"), *end).ending()
    assert caught.value.explanation == "Not this."


def test_an_end_without_message_stop_is_a_cut() -> None:  # cases 46
    half = block(
        1, {"type": "tool_use", "id": "toolu_1", "name": "read"}, {"type": "input_json_delta", "partial_json": '{"p'}
    )
    parser = parsed(message_start(input_tokens=7), *text_block(0, "Hel"), *half[:-1])
    with pytest.raises(Cut):
        parser.ending()
    assert parser.partial() == ((TextBlock("Hel"),), Usage(uncached=7))


def test_how_much_was_said_is_unknown_until_the_end_of_the_answer_tells_it() -> None:  # C17: unknown is no number
    start = message_start(input_tokens=7, cache_read_input_tokens=5, output_tokens=1)
    assert parsed(start, *text_block(0, "Hel")).partial()[1] == Usage(uncached=7, cache_read=5)
    whole = parsed(start, *text_block(0, "Hello"), *message_end("end_turn", output_tokens=4))
    assert whole.ending().usage == Usage(uncached=7, cache_read=5, output=4)


def test_a_cut_at_the_limit_leaves_out_the_call_that_was_not_finished() -> None:
    half = block(
        0, {"type": "tool_use", "id": "toolu_1", "name": "read"}, {"type": "input_json_delta", "partial_json": '{"p'}
    )
    assert parsed(message_start(), *half, *message_end("max_tokens")).ending().blocks == ()


def test_an_error_event_is_a_fault() -> None:
    error = {"type": "overloaded_error", "message": "Overloaded"}
    with pytest.raises(Reported) as caught:
        parsed(message_start(), {"type": "error", "error": error})
    assert caught.value.error == error


def test_unknown_events_blocks_and_deltas_are_passed_over() -> None:
    strange = block(0, {"type": "server_tool_use", "id": "x", "name": "y"}, {"type": "hologram_delta", "beam": 1})
    ending = parsed(
        message_start(), {"type": "weather"}, *strange, *text_block(1, "Hi"), *message_end("end_turn")
    ).ending()
    assert ending.blocks == (TextBlock("Hi"),)


@pytest.mark.parametrize(
    "data",
    [
        b"{oops",
        b'{"type":"content_block_delta"}',
        b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":5}}',
        b'{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":null,"name":"x"}}',
        b'{"type":"message_start","message":null}',
    ],
)
def test_an_event_of_the_wrong_shape_is_a_fault(data: bytes) -> None:  # cases 46
    with pytest.raises(Garbled):
        AnthropicParser().feed([(b"", data)])


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        pytest.param({}, {}, Usage(), id="nothing-is-unknown-not-zero"),
        pytest.param(
            {"input_tokens": 7, "output_tokens": 1}, {"output_tokens": 9}, Usage(7, output=9), id="no-cache-fields"
        ),
        pytest.param(
            {"input_tokens": 7, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 50, "output_tokens": 1},
            {"output_tokens": 9},
            Usage(7, 100, 50, output=9),
            id="delta-omits-what-start-said",
        ),
        pytest.param(
            {"input_tokens": 7, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 50},
            {"input_tokens": 8, "cache_read_input_tokens": 90, "cache_creation_input_tokens": None, "output_tokens": 9},
            Usage(8, 90, 50, output=9),
            id="delta-is-cumulative",
        ),
        pytest.param(
            {
                "input_tokens": 7,
                "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": 50,
                "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30},
            },
            {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}},
            Usage(7, 0, 20, 30, 9, 4),
            id="by-lifetime",
        ),
        pytest.param(
            {"input_tokens": 7, "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 0}},
            {"output_tokens": 9},
            Usage(7, None, 20, 0, 9),
            id="by-lifetime-only",
        ),
    ],
)
def test_usage_has_one_form_for_all(start: dict[str, Any], end: dict[str, Any], expected: Usage) -> None:  # C17
    ending = parsed(message_start(**start), *text_block(0, "Hi"), *message_end("end_turn", **end)).ending()
    assert ending.usage == expected
    assert usage_of({**start, **{name: value for name, value in end.items() if value is not None}}) == expected
