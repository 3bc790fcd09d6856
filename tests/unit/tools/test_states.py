from dataclasses import replace

from openprogram.core.intent import ToolIntent
from openprogram.core.loaded import LoadedSet
from openprogram.core.tooling import DISCOVERY_TOOL, Snapshot
from openprogram.tools.states import DESCRIBED, tool_states
from tests.support.tools import resolved, snapshot


def with_discovery(now: Snapshot) -> Snapshot:
    read = now.get("read")
    assert read is not None
    tools = sorted((*now.tools, replace(read, name=DISCOVERY_TOOL)), key=lambda tool: tool.name)
    return replace(now, tools=tuple(tools))


def test_every_tool_is_shown_with_its_state_and_reason() -> None:  # T12, report 47
    now = with_discovery(snapshot(unavailable={"web_fetch": "no network"}))
    intent = ToolIntent(toolset="full", disabled=("bash",), web_search=False)
    states = tool_states(now, resolved(intent, now), intent.disabled, LoadedSet(), {"read": 120}, {"read": 7})

    assert [(state.name, state.state, state.reason) for state in states] == [
        ("bash", "off", "switched_off"),
        ("memory_search", "deferred", None),
        ("read", "on", None),
        ("tool_search", "on", None),
        ("web_fetch", "unavailable", "not_configured"),
        ("web_search", "off", "chip_off"),
        ("write", "on", None),
    ]
    by_name = {state.name: state for state in states}
    assert by_name["web_fetch"].detail == "no network"
    assert (by_name["read"].tokens, by_name["write"].tokens) == (120, None)
    assert (by_name["read"].tokens_now, by_name["write"].tokens_now) == (7, None)
    assert by_name["bash"].switched_off
    assert not by_name["read"].switched_off
    assert [state.name for state in states if not state.switchable] == ["web_search"]


def test_a_description_of_any_length_is_shown_in_one_short_line() -> None:
    now = snapshot()
    long = replace(now, tools=tuple(replace(tool, description="word " * 9_000 + "\nmore") for tool in now.tools))
    states = tool_states(long, resolved(ToolIntent(), long), (), LoadedSet(), {}, {})
    assert {len(state.description) for state in states} == {DESCRIBED}


def test_a_discovered_tool_is_loaded() -> None:
    now = with_discovery(snapshot())
    intent = ToolIntent(toolset="full")
    states = tool_states(now, resolved(intent, now), (), LoadedSet(("memory_search",)), {}, {})

    assert {state.name: state.state for state in states}["memory_search"] == "loaded"


def test_nothing_is_deferred_where_nothing_could_find_it() -> None:
    now = snapshot()
    intent = ToolIntent(toolset="full")
    states = tool_states(now, resolved(intent, now), (), LoadedSet(), {}, {})

    assert {state.name: state.state for state in states}["memory_search"] == "on"
