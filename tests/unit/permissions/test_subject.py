from dataclasses import replace
from pathlib import Path

import pytest

from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import CallPreview, ToolContext
from openprogram.permissions.subject import Subject, covers, subject
from tests.support.tools import BASH, READ, WRITE, spec

ROOTS = (Path("/ws"), Path("/extra"))


def about(arguments: JsonObject, tool=BASH) -> Subject:
    return subject(tool, arguments, ROOTS)


def test_a_command_is_about_exactly_itself() -> None:
    assert about({"command": "ls  -l\n"}) == Subject("command", "ls  -l\n")


def test_how_long_a_command_may_take_is_not_part_of_it_and_where_it_runs_is() -> None:
    plain = about({"command": "make", "timeout": 5, "background": False})
    elsewhere = about({"command": "make", "cwd": "/other", "env": {"B": "1", "A": "2"}})

    assert plain == about({"command": "make"})
    assert elsewhere.pattern == '&{"cwd":"/other","env":{"A":"2","B":"1"}} make'


def test_a_grant_for_a_command_does_not_cover_it_in_the_background() -> None:  # R17
    behind = about({"command": "make", "background": True})

    assert not covers(about({"command": "make"}).pattern, behind)
    assert not covers(behind.pattern, about({"command": "make", "background": False}))
    assert covers(behind.pattern, about({"command": "make", "background": True, "timeout": 9}))


@pytest.mark.parametrize(
    ("path", "where", "inside"),
    [
        ("a/b.py", "/ws/a/b.py", True),
        ("/ws/a", "/ws/a", True),
        ("/extra/x", "/extra/x", True),
        ("a/../b", "/ws/b", True),
        ("../other", "/other", False),
        ("/ws/../etc/passwd", "/etc/passwd", False),
        ("/wsx/a", "/wsx/a", False),
        ("/etc/passwd", "/etc/passwd", False),
    ],
)
def test_a_write_is_about_its_path(path: str, where: str, inside: bool) -> None:
    assert about({"path": path, "content": ""}, WRITE) == Subject("paths", where, inside)


def test_a_write_of_several_paths_is_about_all_of_them() -> None:
    move = spec("move", permission="write", writes=("source", "target"))

    assert about({"source": "a", "target": "b"}, move) == Subject("paths", "/ws/a\n/ws/b", inside=True)
    assert about({"source": "a", "target": "/etc/b"}, move) == Subject("paths", "/ws/a\n/etc/b", inside=False)


def test_a_link_is_the_place_that_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "link").symlink_to(tmp_path)
    found = subject(WRITE, {"path": "link/x"}, (tmp_path / "ws",), lambda path: str(Path(path).resolve()))

    assert found == Subject("paths", str(tmp_path / "x"), inside=False)


@pytest.mark.parametrize("tool", [READ, spec("patch", permission="write"), spec("run", permission="execute")])
def test_any_other_call_is_about_the_tool(tool) -> None:
    assert about({"patch": "..."}, tool) == Subject("tool", "*")


@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", "sub/.GIT/config", "sub/.openprogram/project.toml", ".OpenProgram", ".git"]
)
def test_what_git_runs_and_what_steers_a_chat_below_is_told_apart(path: str) -> None:  # R17, law 6
    assert about({"path": path}, WRITE).steers
    assert not covers("**", about({"path": path}, WRITE))


def test_the_projects_folder_is_known_by_its_name_where_it_is_a_link(tmp_path: Path) -> None:  # R18
    (tmp_path / "cfg").mkdir()
    (tmp_path / ".openprogram").symlink_to("cfg")
    resolve = lambda path: str(Path(path).resolve())  # noqa: E731
    assert subject(WRITE, {"path": ".openprogram/project.toml"}, (tmp_path,), resolve).steers


async def _shown(arguments: JsonObject, context: ToolContext) -> CallPreview:
    raise AssertionError("nobody looks")


def test_a_call_that_shows_what_it_would_do_is_allowed_for_itself_only() -> None:  # R17
    tool = replace(spec("send", permission="write"), preview=_shown)
    assert about({"text": "hello"}, tool).pattern == ""
    assert not covers("", about({"text": "hello"}, tool))
    assert not covers("*", about({"text": "hello"}, tool))


@pytest.mark.parametrize(
    "arguments", [{"command": 5}, {"command": " \n"}, {"command": None}, {"command": "ls", "cwd": "\ud800"}]
)
def test_a_command_that_cannot_be_told_is_an_error(arguments: JsonObject) -> None:
    with pytest.raises(ValueError, match="command"):
        about(arguments)


@pytest.mark.parametrize("path", ["", "a\0b", "a\nb", "~/x", "~root/x", 5, None, ["a"]])
def test_a_path_that_cannot_be_told_is_an_error(path) -> None:
    with pytest.raises(ValueError, match="path"):
        about({"path": path}, WRITE)


@pytest.mark.parametrize(
    "other",
    ["ls && rm -rf x", "ls; rm", "ls\nrm", "ls ", " ls", "ls -l", "l", "LS", "ls\u200b", "$(ls)", "ls|sh", "ls #"],
)
def test_a_grant_for_one_command_covers_no_other(other: str) -> None:  # R17
    assert covers("ls", about({"command": "ls"}))
    assert not covers("ls", about({"command": other}))
    assert not covers("ls", about({"command": "ls", "cwd": "/"}))


@pytest.mark.parametrize("pattern", ["", "*", "**", "ls*", "l?", ".*"])
def test_a_pattern_is_no_glob(pattern: str) -> None:
    assert not covers(pattern, about({"command": "ls"}))
    assert not covers(pattern.replace("**", "*"), about({"path": "ls"}, WRITE))


def test_a_workspace_wide_grant_covers_paths_inside_only() -> None:
    assert covers("**", about({"path": "a"}, WRITE))
    assert not covers("**", about({"path": "../a"}, WRITE))
    assert covers("/ws/a", about({"path": "./a"}, WRITE))
    assert not covers("/ws/a", about({"path": "a/b"}, WRITE))
