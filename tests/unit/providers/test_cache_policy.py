"""Where breakpoints stand (C15)."""

import pytest

from openprogram.providers.cache_policy import BlockPlace, Breakpoints, breakpoints


def place(turn: int, index: int, source: int, *, markable: bool = True) -> BlockPlace:
    return BlockPlace(turn, index, source, "assistant" if turn % 2 else "user", markable)


# user | answer with 3 calls | their results | answer | user
PLACES = [
    place(0, 0, 0),
    *(place(1, i, 1) for i in range(3)),
    *(place(2, i, 2) for i in range(3)),
    place(3, 0, 3),
    place(4, 0, 4),
]


def test_a_first_request_marks_last_tool_last_system_block_and_newest_message() -> None:
    chosen = breakpoints(5, 2, PLACES[:1], 0)
    assert chosen == Breakpoints(tool=4, system=1, blocks=((0, 0),))


def test_the_previous_newest_place_is_marked_again_however_much_lies_between() -> None:
    assert breakpoints(1, 1, PLACES, previous_length=1).blocks == ((0, 0), (4, 0))
    assert breakpoints(1, 1, PLACES, previous_length=3).blocks == ((2, 2), (4, 0))


def test_unknown_previous_request_is_taken_to_end_before_the_newest_answer() -> None:
    assert breakpoints(1, 1, PLACES, previous_length=0).blocks == ((2, 2), (4, 0))


def test_a_request_repeated_as_it_was_marks_its_end_once() -> None:
    assert breakpoints(1, 1, PLACES, previous_length=5).blocks == ((4, 0),)


def test_nothing_is_marked_where_nothing_stands() -> None:
    assert breakpoints(0, 0, [], 0) == Breakpoints(None, None, ())


def test_a_block_that_takes_no_mark_passes_it_to_the_one_before() -> None:
    assert breakpoints(0, 0, [place(0, 0, 0), place(0, 1, 0, markable=False)], 0).blocks == ((0, 0),)


@pytest.mark.parametrize("previous", range(6))
def test_there_are_never_more_than_four(previous: int) -> None:
    assert breakpoints(9, 9, PLACES, previous).count <= 4
