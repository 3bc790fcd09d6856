from openprogram.core.intent import ToolIntent
from openprogram.core.tooling import LoadedSet
from openprogram.tools.states import tool_states
from tests.support.tools import resolved, snapshot, spec

SEARCHER = ("plugin:search", [spec("tool_search", residency="resident")])


def test_every_tool_is_shown_with_its_state_and_reason() -> None:  # T12, report 47
    now = snapshot(SEARCHER, unavailable={"web_fetch": "no network"})
    intent = ToolIntent(toolset="full", disabled=("bash",), web_search=False)
    states = tool_states(now, resolved(intent, now), intent.disabled, LoadedSet(), {"read": 120})

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
    assert [state.name for state in states if state.switched_off] == ["bash"]
    assert [state.name for state in states if not state.switchable] == ["web_search"]


def test_a_discovered_tool_is_loaded() -> None:
    now = snapshot(SEARCHER)
    states = tool_states(now, resolved(ToolIntent(toolset="full"), now), (), LoadedSet(("memory_search",)), {})

    assert {state.name: state.state for state in states}["memory_search"] == "loaded"


def test_where_nothing_can_be_discovered_every_tool_is_on() -> None:
    now = snapshot()
    states = tool_states(now, resolved(ToolIntent(toolset="full"), now), (), LoadedSet(), {})

    assert {state.state for state in states} == {"on"}
