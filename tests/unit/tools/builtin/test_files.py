"""Files are opened without following links, and replaced at once or not at all (R15)."""

import os
import stat
import threading
from pathlib import Path

import pytest

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.files import (
    MAX_EDITED,
    explained,
    open_directory,
    open_file,
    read_whole,
    replace_file,
)
from openprogram.tools.builtin.paths import Place


def place(root: Path, *parts: str) -> Place:
    return Place(root, root.joinpath(*parts), "/".join(parts) or ".")


def test_a_link_put_there_after_the_path_was_checked_is_not_followed(tmp_path):
    root, outside = tmp_path / "ws", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "f").write_text("secret")
    for link, target in ((root / "f", outside / "f"), (root / "dir", outside)):
        link.symlink_to(target)
    for parts in (("f",), ("dir", "f")):
        with pytest.raises(ToolFailure), explained(place(root, *parts)), open_file(place(root, *parts)):
            pass
    with pytest.raises(ToolFailure), explained(place(root, "dir", "g")):
        replace_file(place(root, "dir", "g"), b"x")
    with pytest.raises(ToolFailure, match="not a regular file"):
        replace_file(place(root, "f"), b"x")
    assert [path.name for path in outside.iterdir()] == ["f"]
    assert (outside / "f").read_text() == "secret"


def test_pipes_and_devices_are_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ToolFailure, match="not a regular file"), open_file(place(tmp_path, "pipe")):
        pass
    with pytest.raises(ToolFailure, match="not a regular file"):
        replace_file(place(tmp_path, "pipe"), b"x")


def test_replacing_keeps_the_mode_and_makes_parents(tmp_path):
    target = tmp_path / "a" / "b" / "f.sh"
    replace_file(place(tmp_path, "a", "b", "f.sh"), b"one")
    assert target.read_bytes() == b"one"
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~_umask()
    target.chmod(0o751)
    replace_file(place(tmp_path, "a", "b", "f.sh"), b"two")
    assert target.read_bytes() == b"two"
    assert stat.S_IMODE(target.stat().st_mode) == 0o751
    assert [path.name for path in target.parent.iterdir()] == ["f.sh"]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_hard_link_elsewhere_keeps_the_old_content(tmp_path):
    (tmp_path / "a").write_text("old")
    os.link(tmp_path / "a", tmp_path / "b")
    replace_file(place(tmp_path, "a"), b"new")
    assert (tmp_path / "b").read_text() == "old"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")

    def refuse(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(ToolFailure, match="No space left"), explained(place(tmp_path, "a")):
        replace_file(place(tmp_path, "a"), b"new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "old")]


def test_readers_see_the_old_file_or_the_new_one(tmp_path):
    target = place(tmp_path, "f")
    sizes = (10, 2_000_000)
    replace_file(target, b"x" * sizes[0])
    done = threading.Event()

    def writer() -> None:
        for _ in range(20):
            for size in sizes:
                replace_file(target, b"x" * size)
        done.set()

    thread = threading.Thread(target=writer)
    thread.start()
    seen = set()
    while not done.is_set():
        seen.add(len(read_whole(target)))
    thread.join()
    assert seen <= set(sizes)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("missing",), "does not exist"),
        (("folder",), "is a directory"),
        ((), "is a directory"),
        (("file", "below"), "not a directory"),
        (("loop",), "link"),
        (("x" * 300,), "too long"),
    ],
)
def test_what_the_system_refuses_is_told_in_words(tmp_path, parts, message):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    target = place(tmp_path, *parts)
    with pytest.raises(ToolFailure, match=message), explained(target):
        read_whole(target)


def test_a_file_too_large_to_hold_is_refused(tmp_path):
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(MAX_EDITED + 1)
    with pytest.raises(ToolFailure, match="larger than"):
        read_whole(place(tmp_path, "large"))


def test_no_descriptor_is_left_open(tmp_path):
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        replace_file(place(tmp_path, "a", "b"), b"x")
        read_whole(place(tmp_path, "a", "b"))
        with open_directory(place(tmp_path, "a")):
            pass
        with pytest.raises(FileNotFoundError):
            read_whole(place(tmp_path, "a", "missing"))
    assert len(os.listdir("/dev/fd")) == before
