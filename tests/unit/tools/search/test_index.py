"""What is found, and in which order."""

from typing import Any

import pytest

from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolSpec
from openprogram.tools.search.document import parameter_text
from openprogram.tools.search.index import Index
from tests.support.tools import spec


def with_parameters(name: str, **properties: Any) -> ToolSpec:
    return spec(name, description="Does it.", parameters={"type": "object", "properties": properties})


def found(query: str, *tools: ToolSpec, about: dict[str, str] | None = None, limit: int = 8) -> list[str]:
    index = Index(tools, about or {})
    return list(index.rank(query, {tool.name for tool in tools}, limit))


OTHERS = (spec("apply_patch", description="Change files by a diff."), spec("notes", description="Keep notes."))


@pytest.mark.parametrize(
    "tool",
    [
        pytest.param(spec("weatherForecast"), id="name"),
        pytest.param(spec("forecast", description="Tells the weather of a place."), id="description"),
        pytest.param(with_parameters("forecast", weather={"type": "string"}), id="parameter"),
        pytest.param(with_parameters("forecast", x={"description": "kind of weather"}), id="parameter-description"),
        pytest.param(with_parameters("forecast", x={"enum": ["weather", "tides"]}), id="allowed-value"),
        pytest.param(
            with_parameters("forecast", x={"type": "array", "items": {"properties": {"weather": {}}}}), id="nested"
        ),
        pytest.param(spec("forecast", source="mcp:weather"), id="server"),
    ],
)
def test_a_tool_is_found_by_any_of_its_texts(tool: ToolSpec) -> None:  # T17
    assert found("what is the weather?", *OTHERS, tool) == [tool.name]


def test_a_tool_is_found_by_what_its_server_says_of_itself() -> None:
    tool = spec("forecast", source="mcp:sky")
    assert found("weather", *OTHERS, tool, about={"mcp:sky": "Everything about weather"}) == ["forecast"]


def test_the_name_says_more_than_the_description_and_that_more_than_the_parameters() -> None:
    by_parameter = with_parameters("a_tool", weather={"type": "string"})
    by_description = spec("b_tool", description="For weather.")
    by_name = spec("weather_c", description="For it.")
    assert found("weather", by_parameter, by_description, by_name) == ["weather_c", "b_tool", "a_tool"]


def test_a_rare_word_says_more_than_a_common_one() -> None:
    common = [spec(f"file_{n}") for n in range(5)]
    assert found("file spreadsheet", *common, spec("spreadsheet"))[0] == "spreadsheet"


def test_nothing_is_found_that_shares_no_word() -> None:
    assert found("quantum", *OTHERS) == []
    assert found("", *OTHERS) == []
    assert found("anything") == []


def test_only_tools_of_the_given_names_are_found_and_no_more_than_asked_for() -> None:  # T17
    tools = [spec(f"weather_{n}") for n in range(20)]
    index = Index(tools, {})
    among = {f"weather_{n}" for n in range(0, 20, 2)}
    ranked = index.rank("weather", among, 3)
    assert len(ranked) == 3
    assert set(ranked) <= among


def test_equal_tools_come_by_name() -> None:  # T11
    assert found("weather", *(spec(f"weather_{c}", description="") for c in "cab")) == [
        "weather_a",
        "weather_b",
        "weather_c",
    ]


def test_a_schema_without_end_is_read_to_a_bound() -> None:
    deep: JsonObject = {"description": "bottom"}
    for _ in range(2000):
        deep = {"properties": {"x": deep}}
    wide: JsonObject = {"properties": {f"p{n}": {"description": "word " * 100} for n in range(1000)}}
    assert "bottom" not in parameter_text(deep)
    assert len(parameter_text(wide)) <= 20_000


def test_a_schema_that_is_no_schema_is_no_error() -> None:
    odd: JsonObject = {"properties": [1], "items": "x", "anyOf": {"a": 1}, "enum": "no", "description": 5}
    assert parameter_text(odd) == ""
