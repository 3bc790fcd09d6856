"""What a patch would do to the files that are there now. Reads and changes nothing. Blocking: run in a thread."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.changes import Change, content_of, mode_of
from openprogram.tools.builtin.files import MAX_EDITED
from openprogram.tools.builtin.patch import AddFile, DeleteFile, FilePatch, UpdateFile
from openprogram.tools.builtin.patching import patched
from openprogram.tools.builtin.paths import Place, Roots


@dataclass(frozen=True, slots=True)
class FileState:
    """One path between the first and the last section that names it. `came_from` is the place it was moved from."""

    place: Place
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    came_from: Place | None = None


def plan(roots: Roots, sections: Sequence[FilePatch]) -> tuple[FileState, ...]:
    """The states of all paths that the patch touches, in the order in which it first names them.

    A later section sees what an earlier one did. Raises `ToolFailure` for the first section that cannot be applied.
    """
    planner = _Planner(roots)
    for section in sections:
        match section:
            case AddFile():
                planner.add(section)
            case DeleteFile():
                planner.delete(section)
            case UpdateFile():
                planner.update(section)
            case _:
                assert_never(section)
    return tuple(planner.states.values())


def changes_of(states: Sequence[FileState]) -> list[Change]:
    """The changes to be made, those that take files away last: what dies in between then leaves too much."""
    changes = [
        Change(state.place, state.before, state.after, state.mode) for state in states if state.before != state.after
    ]
    return sorted(changes, key=lambda change: change.after is None)


class _Planner:
    """The paths named so far, by where they really are."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self.states: dict[Path, FileState] = {}

    def add(self, section: AddFile) -> None:
        self._new(section.path, section.text.encode(), None, None)

    def delete(self, section: DeleteFile) -> None:
        state = self._existing(section.path)
        self._not_a_link(section.path)
        self._put(replace(state, after=None))

    def update(self, section: UpdateFile) -> None:
        state = self._existing(section.path)
        assert state.after is not None
        try:
            text = state.after.decode()
        except UnicodeDecodeError as error:
            if section.hunks:
                raise _nothing_done(f"{state.place.shown} is not UTF-8 text; it cannot be patched.") from error
            text = ""
        data = patched(state.place.shown, text, section.hunks).encode() if section.hunks else state.after
        if len(data) > MAX_EDITED:
            raise _nothing_done(f"{state.place.shown} would become larger than {MAX_EDITED:,} bytes.")
        if section.move_to is None or self._roots.locate(section.move_to).path == state.place.path:
            self._put(replace(state, after=data))
            return
        self._not_a_link(section.path)
        mode = state.mode if state.before is None else mode_of(state.place)
        self._new(section.move_to, data, mode, state.came_from or state.place)
        self._put(replace(state, after=None, came_from=None))

    def _new(self, path: str, data: bytes, mode: int | None, came_from: Place | None) -> None:
        state = self._state(path)
        if state.after is not None:
            raise _nothing_done(f"{state.place.shown} exists already: update it, or delete it first.")
        if os.path.lexists(state.place.path) and state.before is None:
            raise _nothing_done(f"{state.place.shown} exists already.")
        self._put(replace(state, after=data, mode=mode, came_from=came_from))

    def _existing(self, path: str) -> FileState:
        state = self._state(path)
        if state.after is None:
            gone = " any more after an earlier section of the patch" if state.before is not None else ""
            raise _nothing_done(f"{state.place.shown} does not exist{gone}.")
        return state

    def _state(self, path: str) -> FileState:
        place = self._roots.locate(path)
        known = self.states.get(place.path)
        if known is not None:
            return known
        content = content_of(place)
        return FileState(place, content, content)

    def _put(self, state: FileState) -> None:
        self.states[state.place.path] = state

    def _not_a_link(self, path: str) -> None:
        """A path is made real before anything else, so that this would take the link's target away instead of it."""
        if (self._roots.workspace / path).is_symlink():
            raise _nothing_done(f"{path} is a link; name the file that it leads to.")


def _nothing_done(text: str) -> ToolFailure:
    return ToolFailure(f"{text} Nothing was changed.")
