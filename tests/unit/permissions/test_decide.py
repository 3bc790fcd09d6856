from pathlib import Path
from typing import get_args

import pytest

from openprogram.core.events import PermissionMode
from openprogram.core.jsonio import JsonObject
from openprogram.core.storage import ANYWHERE, Grant
from openprogram.core.tooling import ToolSpec
from openprogram.permissions.decide import Decision, decide
from openprogram.permissions.subject import holds_in
from tests.support.tools import BASH, FETCH, READ, SEARCH, WRITE, spec

PATCH = spec("apply_patch", permission="write")
INSIDE: JsonObject = {"path": "a.py", "content": "x"}
OUTSIDE: JsonObject = {"path": "/etc/passwd", "content": "x"}
LS: JsonObject = {"command": "ls"}


def granted(tool: str, pattern: str, directory: str | None = "/ws") -> Grant:
    return Grant(tool, pattern, directory)


def decided(mode: PermissionMode, tool: ToolSpec, arguments: JsonObject, *grants: Grant) -> Decision:
    return decide(mode, grants, tool, arguments, (Path("/ws"),))


@pytest.mark.parametrize(
    ("tool", "arguments", "ask", "accept_edits", "auto"),
    [
        (READ, {}, "allow", "allow", "allow"),
        (FETCH, {}, "allow", "allow", "allow"),
        (SEARCH, {}, "allow", "allow", "allow"),
        (WRITE, INSIDE, "ask", "allow", "allow"),
        (WRITE, OUTSIDE, "ask", "ask", "allow"),
        (PATCH, {}, "ask", "ask", "allow"),
        (BASH, LS, "ask", "ask", "allow"),
        (BASH, {"command": 5}, "ask", "ask", "ask"),
        (WRITE, {"path": "a\0"}, "ask", "ask", "ask"),
    ],
)
def test_modes(tool: ToolSpec, arguments: JsonObject, ask: str, accept_edits: str, auto: str) -> None:  # R17
    modes = get_args(PermissionMode)
    assert [decided(mode, tool, arguments).outcome for mode in modes] == [ask, accept_edits, auto]
    assert all(decided(mode, tool, arguments).reason for mode in modes)


def test_what_is_granted_for_the_chat_does_not_ask_again() -> None:
    asked = decided("ask", BASH, LS)

    assert asked == Decision("ask", "runs in /ws", "ls")
    assert decided("ask", BASH, LS, granted("bash", asked.pattern)).outcome == "allow"


def test_a_grant_never_covers_more_than_was_shown() -> None:  # R17
    assert decided("ask", BASH, {"command": "ls && rm -rf x"}, granted("bash", "ls")).outcome == "ask"
    assert decided("ask", WRITE, OUTSIDE, granted("write", "**"), granted("write", "/ws/a.py")).outcome == "ask"
    assert decided("ask", WRITE, INSIDE, granted("edit", "/ws/a.py")).outcome == "ask"
    assert decided("ask", PATCH, {}, granted("apply_patch", "**")).outcome == "ask"
    assert decided("ask", PATCH, {}, granted("apply_patch", "*")).outcome == "allow"


@pytest.mark.parametrize("directory", ["/ws2", "/", "/ws/", ANYWHERE, None])
def test_a_grant_covers_nothing_in_another_directory(directory: str | None) -> None:  # R17, law 6
    for tool, call, pattern in ((BASH, LS, "ls"), (WRITE, INSIDE, "**"), (WRITE, INSIDE, "/ws/a.py"), (PATCH, {}, "*")):
        assert decided("ask", tool, call, granted(tool.name, pattern)).outcome == "allow"
        assert decided("ask", tool, call, granted(tool.name, pattern, directory)).outcome == "ask"


def test_only_what_touches_no_directory_is_granted_anywhere() -> None:
    assert [holds_in(tool, Path("/ws")) for tool in (BASH, WRITE, PATCH)] == ["/ws"] * 3
    assert [holds_in(tool, Path("/ws")) for tool in (FETCH, SEARCH)] == [ANYWHERE] * 2


@pytest.mark.parametrize(
    "path", [".openprogram/project.toml", "a/../.openprogram/project.toml", ".OpenProgram/Project.toml", ".openprogram"]
)
def test_what_steers_a_project_asks_even_where_edits_are_accepted(path: str) -> None:  # R17, law 6
    call: JsonObject = {"path": path, "content": "[tools]"}
    asked = decided("accept_edits", WRITE, call, granted("write", "**"))

    assert (asked.outcome, asked.reason) == ("ask", "changes what chats may do here, or what git runs")
    assert decided("ask", WRITE, call, granted("write", asked.pattern)).outcome == "allow"


def test_only_the_projects_own_settings_ask() -> None:
    for path in (".openprogram/memory/plan.md", "project.toml", "openprogram", ".gitignore", "a.git/x"):
        assert decided("accept_edits", WRITE, {"path": path, "content": ""}).outcome == "allow"


def test_what_cannot_be_told_cannot_be_granted() -> None:
    decision = decided(
        "auto", BASH, {"command": ["ls"]}, granted("bash", ""), granted("bash", "*"), granted("bash", "**")
    )

    assert (decision.outcome, decision.pattern) == ("ask", "")


def test_a_disk_that_cannot_be_read_asks() -> None:
    def broken(path: str) -> str:
        raise PermissionError(13, "not allowed", path)

    assert decide("accept_edits", (), WRITE, INSIDE, (Path("/ws"),), broken).outcome == "ask"


def test_a_mode_from_a_newer_version_asks() -> None:
    newer: PermissionMode = "bypass"  # type: ignore[assignment]

    assert decided(newer, BASH, LS).outcome == "ask"
    assert decided(newer, WRITE, INSIDE).outcome == "ask"
