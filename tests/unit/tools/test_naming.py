import random
import re

from openprogram.core.surface import RESERVED_NAMES
from openprogram.core.tooling import ToolSpec
from openprogram.tools.naming import unique_names
from tests.support.tools import spec

VALID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def names(*tools: ToolSpec) -> dict[str, str]:
    """Source and original name of each tool by the name that it got."""
    return {name: f"{tool.source}/{tool.name}" for name, tool in unique_names(tools)}


def test_a_valid_name_of_its_own_is_kept() -> None:
    assert names(spec("read"), spec("web-search_2")) == {"read": "builtin/read", "web-search_2": "builtin/web-search_2"}


def test_of_two_claims_the_built_in_one_wins_then_plug_ins_then_servers() -> None:
    mcp, plugin, builtin = (spec("read", source=source) for source in ("mcp:a", "plugin:z", "builtin"))

    assert names(mcp, plugin, builtin)["read"] == "builtin/read"
    assert names(mcp, plugin)["read"] == "plugin:z/read"
    assert len(names(mcp, plugin, builtin)) == 3


def test_the_loser_keeps_its_name_whoever_else_comes() -> None:
    plugin = spec("read", source="plugin:z")
    (lost,) = (name for name in names(spec("read"), plugin) if name != "read")

    assert names(spec("read"), plugin, spec("read", source="mcp:a"))[lost] == "plugin:z/read"


def test_invalid_characters_are_replaced_and_two_that_become_one_stay_two() -> None:
    found = names(spec("a.b", source="mcp:s"), spec("a/b", source="mcp:s"), spec("", source="mcp:s"))

    assert found["a_b"] == "mcp:s/a.b"
    assert found["tool"] == "mcp:s/"
    assert len(found) == 3


def test_long_names_are_cut_to_64_and_stay_apart() -> None:  # report 40
    tools = [spec("mcp__server__" + "x" * 80 + ending, source="mcp:server") for ending in ("a", "b")]
    found = names(*tools)

    assert all(len(name) == 64 for name in found)
    assert sorted(found.values()) == [f"mcp:server/{tool.name}" for tool in tools]


def test_a_server_that_lists_one_name_twice_keeps_both_apart_by_what_they_say() -> None:
    one, two = (spec("get", source="mcp:s", description=text) for text in ("One.", "Two."))

    assert len(names(one, two, one)) == 3
    assert dict(unique_names([one, two])) == dict(unique_names([two, one]))


def test_560_tools_with_duplicates_and_long_names_get_stable_valid_names_in_any_order() -> None:  # report 40
    tools = [
        spec(f"{'long_' * 20 if number % 7 == 0 else ''}tool {number % 40}", source=f"mcp:server{number % 14}")
        for number in range(560)
    ]
    found = unique_names(tools)
    assert len(found) == 560
    assert all(VALID.fullmatch(name) for name, _ in found)
    assert [name for name, _ in found] == sorted({name for name, _ in found})

    shuffle = random.Random(7)
    for _ in range(10):
        shuffle.shuffle(tools)
        assert [name for name, _ in unique_names(tools)] == [name for name, _ in found]


def test_a_name_that_the_surface_owns_is_no_tools() -> None:  # cache.md C8
    for name in RESERVED_NAMES:
        (given,) = names(spec(name, source="mcp:s"))
        assert given not in RESERVED_NAMES
