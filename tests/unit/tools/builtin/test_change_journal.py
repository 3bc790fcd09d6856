"""A server that is killed while it changes several files leaves, after the next start, all of it or nothing (R1)."""

import subprocess
import sys
from pathlib import Path

import pytest

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.change_journal import recover
from openprogram.tools.builtin.changes import Change, apply_changes
from openprogram.tools.builtin.paths import Place
from tests.support.tool_calls import contents

# Each step is a call that changes a name on the disk. For each one a process is forked that is killed just before it.
CHILD = """
import os, signal, sys
from itertools import count
from pathlib import Path
from openprogram.tools.builtin.changes import Change, apply_changes
from openprogram.tools.builtin.paths import Place

base, links = Path(sys.argv[1]), sys.argv[2] == "links"
step = taken = 0

def counted(function):
    def call(*arguments, **options):
        global taken
        if taken == step:
            os.kill(os.getpid(), signal.SIGKILL)
        taken += 1
        return function(*arguments, **options)
    return call

def refused(*arguments, **options):
    raise PermissionError(1, "Operation not permitted")

def run(root, journals):
    for name in ("replace", "rename", "link", "unlink", "mkdir"):
        setattr(os, name, counted(getattr(os, name)))
    if not links:
        os.link = refused
    place = lambda name: Place(root, root / name, name)
    apply_changes(
        [
            Change(place("x/y/added"), None, b"new"),
            Change(place("changed"), b"old", b"new"),
            Change(place("gone"), b"here", None),
            Change(place("other"), b"old", b"new"),
        ],
        journals,
    )

for step in count():
    root = base / f"ws{step}"
    root.mkdir()
    for name, text in (("changed", "old"), ("gone", "here"), ("other", "old")):
        (root / name).write_text(text)
    child = os.fork()
    if child == 0:
        run(root, base / f"changes{step}")
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
print(step)
"""


def killed_at_each_step(base: Path, links: str) -> int:
    """In how many steps it was killed: `ws0` with `changes0` below `base` is what the first one left, and so on."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(base), links], check=True, capture_output=True, text=True, cwd=Path.cwd()
    )
    return int(done.stdout)


def texts(root: Path) -> dict[str, bytes | str]:
    return {name: data if isinstance(data, str) else data[0] for name, data in contents(root).items()}


OLD: dict[str, bytes | str] = {"changed": b"old", "gone": b"here", "other": b"old"}
NEW: dict[str, bytes | str] = {"changed": b"new", "other": b"new", "x": "folder", "x/y": "folder", "x/y/added": b"new"}


@pytest.mark.parametrize("links", ["links", "no links"])
def test_a_kill_at_any_step_leaves_all_or_nothing_after_the_next_start(tmp_path: Path, links: str) -> None:  # R1
    outcomes = []
    half = 0
    for step in range(killed_at_each_step(tmp_path, links)):
        root, journals = tmp_path / f"ws{step}", tmp_path / f"changes{step}"
        half += texts(root) not in (OLD, NEW)
        recover(journals)
        assert texts(root) in (OLD, NEW)
        outcomes.append(texts(root) == NEW)
        assert not journals.exists() or list(journals.iterdir()) == []
    assert outcomes == sorted(outcomes)  # nothing, until a moment from which on it is all
    assert set(outcomes) == {False, True}
    assert half > 3


def test_what_was_changed_after_the_crash_is_not_overwritten(tmp_path: Path) -> None:
    steps = range(killed_at_each_step(tmp_path, "links"))
    step = next(step for step in steps if (tmp_path / f"ws{step}/changed").read_text() == "new")
    root, journals = tmp_path / f"ws{step}", tmp_path / f"changes{step}"
    (root / "changed").write_text("by hand")
    assert recover(journals) == 1
    assert (root / "changed").read_text() == "by hand"
    assert (root / "other").read_text() == "old"
    assert not (root / "x").exists()


def test_a_journal_that_cannot_be_read_stays_and_harms_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.begun").write_text("[{")
    assert recover(tmp_path) == 1
    assert (tmp_path / "a.begun").exists()
    assert recover(tmp_path / "none") == 0


def test_without_a_place_for_the_journal_nothing_is_changed(tmp_path: Path) -> None:
    file = tmp_path / "changed"
    file.write_text("old")
    (tmp_path / "changes").write_text("a file")
    with pytest.raises(ToolFailure, match="cannot be noted down"):
        apply_changes([Change(Place(tmp_path, file, "changed"), b"old", b"new")], tmp_path / "changes")
    assert file.read_text() == "old"
