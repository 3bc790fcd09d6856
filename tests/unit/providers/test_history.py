"""Arranging histories: the cases by hand. `tests/property/providers` has the laws."""

from openprogram.core.messages import Message, ReasoningBlock, TextBlock, ToolResultBlock
from openprogram.providers.history import CONTINUE, NO_RESULT, OPENING, arrange, own_reasoning, sent_name
from tests.support.histories import call, chain, message, result


def sides(*messages: Message) -> list[tuple[str, list[object]]]:
    """Role and blocks of each turn."""
    turns = arrange(chain(*messages), own_reasoning("e/m"))
    return [(turn.role, [item.block for item in turn.items]) for turn in turns]


def test_user_texts_notices_and_results_in_a_row_are_one_turn_with_the_results_first() -> None:
    assert sides(
        message("user", "read it"),
        message("assistant", call("c_1")),
        message("tool", result("c_1")),
        message("notice", "web search is on"),
        message("user", "go on"),
    )[2] == ("user", [result("c_1"), TextBlock("web search is on"), TextBlock("go on")])


def test_results_come_in_the_order_of_the_calls() -> None:
    turn = sides(
        message("user", "x"),
        message("assistant", call("c_1"), call("c_2")),
        message("tool", result("c_2"), result("c_1")),
    )[2]
    assert turn == ("user", [result("c_1"), result("c_2")])


def test_a_call_without_result_gets_one_that_says_so() -> None:
    missing = ToolResultBlock("c_1", "interrupted", (TextBlock(NO_RESULT),))
    assert sides(message("user", "x"), message("assistant", call("c_1")), message("user", "y"))[2] == (
        "user",
        [missing, TextBlock("y")],
    )


def test_a_result_without_call_is_left_out() -> None:
    assert sides(message("user", "x"), message("tool", result("c_9"))) == [("user", [TextBlock("x")])]


def test_a_result_that_stands_before_its_call_is_not_its_result() -> None:
    last = sides(message("user", "x"), message("tool", result("c_1")), message("assistant", call("c_1")))[-1]
    assert last == ("user", [ToolResultBlock("c_1", "interrupted", (TextBlock(NO_RESULT),))])


def test_repeated_ids_are_told_apart_with_their_results() -> None:
    history = sides(
        message("user", "x"),
        message("assistant", call("c_1")),
        message("tool", result("c_1", "first")),
        message("assistant", call("c_1")),
        message("tool", result("c_1", "second")),
    )
    assert [history[2], history[4]] == [("user", [result("c_1", "first")]), ("user", [result("c_1_2", "second")])]


def test_a_history_that_begins_or_ends_with_an_answer_is_framed() -> None:
    assert sides(message("assistant", "Hi")) == [
        ("user", [TextBlock(OPENING)]),
        ("assistant", [TextBlock("Hi")]),
        ("user", [TextBlock(CONTINUE)]),
    ]


def test_an_empty_history_is_a_request_all_the_same() -> None:
    assert sides() == [("user", [TextBlock(CONTINUE)])]


def test_an_answer_that_was_written_on_keeps_what_asked_for_that_and_empty_ones_vanish() -> None:  # C13
    cut, empty, rest = message("assistant", "a"), message("assistant", ""), message("assistant", "b")
    asked = sides(message("user", "x"), cut)
    assert asked[-1] == ("user", [TextBlock(CONTINUE)])
    later = sides(message("user", "x"), cut, empty, rest, message("user", "y"))
    assert later[: len(asked)] == asked
    assert later[len(asked) :] == [("assistant", [TextBlock("b")]), ("user", [TextBlock("y")])]


def test_reasoning_goes_back_to_the_model_that_made_it_and_to_no_other() -> None:  # C14
    thought = ReasoningBlock("hm", "sig")
    own = message("assistant", thought, "Hi", model="e/m")
    foreign = message("assistant", thought, "Hi", model="e/other")
    assert sides(message("user", "x"), own)[1] == ("assistant", [thought, TextBlock("Hi")])
    assert sides(message("user", "x"), foreign)[1] == ("assistant", [TextBlock("Hi")])


def test_reasoning_without_proof_or_at_the_end_of_an_answer_stays_behind() -> None:  # C14
    partial = message("assistant", ReasoningBlock("hm"), "Hi", ReasoningBlock("more", "sig"), model="e/m")
    assert sides(message("user", "x"), partial)[1] == ("assistant", [TextBlock("Hi")])


def test_names_are_sent_in_the_alphabet_of_all_apis() -> None:
    assert [sent_name(name) for name in ("read_file", "web.search", "", "n" * 90)] == [
        "read_file",
        "web_search",
        "unknown",
        "n" * 64,
    ]
