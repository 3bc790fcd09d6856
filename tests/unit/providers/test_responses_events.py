"""Reading answers of the Responses API: as the vendor sends them, and as compatible servers do."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.messages import ReasoningBlock, TextBlock, ToolUseBlock
from openprogram.core.prompt import CallPiece, ReasoningPiece, TextPiece
from openprogram.core.usage import Usage
from openprogram.providers.faults import Cut, Declined, Garbled, Reported
from openprogram.providers.responses_events import ResponsesParser, usage_of
from openprogram.providers.responses_prompt import signature_of
from tests.support.sse import messages_stream, pieces

Event = dict[str, Any]


def added(index: int, **item: Any) -> Event:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def ended(index: int, **item: Any) -> Event:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def delta(index: int, kind: str, text: str) -> Event:
    return {"type": f"response.{kind}.delta", "output_index": index, "item_id": "x", "delta": text}


def completed(kind: str = "completed", **response: Any) -> Event:
    return {"type": f"response.{kind}", "response": {"status": kind, "output": [], **response}}


MESSAGE = {"type": "message", "role": "assistant", "content": []}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": '{"path":"x"}'}
THOUGHT: dict[str, Any] = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}, {"type": "summary_text", "text": "so"}],
    "encrypted_content": "gAAA",
}


def parsed(*events: Event, taken: tuple[str, ...] = ()) -> ResponsesParser:
    parser = ResponsesParser(taken)
    pieces(parser, messages_stream({"type": "response.created", "response": {}}, *events))
    return parser


def test_text_arrives_in_pieces_and_is_whole_at_the_end() -> None:
    parser = ResponsesParser()
    events = (added(0, **MESSAGE), delta(0, "output_text", "Hel"), delta(0, "output_text", "lo"), completed())
    streamed = pieces(parser, messages_stream(*events), size=40)
    assert streamed == [TextPiece(0, "Hel"), TextPiece(0, "lo")]
    assert parser.done
    ending = parser.ending()
    assert (ending.blocks, ending.stop_reason, ending.usage) == ((TextBlock("Hello"),), "end_turn", Usage())


def test_reasoning_is_kept_with_what_proves_it() -> None:  # C14
    parser = ResponsesParser()
    part = {"type": "response.reasoning_summary_part.added", "output_index": 0}
    events = (
        added(0, type="reasoning", id="rs_1", summary=[]),
        part,
        delta(0, "reasoning_summary_text", "hm"),
        part,
        delta(0, "reasoning_summary_text", "so"),
        ended(0, **THOUGHT),
        added(1, **MESSAGE),
        delta(1, "output_text", "Hi"),
        completed(),
    )
    given = pieces(parser, messages_stream(*events))
    assert given == [ReasoningPiece(0, "hm\n\nso"), TextPiece(1, "Hi")]
    assert parser.ending().blocks == (ReasoningBlock("hm\n\nso", signature_of(THOUGHT)), TextBlock("Hi"))


def test_reasoning_that_is_not_shown_keeps_what_proves_it() -> None:
    hidden = THOUGHT | {"summary": []}
    blocks = parsed(added(0, **hidden), ended(0, **hidden), added(1, **CALL), completed()).ending().blocks
    assert blocks[0] == ReasoningBlock("", signature_of(hidden))


def test_parallel_calls_grow_by_their_place() -> None:
    parser = ResponsesParser()
    other = CALL | {"call_id": "call_2", "name": "list", "arguments": ""}
    events = (
        added(0, **CALL | {"arguments": ""}),
        delta(0, "function_call_arguments", '{"path":'),
        added(1, **other),
        delta(1, "function_call_arguments", "{}"),
        delta(0, "function_call_arguments", '"x"}'),
        ended(0, **CALL),
        ended(1, **other | {"arguments": "{}"}),
        completed(),
    )
    given = pieces(parser, messages_stream(*events))
    assert given[0] == CallPiece(0, "call_1", "read", '{"path":')
    ending = parser.ending()
    assert ending.stop_reason == "tool_use"
    assert ending.blocks == (ToolUseBlock("call_1", "read", {"path": "x"}), ToolUseBlock("call_2", "list", {}))


@pytest.mark.parametrize(
    "events",
    [
        (
            ended(0, **THOUGHT),
            ended(1, **MESSAGE | {"content": [{"type": "output_text", "text": "Hi"}]}),
            ended(2, **CALL),
        ),
        (),
    ],
    ids=["whole items", "only the whole response"],
)
def test_what_no_delta_brought_is_read_from_what_is_whole(events: tuple[Event, ...]) -> None:
    output = [THOUGHT, MESSAGE | {"content": [{"type": "output_text", "text": "Hi"}]}, CALL]
    assert parsed(*events, completed(output=output)).ending().blocks == (
        ReasoningBlock("hm\n\nso", signature_of(THOUGHT)),
        TextBlock("Hi"),
        ToolUseBlock("call_1", "read", {"path": "x"}),
    )


def test_an_id_that_the_history_has_already_is_replaced() -> None:
    [block] = parsed(ended(0, **CALL), completed(), taken=("call_1",)).ending().blocks
    assert isinstance(block, ToolUseBlock)
    assert block.call_id.startswith("c_")


def test_an_answer_cut_at_the_limit_leaves_out_the_call_that_was_not_finished() -> None:
    events = (added(0, **CALL), delta(0, "function_call_arguments", '{"pa'))
    cut = completed("incomplete", incomplete_details={"reason": "max_output_tokens"})
    ending = parsed(*events, cut).ending()
    assert (ending.stop_reason, ending.blocks) == ("max_tokens", ())


def test_a_refusal_in_words_is_shown_and_told() -> None:
    ending = parsed(added(0, **MESSAGE), delta(0, "refusal", "I will not."), completed()).ending()
    assert (ending.stop_reason, ending.blocks) == ("refusal", (TextBlock("I will not."),))


def test_what_a_filter_stopped_is_declined() -> None:
    stopped = completed("incomplete", incomplete_details={"reason": "content_filter"})
    with pytest.raises(Declined):
        parsed(stopped).ending()


def test_a_stream_without_its_end_is_cut_and_keeps_what_had_arrived() -> None:  # P13
    parser = parsed(added(0, **MESSAGE), delta(0, "output_text", "Hel"), added(1, **CALL | {"arguments": ""}))
    with pytest.raises(Cut):
        parser.ending()
    assert parser.partial() == ((TextBlock("Hel"),), Usage())


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "boom"},
        {"type": "error", "error": {"code": "server_error", "message": "boom"}},
        {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "boom"}}},
    ],
)
def test_an_error_in_the_stream_is_reported(event: Event) -> None:
    with pytest.raises(Reported) as caught:
        parsed(event)
    assert caught.value.error["message"] == "boom"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.output_item.added", "output_index": 0},
        {"type": "response.output_text.delta", "output_index": 0, "delta": 7},
        {"type": "response.completed", "response": None},
    ],
)
def test_an_event_of_another_shape_is_garbled(event: Event) -> None:
    with pytest.raises(Garbled):
        parsed(event)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_parts_of_the_prompt_add_up_to_it(read: int, short: int, long: int, rest: int) -> None:  # C17
    details = {
        "cached_tokens": read,
        "cache_write_tokens": short + long,
        "cache_write_tokens_details": {"ttl_30m_tokens": short, "ttl_12h_tokens": long},
    }
    usage = usage_of({"input_tokens": read + short + long + rest, "input_tokens_details": details})
    assert usage == Usage(rest, read, short, long)
    assert usage.prompt == read + short + long + rest


def test_what_is_not_reported_is_unknown() -> None:
    assert usage_of({}) == Usage()
    assert usage_of(orjson.loads('{"input_tokens": 5, "output_tokens": 2}')) == Usage(uncached=5, output=2)


def test_a_search_in_the_form_of_the_api_is_a_call_of_our_search() -> None:
    item = {
        "type": "tool_search_call",
        "id": "tsc_1",
        "call_id": "call_7",
        "execution": "client",
        "status": "completed",
    }
    whole = ended(0, **item, arguments={"query": "select:weather"})
    blocks = parsed(added(0, **item, arguments={}), whole, completed()).ending().blocks
    assert blocks == (ToolUseBlock("call_7", "tool_search", {"query": "select:weather"}),)
    hosted = {**item, "execution": "server", "call_id": None}
    assert parsed(ended(0, **hosted, arguments={}), completed()).ending().blocks == ()
