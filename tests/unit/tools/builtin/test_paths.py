"""No path leaves the workspace and its extra directories (R15)."""

import os
from pathlib import Path

import pytest

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.paths import Roots, printable
from tests.support.tool_calls import Caller


@pytest.fixture
def workspace(tmp_path):
    inside = tmp_path / "ws"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "ws-sibling").mkdir()
    return inside


def roots(workspace: Path, *extra: Path) -> Roots:
    return Roots.of(Caller(workspace, tuple(extra)).context())


def refused(found: Roots, path: str) -> str:
    with pytest.raises(ToolFailure) as caught:
        found.locate(path)
    return caught.value.message


@pytest.mark.parametrize("path", ["a.txt", "./a.txt", "sub/../a.txt", "sub//..//a.txt", "a.txt/"])
def test_ways_to_write_a_path_inside(workspace, path):
    (workspace / "sub").mkdir()
    place = roots(workspace).locate(path)
    assert (place.path, place.shown) == (workspace / "a.txt", "a.txt")


def test_an_absolute_path_inside_is_inside(workspace):
    assert roots(workspace).locate(str(workspace / "x")).shown == "x"
    assert roots(workspace).locate(str(workspace)).shown == "."


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../secret.txt",
        "sub/../../secret.txt",
        "/etc/passwd",
        "../ws-sibling/x",
        "../ws/../secret.txt",
        "/proc/self/root/etc/passwd",
    ],
)
def test_a_path_that_leads_outside_is_refused(workspace, path):
    assert "outside" in refused(roots(workspace), path)


def test_a_name_that_only_begins_like_the_workspace_is_outside(workspace):
    assert "outside" in refused(roots(workspace), f"{workspace}-sibling/x")


def test_links_count_where_they_lead(workspace):
    (workspace / "file").symlink_to(workspace.parent / "secret.txt")
    (workspace / "folder").symlink_to(workspace.parent)
    (workspace / "dangling").symlink_to("/nowhere/at/all")
    (workspace / "inner").symlink_to("sub")
    found = roots(workspace)
    for path in ("file", "folder/secret.txt", "folder", "dangling", "dangling/x", "inner/../../secret.txt"):
        assert "outside" in refused(found, path)
    assert found.locate("inner/x").path == workspace / "sub" / "x"


@pytest.mark.parametrize(
    "path", ["\u2024\u2024/secret.txt", "\uff0e\uff0e/secret.txt", "..\u2215secret.txt", "%2e%2e/x"]
)
def test_letters_that_look_like_dots_and_slashes_are_letters(workspace, path):
    assert roots(workspace).locate(path).path.is_relative_to(workspace)


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800"])
def test_what_cannot_be_a_path_is_refused(workspace, path):
    assert refused(roots(workspace), path)


def test_a_tilde_is_not_expanded_and_says_so(workspace):
    assert "not expanded" in refused(roots(workspace), "~/x")


def test_extra_directories_are_inside_and_shown_whole(workspace):
    extra = workspace.parent / "extra"
    extra.mkdir()
    place = roots(workspace, extra).locate(str(extra / "x"))
    assert (place.root, place.shown) == (extra, str(extra / "x"))
    assert "outside" in refused(roots(workspace, extra), str(extra / ".." / "secret.txt"))


def test_a_workspace_that_is_a_link_is_what_it_leads_to(workspace):
    link = workspace.parent / "link"
    link.symlink_to(workspace)
    assert roots(link).locate("a").path == workspace / "a"
    assert roots(link).locate(str(workspace / "a")).shown == "a"


def test_a_workspace_that_is_gone_is_told(tmp_path):
    with pytest.raises(ToolFailure, match="is not there"):
        roots(tmp_path / "gone")


def test_names_are_printable_whatever_their_bytes():
    assert printable(os.fsdecode(b"a\xffb\nc\rd")) == "a\ufffdb\\nc\\rd"
