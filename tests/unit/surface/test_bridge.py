"""Calls through the bridge become calls of their inner tool before anyone looks at them (cache.md C8)."""

import pytest

from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import TextBlock, ToolUseBlock
from openprogram.surface.bridge import unbridged
from tests.support.surfaces import first


def through(arguments: JsonObject, name: str = "call_tool") -> ToolUseBlock:
    return ToolUseBlock("c_1", name, arguments)


def test_a_call_through_the_bridge_is_the_call_that_it_is_for() -> None:
    said = TextBlock("I look.")
    found = unbridged((said, through({"name": "weather", "arguments": {"city": "Bern"}})), first("bridge", "read"))
    assert found == (said, ToolUseBlock("c_1", "weather", {"city": "Bern"}, bridged=True))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"name": "weather"},
        {"name": "weather", "arguments": "{}"},
        {"name": 5, "arguments": {}},
        {"name": "weather", "arguments": {}, "more": 1},
        {"name": "call_tool", "arguments": {"name": "weather", "arguments": {}}},
    ],
)
def test_what_has_another_form_stays_and_is_refused_at_dispatch(arguments: JsonObject) -> None:
    assert unbridged((through(arguments),), first("bridge", "read")) == (through(arguments),)


def test_a_tool_that_is_called_by_its_name_stays() -> None:
    plain = through({"name": "weather", "arguments": {}}, name="read")
    assert unbridged((plain,), first("bridge", "read")) == (plain,)


def test_without_a_bridge_nothing_is_taken_for_one() -> None:
    call = through({"name": "weather", "arguments": {}})
    assert unbridged((call,), first("append", "read")) == (call,)
