"""Several files changed together: all of it or nothing, also where the process is killed (`change_journal`).

Everything that can fail for want of room or rights is done first, beside the files: new contents are written and old
ones kept under temporary names. What is left are renames, and when one of them fails those before it are taken back.
Blocking: run in a thread.
"""

import os
import secrets
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.change_journal import Entry, Journal, entry
from openprogram.tools.builtin.files import explained, open_directory, read_whole
from openprogram.tools.builtin.paths import Place

_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one path: `before` and `after` are whole contents, None where there is no file.

    `mode` are permission bits for a file that is new; None leaves them to the system.
    """

    place: Place
    before: bytes | None
    after: bytes | None
    mode: int | None = None


@dataclass(slots=True)
class _Staged:
    """A change with what lies ready for it: the new content, and the old one to go back to. `names` are theirs."""

    change: Change
    names: tuple[str, str] = field(default_factory=lambda: (_temporary(), _temporary()))
    fresh: str | None = None
    kept: str | None = None
    folders: list[Place] = field(default_factory=list)
    done: bool = False


def apply_changes(changes: Sequence[Change], journals: Path | None = None) -> None:
    """Make all the changes. `journals` is where it is noted down for the case that the process is killed.

    Raises `ToolFailure` where one cannot be made or a file is no longer what `before` says; then every file is as it
    was.
    """
    staged: list[_Staged] = []
    planned = [_Staged(change) for change in changes]
    journal = Journal(journals, [_entry(each) for each in planned])
    journal.begin()
    finished = False
    try:
        for each in planned:
            staged.append(each)
            with explained(each.change.place):
                _stage(each)
        for each in staged:
            with explained(each.change.place):
                _commit(each)
        journal.through()
        finished = True
    finally:
        _tidy(staged, _forget if finished else _take_back)
        journal.close()


def _tidy(staged: Sequence[_Staged], tidy: Callable[[_Staged], None]) -> None:
    """Do it for each, the last first, whatever happens with the others. Raises `ToolFailure` for what is left over."""
    stuck: list[str] = []
    for each in reversed(staged):
        try:
            with explained(each.change.place):
                tidy(each)
        except ToolFailure as failure:
            stuck.append(failure.message)
    if stuck:
        raise ToolFailure("Files may be half changed, look at them before going on: " + " ".join(stuck))


def content_of(place: Place) -> bytes | None:
    """The whole content of a file, None where there is none. Raises `ToolFailure` for what is no file."""
    try:
        with explained(place):
            return read_whole(place)
    except ToolFailure as failure:
        if isinstance(failure.__cause__, FileNotFoundError):
            return None
        raise


def mode_of(place: Place) -> int:
    """The permission bits of the file at `place`."""
    with explained(place), open_directory(_folder(place)) as parent:
        return stat.S_IMODE(os.stat(place.path.name, dir_fd=parent, follow_symlinks=False).st_mode)


def _stage(staged: _Staged) -> None:
    """Keep the old content under a second name and write the new one beside it. The file itself is not touched."""
    change = staged.change
    _make_folders(staged)
    if content_of(change.place) != change.before:
        raise ToolFailure(f"{change.place.shown} was changed by something else just now; look at it again.")
    with open_directory(_folder(change.place)) as parent:
        name = change.place.path.name
        before = None
        if change.before is not None:
            before = os.stat(name, dir_fd=parent, follow_symlinks=False)
            staged.kept = staged.names[1]
        if change.after is None:
            return
        staged.fresh = staged.names[0]
        descriptor = os.open(staged.fresh, _CREATE, 0o666, dir_fd=parent)
        with open(descriptor, "wb") as stream:
            if before is not None:
                if os.geteuid() == 0:
                    os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
            elif change.mode is not None:
                os.fchmod(descriptor, change.mode)
            stream.write(change.after)
            stream.flush()
            os.fsync(descriptor)


def _commit(staged: _Staged) -> None:
    with open_directory(_folder(staged.change.place)) as parent:
        name = staged.change.place.path.name
        if staged.kept is not None:
            _keep(name, staged.kept, parent, move=staged.fresh is None)
        elif _is_there(name, parent):
            raise ToolFailure(f"{staged.change.place.shown} appeared just now; look at it first.")
        staged.done = True
        if staged.fresh is not None:
            os.replace(staged.fresh, name, src_dir_fd=parent, dst_dir_fd=parent)
            staged.fresh = None


def _keep(name: str, kept: str, parent: int, *, move: bool) -> None:
    """The old content under another name; by a second link where it can be, so that the file is never missing."""
    if not move:
        try:
            os.link(name, kept, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
        except OSError:
            move = True  # a file system without hard links; what else is wrong shows now
    if move:
        os.rename(name, kept, src_dir_fd=parent, dst_dir_fd=parent)


def _take_back(staged: _Staged) -> None:
    """The file as it was, and nothing left beside it."""
    folder = _folder(staged.change.place)
    if folder.path.is_dir():
        with open_directory(folder) as parent:
            name = staged.change.place.path.name
            if staged.fresh is not None and _is_there(staged.fresh, parent):
                os.unlink(staged.fresh, dir_fd=parent)
            if staged.done and staged.kept is not None:
                os.replace(staged.kept, name, src_dir_fd=parent, dst_dir_fd=parent)
                if _is_there(staged.kept, parent):  # a second link to the same file, which a rename leaves alone
                    os.unlink(staged.kept, dir_fd=parent)
            elif staged.done and staged.fresh is None:
                os.unlink(name, dir_fd=parent)
    for made in reversed(staged.folders):
        if made.path.is_dir() and not any(made.path.iterdir()):
            made.path.rmdir()


def _forget(staged: _Staged) -> None:
    """What was kept to go back to is no longer needed."""
    if staged.kept is not None:
        with open_directory(_folder(staged.change.place)) as parent:
            os.unlink(staged.kept, dir_fd=parent)


def _entry(staged: _Staged) -> Entry:
    change = staged.change
    above = change.place.path.relative_to(change.place.root).parents
    folders = [change.place.root / folder for folder in reversed(above) if not (change.place.root / folder).exists()]
    return entry(change.place, *staged.names, (change.before, change.after), folders)


def _make_folders(staged: _Staged) -> None:
    """Make the folders that a new file lacks, and remember which."""
    place = staged.change.place
    if staged.change.after is None:
        return
    below = place.root
    for name in place.parts[:-1]:
        below = below / name
        if not below.exists():
            staged.folders.append(Place(place.root, below, str(below)))
    with open_directory(_folder(place), create=True):
        return


def _is_there(name: str, parent: int) -> bool:
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _temporary() -> str:
    return f".{secrets.token_hex(8)}.tmp"


def _folder(place: Place) -> Place:
    return Place(place.root, place.path.parent, place.shown)
