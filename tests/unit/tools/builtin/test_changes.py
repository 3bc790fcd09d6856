"""Several files change together or not at all, also when the system refuses in the middle."""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.changes import Change, apply_changes
from openprogram.tools.builtin.paths import Place


def place(root: Path, name: str) -> Place:
    return Place(root, root / name, name)


@pytest.fixture
def three(tmp_path: Path) -> list[Change]:
    """A file that is added two folders deep, one that changes, one that goes."""
    (tmp_path / "changed").write_bytes(b"old")
    (tmp_path / "gone").write_bytes(b"here")
    return [
        Change(place(tmp_path, "x/y/added"), None, b"new"),
        Change(place(tmp_path, "changed"), b"old", b"new"),
        Change(place(tmp_path, "gone"), b"here", None),
    ]


def names(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


def test_all_are_made_and_nothing_else_is_left(three, tmp_path):
    apply_changes(three)
    assert names(tmp_path) == ["changed", "x", "x/y", "x/y/added"]
    assert (tmp_path / "changed").read_bytes() == (tmp_path / "x/y/added").read_bytes() == b"new"


@pytest.mark.parametrize(
    ("links", "step"), [(True, 0), (True, 1), (True, 2), (False, 0), (False, 1), (False, 2), (False, 3)]
)
def test_a_refusal_at_any_step_takes_everything_back(three, tmp_path, monkeypatch, links, step):
    """The renames of the commit, each failing in turn, on a file system with and without hard links."""
    renames = count()

    def failing(function: Callable[..., None]) -> Callable[..., None]:
        def call(source: str, target: str, **options: int) -> None:
            if next(renames) == step:
                raise OSError(28, "No space left on device")
            function(source, target, **options)

        return call

    def no_link(*arguments: object, **options: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "replace", failing(os.replace))
    monkeypatch.setattr(os, "rename", failing(os.rename))
    if not links:
        monkeypatch.setattr(os, "link", no_link)
    with pytest.raises(ToolFailure, match="No space left on device"):
        apply_changes(three)
    assert names(tmp_path) == ["changed", "gone"]
    assert (tmp_path / "changed").read_bytes() == b"old"
    assert (tmp_path / "gone").read_bytes() == b"here"


def test_what_cannot_be_taken_back_is_said(three, tmp_path, monkeypatch):
    replace = os.replace

    def broken(source: str, target: str, **options: int) -> None:
        if target == "changed":
            raise OSError(5, "Input/output error")
        replace(source, target, **options)

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(ToolFailure, match=r"may be half changed.* changed: Input/output error"):
        apply_changes(three)
    assert (tmp_path / "changed").read_bytes() == b"old"
    assert not (tmp_path / "x").exists()


def test_a_file_that_another_changed_meanwhile_is_not_overwritten(three, tmp_path):
    (tmp_path / "gone").write_bytes(b"other")
    with pytest.raises(ToolFailure, match="gone was changed by something else"):
        apply_changes(three)
    assert names(tmp_path) == ["changed", "gone"]
    assert (tmp_path / "changed").read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_to_stops_all(three, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    with pytest.raises(ToolFailure, match="Permission denied"):
        apply_changes([*three, Change(place(tmp_path, "locked/f"), None, b"x")])
    assert (tmp_path / "changed").read_bytes() == b"old"
