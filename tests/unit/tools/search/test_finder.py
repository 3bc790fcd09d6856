"""One index per registry content."""

from dataclasses import replace

import pytest

from openprogram.core.tooling import Snapshot
from openprogram.tools.registry import Registry
from openprogram.tools.search import finder
from openprogram.tools.search.finder import Finder
from openprogram.tools.search.index import Index
from tests.support.tools import spec


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tools each index that is made has."""
    sizes: list[int] = []

    class Counted(Index):
        def __init__(self, tools: object, about: object) -> None:
            super().__init__(tools, about)  # type: ignore[arg-type]
            sizes.append(len(self._names))

    monkeypatch.setattr(finder, "Index", Counted)
    return sizes


def snapshot(*names: str, version: int = 1) -> Snapshot:
    return Snapshot(version, tuple(spec(name) for name in names), {})


async def test_the_index_is_made_once_for_what_a_registry_says(built: list[int]) -> None:
    made = Finder()
    for version in range(3):  # presets and availability change the version, not what is said of the tools
        assert await made.rank(snapshot("weather", "notes", version=version), "weather", {"weather"}, 8) == ("weather",)
    assert built == [2]


async def test_a_new_tool_a_new_word_and_a_new_server_text_are_found(built: list[int]) -> None:
    made, first = Finder(), snapshot("weather")
    second = replace(first, tools=(*first.tools, spec("tides", source="mcp:sea")))
    third = replace(second, about={"mcp:sea": "ocean data"})
    names = {"weather", "tides"}
    assert await made.rank(first, "tides", names, 8) == ()
    assert await made.rank(second, "tides", names, 8) == ("tides",)
    assert await made.rank(third, "ocean", names, 8) == ("tides",)
    assert built == [1, 2, 2]


async def test_indexes_of_registries_that_are_gone_are_let_go(built: list[int]) -> None:
    made = Finder()
    for number in range(10):
        await made.rank(snapshot(f"tool_{number}"), "tool", {f"tool_{number}"}, 8)
    await made.rank(snapshot("tool_9"), "tool", {"tool_9"}, 8)
    await made.rank(snapshot("tool_0"), "tool", {"tool_0"}, 8)
    assert len(built) == 11


def test_what_a_source_says_of_itself_is_in_the_snapshot_and_goes_with_it() -> None:
    registry = Registry()
    registry.put("mcp:sky", [spec("star")], about="Stars and planets")
    assert registry.snapshot.about == {"mcp:sky": "Stars and planets"}
    registry.set_unavailable("mcp:sky", {"star": "clouds"})
    assert registry.snapshot.about == {"mcp:sky": "Stars and planets"}
    registry.remove("mcp:sky")
    assert registry.snapshot.about == {}
