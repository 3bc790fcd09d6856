"""Answers before they have a wire format."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.fakeapi.answer import (
    Answer,
    Chunk,
    TextBlock,
    ToolUseBlock,
    joined,
    pieces,
    sign,
    text_block,
    tool_use_block,
    truncated,
    with_ids,
)
from openprogram.fakeapi.bench import bench_answer


@given(st.text(), st.integers(1, 12))
def test_pieces_put_together_are_the_text(text: str, size: int) -> None:
    assert joined(pieces(text, size)) == text


def test_pieces_are_about_a_token_each() -> None:
    assert [chunk.text for chunk in pieces("ab cd, 你好 efghij")] == ["ab", " cd,", " 你", "好", " efgh", "ij"]


def test_a_signature_belongs_to_one_text() -> None:
    assert sign("a") == sign("a") != sign("b")


def test_only_calls_without_an_id_get_one() -> None:
    blocks = (text_block("x"), ToolUseBlock("a", (), "mine"), tool_use_block("b", {}))
    _, mine, new = with_ids(Answer(blocks), "call_").blocks
    assert isinstance(mine, ToolUseBlock)
    assert isinstance(new, ToolUseBlock)
    assert mine.id == "mine"
    assert (new.id or "").startswith("call_")


@pytest.mark.parametrize(("limit", "kept"), [(0, ""), (1, "a"), (3, "abc"), (4, None)])
def test_an_answer_is_cut_at_a_deltas_border(limit: int, kept: str | None) -> None:
    blocks = (TextBlock((Chunk("a"), Chunk("b"))), TextBlock((Chunk("c"), Chunk("d"))))
    cut = truncated(blocks, limit, [1, 1, 1, 1])
    assert (cut is None) == (kept is None)
    assert kept is None or "".join(joined(block.chunks) for block in cut or ()) == kept


@pytest.mark.parametrize("deltas", [0, 1, 1000])
def test_the_benchmark_has_exactly_as_many_deltas_as_asked_for(deltas: int) -> None:
    answer = bench_answer(deltas, 50)
    assert sum(len(block.chunks) for block in answer.blocks) == deltas
    assert (answer.rate, answer.output_tokens) == (50, deltas)
