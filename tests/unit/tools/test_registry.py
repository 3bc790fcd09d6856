from dataclasses import replace

import pytest

from openprogram.core.errors import ConfigError
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import Preset, Snapshot, ToolContext, ToolOutput
from openprogram.tools.registry import Registry
from tests.support.tools import BASH, READ, WEATHER, registry, spec


def names(snapshot: Snapshot) -> list[str]:
    return [tool.name for tool in snapshot.tools]


def test_a_snapshot_is_sorted_and_never_changes() -> None:
    made = Registry()
    made.put("builtin", [READ, BASH])
    before = made.snapshot
    made.put("plugin:weather", [WEATHER])

    assert names(before) == ["bash", "read"]
    assert names(made.snapshot) == ["bash", "read", "weather"]
    assert made.snapshot.version == before.version + 1


def test_a_tool_belongs_to_the_source_that_brought_it_whatever_it_says() -> None:
    made = Registry()
    made.put("mcp:evil", [spec("nice", source="builtin")])

    assert made.snapshot.tools[0].source == "mcp:evil"


def test_a_source_is_replaced_as_a_whole() -> None:
    made = registry(("mcp:s", [spec("one"), spec("two")]))
    made.put("mcp:s", [spec("two"), spec("three")])

    assert [tool.name for tool in made.snapshot.tools if tool.source == "mcp:s"] == ["three", "two"]


def test_removing_a_source_takes_its_tools_and_nothing_else() -> None:
    made = registry(("plugin:weather", [WEATHER]))
    made.remove("plugin:weather")
    version = made.snapshot.version
    made.remove("plugin:weather")

    assert names(made.snapshot) == names(registry().snapshot)
    assert made.snapshot.version == version


def test_putting_the_same_again_is_no_change() -> None:
    made = registry()
    version = made.snapshot.version
    made.put("builtin", reversed(made.snapshot.tools))

    assert made.snapshot.version == version


def test_the_same_words_over_another_function_are_a_change() -> None:
    async def other(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        return ToolOutput.text("another server")

    made = Registry()
    made.put("mcp:s", [spec("get")])
    before = made.snapshot
    made.put("mcp:s", [spec("get", execute=other)])

    assert made.snapshot.version == before.version + 1
    assert made.snapshot.tools[0].execute is other


def test_listeners_hear_of_each_change_until_they_leave() -> None:
    made = Registry()
    heard: list[int] = []
    leave = made.subscribe(lambda snapshot: heard.append(snapshot.version))
    made.put("builtin", [READ])
    made.put("builtin", [READ])
    leave()
    made.put("builtin", [READ, BASH])

    assert heard == [2]


def test_availability_comes_and_goes_with_its_reason() -> None:
    made = Registry()
    made.put("builtin", [READ, BASH], {"bash": "no shell was found"})
    assert dict(made.snapshot.unavailable) == {"bash": "no shell was found"}

    made.set_unavailable("builtin", {})
    assert dict(made.snapshot.unavailable) == {}


def test_availability_follows_a_tool_that_got_another_name() -> None:
    made = Registry()
    made.put("builtin", [READ])
    made.put("mcp:s", [READ], {"read": "no key"})
    ((renamed, reason),) = made.snapshot.unavailable.items()

    assert reason == "no key"
    assert renamed != "read"
    assert made.snapshot.get(renamed) == replace(READ, name=renamed, source="mcp:s")


def test_presets_that_cannot_be_used_leave_the_old_ones_in_force() -> None:
    made = Registry([Preset("mine", "Mine", entries=("read",))])
    version = made.snapshot.version
    with pytest.raises(ConfigError):
        made.set_presets([Preset("mine", "Mine", includes=("nowhere",))])

    assert made.snapshot.version == version
    assert made.snapshot.presets["mine"].entries == ("read",)

    made.set_presets([Preset("yours", "Yours")])
    assert "mine" not in made.snapshot.presets
    assert "yours" in made.snapshot.presets


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_tool_whose_schema_no_request_could_carry_is_left_out_and_told_whoever_brings_it(number: float) -> None:
    odd: JsonObject = {"type": "object", "properties": {"deep": {"anyOf": [{"maximum": number}]}}}
    made = registry(("mcp:s", [spec("odd", parameters=odd), spec("plain")]))
    assert [tool.name for tool in made.snapshot.tools if tool.source == "mcp:s"] == ["plain"]
    (problem,) = made.snapshot.problems["mcp:s"]
    assert "odd" in problem
    assert "properties.deep.anyOf.0.maximum" in problem
