"""Reading Chat Completions answers: the plain case, and what servers in the field make of it."""

from typing import Any

import pytest

from openprogram.core.messages import ReasoningBlock, TextBlock, ToolUseBlock
from openprogram.core.prompt import CallPiece, ReasoningPiece, TextPiece
from openprogram.core.usage import Usage
from openprogram.providers.answer import INVALID_ARGUMENTS
from openprogram.providers.chat_events import ChatParser, usage_of
from openprogram.providers.faults import Cut, Declined, Garbled, Reported
from tests.support.sse import chat_stream, delta, pieces, tool_delta


def parsed(*chunks: dict[str, Any], taken: tuple[str, ...] = ()) -> ChatParser:
    parser = ChatParser(taken)
    pieces(parser, chat_stream(*chunks))
    return parser


def test_text_arrives_in_pieces_and_is_whole_at_the_end() -> None:
    parser = ChatParser()
    stream = chat_stream(delta(role="assistant", content=""), delta(content="Hel"), delta(content="lo"), delta("stop"))
    assert pieces(parser, stream, size=30) == [TextPiece(0, "Hel"), TextPiece(0, "lo")]
    assert parser.done
    ending = parser.ending()
    assert (ending.blocks, ending.stop_reason, ending.usage) == ((TextBlock("Hello"),), "end_turn", Usage())


def test_pieces_that_arrive_together_leave_as_one() -> None:
    stream = chat_stream(delta(content="Hel"), delta(content="lo"), delta("stop"))
    assert pieces(ChatParser(), stream) == [TextPiece(0, "Hello")]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_text"])
def test_reasoning_is_a_block_of_its_own_under_each_of_its_names(name: str) -> None:
    parser = ChatParser()
    stream = chat_stream(delta(**{name: "hm"}), delta(content="", **{name: "m"}), delta(content="Hi"), delta("stop"))
    assert pieces(parser, stream) == [ReasoningPiece(0, "hmm"), TextPiece(1, "Hi")]
    assert parser.ending().blocks == (ReasoningBlock("hmm"), TextBlock("Hi"))


def test_reasoning_and_text_in_one_chunk_are_both_kept() -> None:
    assert parsed(delta(content="Hi", reasoning="hm"), delta("stop")).ending().blocks == (
        ReasoningBlock("hm"),
        TextBlock("Hi"),
    )


def test_parallel_calls_grow_by_their_index() -> None:
    parser = ChatParser()
    stream = chat_stream(
        tool_delta(index=0, id="a", type="function", name="read", arguments=""),
        tool_delta(index=0, arguments='{"path":'),
        tool_delta(index=1, id="b", type="function", name="list", arguments="{}"),
        tool_delta(index=0, arguments='"x"}'),
        delta("tool_calls"),
    )
    given = pieces(parser, stream)
    assert given[0] == CallPiece(0, "a", "read", '{"path":')
    assert given[1:] == [CallPiece(1, "b", "list", "{}"), CallPiece(0, "a", "read", '"x"}')]
    ending = parser.ending()
    assert ending.stop_reason == "tool_use"
    assert ending.blocks == (ToolUseBlock("a", "read", {"path": "x"}), ToolUseBlock("b", "list", {}))


def test_a_whole_call_in_one_chunk_with_its_finish_reason() -> None:
    ending = parsed(tool_delta(index=0, id="a", name="read", arguments='{"p":1}', finish="tool_calls")).ending()
    assert ending.blocks == (ToolUseBlock("a", "read", {"p": 1}),)


def test_calls_are_told_by_the_blocks_even_if_the_finish_reason_says_stop() -> None:
    assert (
        parsed(tool_delta(index=0, id="a", name="read", arguments="{}"), delta("stop")).ending().stop_reason
        == "tool_use"
    )


@pytest.mark.parametrize("given", [None, ""])
def test_a_call_without_id_gets_one_of_ours(given: str | None) -> None:
    [block] = parsed(tool_delta(index=0, id=given, name="read", arguments="{}"), delta("stop")).ending().blocks
    assert isinstance(block, ToolUseBlock)
    assert block.call_id.startswith("c_")


def test_an_id_that_the_history_has_already_is_replaced() -> None:
    first = tool_delta(index=0, id="call_0", name="read", arguments="{}")
    second = tool_delta(index=1, id="call_1", name="read", arguments="{}")
    blocks = parsed(first, second, delta("stop"), taken=("call_0",)).ending().blocks
    ids = [block.call_id for block in blocks if isinstance(block, ToolUseBlock)]
    assert ids[0].startswith("c_")
    assert ids[1] == "call_1"


def test_names_that_are_repeated_or_empty_after_the_first_do_not_change_it() -> None:
    chunks = (
        tool_delta(index=0, id="a", name="read", arguments='{"p"'),
        tool_delta(index=0, id="a", name="read", arguments=":1"),
        tool_delta(index=0, id="", name="", arguments="}"),
    )
    assert parsed(*chunks, delta("stop")).ending().blocks == (ToolUseBlock("a", "read", {"p": 1}),)


def test_all_calls_under_index_zero_are_told_apart_by_id_and_name() -> None:
    first = tool_delta(index=0, id="a", name="read", arguments="{}")
    second = tool_delta(index=0, id="b", name="list", arguments='{"p":2}')
    blocks = parsed(first, second, delta("stop")).ending().blocks
    assert blocks == (ToolUseBlock("a", "read", {}), ToolUseBlock("b", "list", {"p": 2}))


def test_calls_without_index_begin_with_a_name() -> None:
    chunks = (
        tool_delta(id="a", name="read", arguments='{"p"'),
        tool_delta(arguments=":1}"),
        tool_delta(id="b", name="list", arguments="{}"),
        tool_delta(id="b", name="list", arguments=""),
    )
    blocks = parsed(*chunks, delta("stop")).ending().blocks
    assert blocks == (ToolUseBlock("a", "read", {"p": 1}), ToolUseBlock("b", "list", {}))


