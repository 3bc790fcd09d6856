"""Permissions never fail open, whatever the call, the grants and the mode (spec trust.md R17)."""

import os
from pathlib import Path
from typing import get_args

from hypothesis import example, given
from hypothesis import strategies as st

from openprogram.core.events import PermissionMode
from openprogram.core.jsonio import JsonObject
from openprogram.core.storage import Grant
from openprogram.core.tooling import ToolSpec
from openprogram.permissions.decide import decide
from tests.support.tools import BASH, WRITE, spec

ROOTS = (Path("/ws"), Path("/extra"))
PATCH = spec("apply_patch", permission="write")
MOVE = spec("move", permission="write", writes=("path", "cwd"))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
paths = st.lists(st.sampled_from(("..", ".", "a", "b", "/", "~", "ws", "extra", "")), max_size=5).map("/".join)
texts = st.sampled_from(("ls", "ls ", "*", "**", "", "rm -rf x")) | st.text(max_size=8) | paths
arguments = st.dictionaries(
    st.sampled_from(("command", "path", "cwd", "content", "timeout", "background")), texts | json_values, max_size=4
)
tools = st.sampled_from((BASH, WRITE, PATCH, MOVE))
grants = st.lists(
    st.builds(
        Grant,
        tool=st.sampled_from(("bash", "write", "apply_patch", "move", "read", "*")),
        pattern=texts,
        directory=st.sampled_from(("/ws", "/extra", "", None)),
    ),
    max_size=3,
)
modes: st.SearchStrategy[PermissionMode] = st.sampled_from(get_args(PermissionMode))


@given(modes, grants, tools, arguments)
@example("ask", [], BASH, {"command": "ls", "cwd": 2**70})
@example("auto", [], BASH, {"command": "ls", "cwd": "\ud800"})
def test_no_call_raises_and_none_is_allowed_without_a_stated_reason(
    mode: PermissionMode, granted: list[Grant], tool: ToolSpec, call: JsonObject
) -> None:
    decision = decide(mode, granted, tool, call, ROOTS)

    if decision.outcome == "allow" and mode != "auto":
        by_grant = any(decide("ask", [grant], tool, call, ROOTS).outcome == "allow" for grant in granted)
        by_mode = mode == "accept_edits" and bool(tool.writes) and all(map(lies_inside, written(tool, call)))
        assert by_grant or by_mode
    assert decision.reason


def written(tool: ToolSpec, call: JsonObject) -> list[object]:
    assert isinstance(tool.writes, tuple)
    return [call[name] for name in tool.writes]


def lies_inside(path: object) -> bool:
    where = os.path.normpath(os.path.join("/ws", str(path)))
    return any(where == str(root) or where.startswith(f"{root}/") for root in ROOTS)


@given(grants, tools, arguments)
def test_in_ask_mode_only_a_grant_of_the_same_tool_subject_and_directory_allows(
    granted: list[Grant], tool: ToolSpec, call: JsonObject
) -> None:
    decision = decide("ask", granted, tool, call, ROOTS)

    same = [grant for grant in granted if (grant.tool, grant.directory) == (tool.name, "/ws")]
    exact = any(grant.pattern == decide("ask", (), tool, call, ROOTS).pattern != "" for grant in same)
    wide = bool(tool.writes) and any(grant.pattern == "**" for grant in same)
    if decision.outcome == "allow":
        assert exact or (wide and all(map(lies_inside, written(tool, call))))
    assert not exact or decision.outcome == "allow"


@given(st.text(min_size=1, max_size=20), st.text(max_size=20), modes)
def test_a_grant_for_one_command_allows_no_other(command: str, other: str, mode: PermissionMode) -> None:
    pattern = decide("ask", (), BASH, {"command": command}, ROOTS).pattern
    for longer in (other, f"{command} {other}", f"{command}&&{other}", f"{command};{other}", f"{command}\n{other}"):
        decision = decide(mode, [Grant("bash", pattern, "/ws")], BASH, {"command": longer}, ROOTS)
        assert decision.outcome == "ask" or mode == "auto" or longer == command


@given(arguments, arguments)
@example({"command": "ls", "background": True}, {"command": '&{"background":true} ls'})
@example({"command": "ls", "background": True}, {"command": 'ls {"background":true}'})
def test_two_commands_with_one_pattern_do_the_same(one: JsonObject, other: JsonObject) -> None:
    patterns = [decide("ask", (), BASH, call, ROOTS).pattern for call in (one, other)]
    if patterns[0] == patterns[1] != "" and "command" in one and "command" in other:
        assert done(one) == done(other)


def done(call: JsonObject) -> JsonObject:
    """What a call of the shell does, without what is only a limit."""
    return {key: value for key, value in call.items() if key != "timeout" and (key, value) != ("background", False)}


@given(grants, tools, arguments)
def test_a_mode_never_allows_less_than_a_stricter_one(granted: list[Grant], tool: ToolSpec, call: JsonObject) -> None:
    allowed = [decide(mode, granted, tool, call, ROOTS).outcome == "allow" for mode in get_args(PermissionMode)]

    assert allowed == sorted(allowed)


@given(paths)
def test_accepted_edits_stay_inside(path: str) -> None:
    if decide("accept_edits", (), WRITE, {"path": path}, ROOTS).outcome == "allow":
        assert lies_inside(path)
