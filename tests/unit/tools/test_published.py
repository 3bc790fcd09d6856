"""What a package publishes is held to what the program promises of its tools."""

from dataclasses import replace
from pathlib import Path

import pytest

from openprogram.agent.tool_search import tool_search
from openprogram.core.errors import ConfigError
from openprogram.core.jsonio import JsonObject
from openprogram.tools.builtin.compose import BuiltinConfig, builtin_tools
from openprogram.tools.builtin.jobs import Jobs
from openprogram.tools.published import RESERVED, check_published
from tests.support.tools import WEATHER, spec


def test_one_tool_or_a_list_of_them_is_taken_in_its_order() -> None:
    tides = spec("tides")
    assert check_published(WEATHER, ()).tools == (WEATHER,)
    assert check_published([tides, WEATHER], ()).tools == (tides, WEATHER)


def test_a_bad_tool_is_named_and_its_neighbours_stay() -> None:
    checked = check_published((len, WEATHER, spec("two words"), spec("tides")), ())

    assert [tool.name for tool in checked.tools] == ["weather", "tides"]
    assert checked.problems == (
        "len is left out: it is not a tool; decorate the function with @tool",
        "two words is left out: its name is not 1 to 64 of A-Z a-z 0-9 _ -",
    )


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        (spec("own_tool"), "a built-in tool has this name"),
        (spec("agent"), "this name is reserved for the program"),
        (spec("mcp__sea__tides"), "this name is reserved for the program"),
        (spec("weather"), "the plug-in has another tool of this name"),
        (spec("mute", description=" "), "it has no description, which is what the model reads"),
        (spec("odd", parameters={"type": "string"}), "its parameters are not a JSON schema of type object"),
        (
            spec("odd", parameters={"type": "object", "properties": {"when": object()}}),
            "its schema is not JSON (Type is not JSON serializable: object)",
        ),
    ],
)
def test_a_tool_that_cannot_be_one_here_is_refused_with_a_reason(tool: object, why: str) -> None:
    checked = check_published([WEATHER, tool], {"own_tool"})

    assert checked.tools == (WEATHER,)
    (problem,) = checked.problems
    assert problem.partition(": ")[2] == why


def test_every_name_of_the_program_is_reserved_whether_or_not_it_is_registered(tmp_path: Path) -> None:
    tools = builtin_tools(BuiltinConfig(tmp_path, Jobs()))
    assert {tool.name for tool in (*tools, tool_search)} <= RESERVED
    assert [check_published(spec(name), ()).tools for name in sorted(RESERVED)] == [()] * len(RESERVED)


def test_a_published_tool_waits_until_it_is_found_whatever_it_says() -> None:  # T19
    (tool,) = check_published(replace(WEATHER, residency="resident"), ()).tools
    assert tool.residency == "deferred"


@pytest.mark.parametrize("published", [None, "weather", len, {"weather": WEATHER}])
def test_an_entry_point_that_leads_to_no_tools_is_an_error(published: object) -> None:
    with pytest.raises(ConfigError, match="neither a tool nor a list of tools"):
        check_published(published, ())


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_schema_with_a_number_that_json_cannot_hold_is_left_out(number: float) -> None:
    parameters: JsonObject = {"type": "object", "properties": {"far": {"type": "number", "default": number}}}
    checked = check_published([spec("far", parameters=parameters), WEATHER], ())
    assert checked.tools == (WEATHER,)
    (problem,) = checked.problems
    assert "properties.far.default" in problem