def test_arguments_as_an_object_are_taken() -> None:
    blocks = parsed(tool_delta(index=0, id="a", name="read", arguments={"p": 1}), delta("stop")).ending().blocks
    assert blocks == (ToolUseBlock("a", "read", {"p": 1}),)


def test_arguments_that_are_no_json_are_kept_for_the_model_to_see_under_a_reserved_name() -> None:
    blocks = parsed(tool_delta(index=0, id="a", name="read", arguments='{"p": 1'), delta("tool_calls")).ending().blocks
    assert blocks == (ToolUseBlock("a", "read", {INVALID_ARGUMENTS: '{"p": 1'}),)


def test_an_answer_cut_at_the_limit_leaves_out_the_call_that_was_not_finished() -> None:
    ending = parsed(
        delta(content="I read"), tool_delta(index=0, id="a", name="read", arguments='{"p'), delta("length")
    ).ending()
    assert (ending.blocks, ending.stop_reason) == ((TextBlock("I read"),), "max_tokens")


def test_content_as_parts_is_taken() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    blocks = (
        parsed(delta(content=[thinking]), delta(content=[{"type": "text", "text": "Hi"}]), delta("stop"))
        .ending()
        .blocks
    )
    assert blocks == (ReasoningBlock("hm"), TextBlock("Hi"))


def test_a_refusal_in_words_is_text_and_says_so() -> None:
    ending = parsed(delta(refusal="I cannot"), delta(refusal=" do that."), delta("stop")).ending()
    assert (ending.blocks, ending.stop_reason) == ((TextBlock("I cannot do that."),), "refusal")


def test_an_answer_that_the_filter_stopped_is_no_answer() -> None:
    with pytest.raises(Declined):
        parsed(delta(content="So "), delta("content_filter")).ending()


def test_an_end_without_finish_reason_is_a_cut_even_with_done() -> None:  # cases 46
    parser = parsed(delta(content="Hel"), tool_delta(index=0, id="a", name="read", arguments="{"))
    with pytest.raises(Cut):
        parser.ending()
    assert parser.partial() == ((TextBlock("Hel"),), Usage())


def test_done_is_not_needed_after_a_finish_reason() -> None:
    parser = ChatParser()
    pieces(parser, chat_stream(delta(content="Hi"), delta("stop"), done=False))
    assert not parser.done
    assert parser.ending().blocks == (TextBlock("Hi"),)


@pytest.mark.parametrize("data", [b"{oops", b"[1]", b'"x"', b'{"choices":[3]}', b'{"choices":{"0":1}}'])
def test_a_chunk_that_is_no_chunk_is_a_fault(data: bytes) -> None:  # cases 46
    with pytest.raises(Garbled):
        ChatParser().feed([(b"", data)])


def test_an_error_in_the_stream_is_a_fault() -> None:
    with pytest.raises(Reported) as caught:
        parsed({"error": {"code": 502, "message": "upstream"}, "choices": []})
    assert caught.value.error == {"code": 502, "message": "upstream"}


def test_half_a_character_from_a_javascript_server_does_not_end_the_answer() -> None:
    parser = ChatParser()
    pieces(parser, b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n' + chat_stream(delta("stop")))
    assert parser.ending().blocks == (TextBlock("a\ufffd"),)


@pytest.mark.parametrize(
    ("usage", "timings", "expected"),
    [
        pytest.param({}, {}, Usage(), id="nothing-is-unknown-not-zero"),
        pytest.param(
            {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}},
            {},
            Usage(uncached=36, cache_read=64, output=5),
            id="openai",
        ),
        pytest.param(
            {
                "prompt_tokens": 100,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 30},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            {},
            Usage(uncached=6, cache_read=64, cache_write_5m=30, output=5, reasoning=3),
            id="openai-with-writes-and-reasoning",
        ),
        pytest.param(
            {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": None},
            {},
            Usage(100, output=5),
            id="vllm",
        ),
        pytest.param(
            {
                "prompt_tokens": 100,
                "completion_tokens": 5,
                "prompt_cache_hit_tokens": 90,
                "prompt_cache_miss_tokens": 10,
            },
            {},
            Usage(uncached=10, cache_read=90, output=5),
            id="deepseek",
        ),
        pytest.param(
            {"prompt_tokens": 100, "completion_tokens": 5, "cached_tokens": 40}, {}, Usage(60, 40, output=5), id="kimi"
        ),
        pytest.param(
            {"prompt_tokens": 100, "completion_tokens": 5},
            {"cache_n": 99, "prompt_n": 1, "predicted_n": 5},
            Usage(1, 99, output=5),
            id="llama.cpp",
        ),
        pytest.param(
            {}, {"cache_n": 9, "prompt_n": 1, "predicted_n": 5}, Usage(1, 9, output=5), id="llama.cpp-timings-only"
        ),
    ],
)
def test_usage_has_one_form_for_all(usage: dict[str, Any], timings: dict[str, Any], expected: Usage) -> None:  # C17
    assert usage_of(usage, timings) == expected


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param([{"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}], id="own-chunk"),
        pytest.param(
            [{"choices": [{"delta": {}, "usage": {"prompt_tokens": 3, "completion_tokens": 2}}]}], id="in-choice"
        ),
        pytest.param(
            [
                {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}},
                {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
            ],
            id="running-total",
        ),
    ],
)
def test_usage_is_found_wherever_it_stands(tail: list[dict[str, Any]]) -> None:
    assert parsed(delta(content="Hi"), delta("stop"), *tail).ending().usage == Usage(uncached=3, output=2)
