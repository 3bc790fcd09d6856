"""Finding by meaning: vectors kept by hash, ranked by nearness, fused with the words' ranking."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.tooling import Snapshot, ToolSpec
from openprogram.tools.search.finder import Finder, fused
from openprogram.tools.search.meaning import Meaning
from tests.support.tools import spec


class Senses:
    """An embedder of two senses: how wet a text is, and how much of it is about files."""

    size = 2

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        rows = [[sum(text.count(w) for w in ("rain", "umbrella", "weather")), text.count("file")] for text in texts]
        vectors = np.array(rows, np.float32) + 0.01
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


WEATHER = spec("weather", description="Tells the weather.")
PATCH = spec("apply_patch", description="Changes a file.")
TOOLS = Snapshot(1, (PATCH, WEATHER), {})
NAMES = {"weather", "apply_patch"}


async def learnt(path: Path, snapshot: Snapshot = TOOLS) -> tuple[Meaning, Senses]:
    senses = Senses()
    meaning = Meaning(senses, path)
    await meaning.learn(snapshot)
    return meaning, senses


async def test_what_shares_no_word_is_found_by_its_meaning(tmp_path: Path) -> None:
    meaning, _ = await learnt(tmp_path / "vectors")
    assert await Finder().rank(TOOLS, "do I need an umbrella", NAMES, 8) == ()
    assert await Finder(meaning).rank(TOOLS, "do I need an umbrella", NAMES, 8) == ("weather", "apply_patch")


async def test_nothing_is_ranked_that_the_chat_may_not_use(tmp_path: Path) -> None:  # T17
    meaning, _ = await learnt(tmp_path / "vectors")
    assert await Finder(meaning).rank(TOOLS, "weather, umbrella, rain", {"apply_patch"}, 8) == ("apply_patch",)
    assert await Finder(meaning).rank(TOOLS, "weather", NAMES, 1) == ("weather",)


async def test_a_vector_is_made_once_for_a_text_over_restarts(tmp_path: Path) -> None:
    await learnt(tmp_path / "vectors")
    changed = ToolSpec(**{**_fields(WEATHER), "description": "Tells the weather of a place."})
    _, senses = await learnt(tmp_path / "vectors", Snapshot(2, (PATCH, changed), {}))
    assert senses.texts == ["weather: Tells the weather of a place. "]


async def test_half_a_record_at_the_end_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    await learnt(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    meaning, senses = await learnt(path)
    assert len(senses.texts) == 1
    assert path.read_bytes() == whole
    assert await meaning.rank(TOOLS, "rain", NAMES, 1) == ("weather",)


async def test_a_tool_whose_vector_is_missing_is_found_by_its_words(tmp_path: Path) -> None:
    meaning, _ = await learnt(tmp_path / "vectors")
    later = Snapshot(2, (*TOOLS.tools, spec("tides")), {})
    assert "tides" in await Finder(meaning).rank(later, "tides", {*NAMES, "tides"}, 2)


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=4))
def test_fusion_keeps_every_name_once_and_what_all_agree_on(rankings: list[list[str]]) -> None:
    together = fused(rankings)
    assert sorted(together) == sorted({name for ranking in rankings for name in ranking})
    assert fused([together, together]) == together
    firsts = {ranking[0] for ranking in rankings if ranking}
    if len(firsts) == 1 and all(rankings):
        assert together[:1] == tuple(firsts)


def _fields(tool: ToolSpec) -> dict[str, Any]:
    return {name: getattr(tool, name) for name in ToolSpec.__slots__}


@pytest.mark.parametrize("text", ["", "x" * 50_000])
async def test_any_text_has_a_vector(tmp_path: Path, text: str) -> None:
    _, senses = await learnt(tmp_path / "vectors", Snapshot(1, (spec("tool", description=text),), {}))
    assert len(senses.texts[0]) <= 2_000
