"""The two states that take no tool away: `down` and `refused by mode` (spec tools.md T12)."""

from typing import get_args

import pytest

from openprogram.agent.freeze import freeze
from openprogram.core.events import PermissionMode
from openprogram.core.intent import ToolIntent
from openprogram.core.loaded import LoadedSet
from openprogram.core.obstacles import Obstacle
from openprogram.core.tooling import ContractTool, Resolution, Snapshot
from openprogram.permissions.modes import refused_by_mode
from openprogram.tools.obstacles import obstacle
from openprogram.tools.states import tool_states
from tests.support.obstacles import ONLY_LOOKS, only_looks
from tests.support.tools import BASH, BRAVE, BUILTIN, READ, registry, resolved

EVERYTHING = ToolIntent(toolset="full")
AWAY = "the server brave does not answer; it is tried again by itself"


def fingerprint(resolution: Resolution) -> str:
    return freeze(resolution, lambda spec: ContractTool(spec, spec.execute)).fingerprint


def states(now: Snapshot, mode: PermissionMode = "auto") -> dict[str, tuple[str, str]]:
    shown = tool_states(
        now,
        resolved(EVERYTHING, now),
        (),
        LoadedSet(),
        {},
        {},
        obstacle=lambda tool: obstacle(tool, now, mode, only_looks),
    )
    return {tool.name: (tool.state, tool.detail) for tool in shown}


def test_a_source_that_is_down_drops_no_tool_and_is_not_in_the_fingerprint() -> None:  # T12, C5
    made = registry(("mcp:brave", [BRAVE]))
    there = made.snapshot
    made.set_down("mcp:brave", AWAY)
    away = made.snapshot
    assert away.down == {"mcp:brave": AWAY}
    assert away.tools == there.tools
    assert resolved(EVERYTHING, away).kept == resolved(EVERYTHING, there).kept
    assert resolved(EVERYTHING, away).dropped == resolved(EVERYTHING, there).dropped
    assert fingerprint(resolved(EVERYTHING, away)) == fingerprint(resolved(EVERYTHING, there))
    made.set_down("mcp:brave", None)
    assert made.snapshot.down == {}


def test_a_source_that_gives_its_tools_is_not_down_any_more() -> None:
    made = registry(("mcp:brave", [BRAVE]))
    made.set_down("mcp:brave", AWAY)
    made.put("mcp:brave", [BRAVE])
    assert made.snapshot.down == {}


def test_other_availability_does_not_bring_a_source_back() -> None:
    made = registry(("mcp:brave", [BRAVE]))
    made.set_down("mcp:brave", AWAY)
    made.set_unavailable("mcp:brave", {BRAVE.name: "no key"})
    assert made.snapshot.down == {"mcp:brave": AWAY}
    assert made.snapshot.unavailable == {BRAVE.name: "no key"}


def test_listeners_hear_of_a_source_that_goes_and_comes_once_each() -> None:
    made = registry(("mcp:brave", [BRAVE]))
    heard: list[dict[str, str]] = []
    made.subscribe(lambda now: heard.append(dict(now.down)))
    for why in (AWAY, AWAY, None, None):
        made.set_down("mcp:brave", why)
    assert heard == [{"mcp:brave": AWAY}, {}]


def test_only_a_source_that_there_is_can_be_down() -> None:
    with pytest.raises(KeyError):
        registry().set_down("mcp:nobody", AWAY)


def test_the_panel_shows_what_is_down_and_what_the_mode_refuses_with_the_reason() -> None:  # T12, report 47
    made = registry(("mcp:brave", [BRAVE]))
    made.set_down("mcp:brave", AWAY)
    assert states(made.snapshot)[BRAVE.name] == ("down", AWAY)
    assert states(made.snapshot)["bash"] == ("on", "")
    shown = states(made.snapshot, "ask")
    assert shown["bash"] == ("refused_by_mode", ONLY_LOOKS)
    assert shown["read"] == ("on", "")
    assert shown[BRAVE.name] == ("down", AWAY)


def test_a_tool_that_is_off_is_shown_as_off_whatever_else_is_the_matter() -> None:
    made = registry(("mcp:brave", [BRAVE]))
    made.set_down("mcp:brave", AWAY)
    now = made.snapshot
    off = resolved(ToolIntent(toolset="full", disabled=(BRAVE.name, "bash")), now)
    shown = tool_states(now, off, (), LoadedSet(), {}, {}, obstacle=lambda tool: obstacle(tool, now, "ask", only_looks))
    assert {tool.name: tool.state for tool in shown if tool.name in (BRAVE.name, "bash")} == {
        BRAVE.name: "off",
        "bash": "off",
    }


def test_the_chip_says_that_the_only_search_is_away() -> None:  # T4
    made = registry(("mcp:brave", [BRAVE]))
    intent = ToolIntent(picked=("read", BRAVE.name))
    assert resolved(intent, made.snapshot).web_search.state == "on"
    made.set_down("mcp:brave", AWAY)
    chip = resolved(intent, made.snapshot).web_search
    assert (chip.state, chip.reason) == ("unavailable", AWAY)
    both = ToolIntent(picked=("web_search", BRAVE.name))
    assert resolved(both, made.snapshot).web_search.state == "on"


@pytest.mark.parametrize("mode", get_args(PermissionMode))
def test_the_modes_of_today_refuse_no_tool_outright(mode: PermissionMode) -> None:
    now = registry().snapshot
    assert [obstacle(tool, now, mode, refused_by_mode) for tool in BUILTIN] == [None] * len(BUILTIN)


def test_away_comes_before_refused() -> None:
    made = registry()
    made.set_down("builtin", "the disk is away")
    assert obstacle(BASH, made.snapshot, "ask", only_looks) == Obstacle("down", "the disk is away")
    assert obstacle(READ, registry().snapshot, "ask", only_looks) is None
