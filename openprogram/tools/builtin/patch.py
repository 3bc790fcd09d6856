"""Patches as values, and reading the two forms in which models send them. Pure.

The first form is the one that models are trained on:

    *** Begin Patch
    *** Update File: src/app.py
    *** Move to: src/main.py
    @@ def greet():
     context
    -old
    +new
    *** Add File: src/new.py
    +line
    *** Delete File: src/old.py
    *** End Patch

The other is a unified diff (`patch_unified`).
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from openprogram.core.errors import ToolFailure

Sign = Literal[" ", "-", "+"]

BEGIN: Final = "*** Begin Patch"
END: Final = "*** End Patch"
_ADD: Final = "*** Add File: "
_UPDATE: Final = "*** Update File: "
_DELETE: Final = "*** Delete File: "
_MOVE: Final = "*** Move to: "
_END_OF_FILE: Final = "*** End of File"
_RANGES: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@.*")
_SIGNS: Final[dict[str, Sign]] = {" ": " ", "-": "-", "+": "+"}


@dataclass(frozen=True, slots=True)
class Hunk:
    """One stretch that changes. `heads` are lines that stand somewhere before it, outermost first.

    `hint` is the line of the old file, counted from 1, at which it claims to begin; `at_end` that it ends with the
    file; `last_newline` what becomes of the line end of the file's last line (None: it stays as it is). `number` is the
    hunk's line in the patch.
    """

    lines: tuple[tuple[Sign, str], ...]
    number: int
    heads: tuple[str, ...] = ()
    hint: int | None = None
    at_end: bool = False
    last_newline: bool | None = None

    @property
    def old(self) -> list[str]:
        """The lines that have to be there."""
        return [text for sign, text in self.lines if sign != "+"]


@dataclass(frozen=True, slots=True)
class AddFile:
    """A file that does not exist yet, with its whole text."""

    path: str
    text: str
    type: Literal["add"] = "add"


@dataclass(frozen=True, slots=True)
class DeleteFile:
    """A file that goes."""

    path: str
    type: Literal["delete"] = "delete"


@dataclass(frozen=True, slots=True)
class UpdateFile:
    """A file that changes, moves or both; hunks in the order of the file."""

    path: str
    move_to: str | None
    hunks: tuple[Hunk, ...]
    type: Literal["update"] = "update"


FilePatch = AddFile | DeleteFile | UpdateFile


def is_marked(lines: list[str]) -> bool:
    """Whether these lines are a patch of the first form."""
    first = next((line for line in lines if line.strip()), "")
    return first.startswith("*** ")


def parse_marked(lines: list[str]) -> tuple[FilePatch, ...]:
    """The files of a patch of the first form. Raises `ToolFailure` naming the line that cannot be understood."""
    return _Reader(lines).files()


def unreadable(number: int, text: str) -> ToolFailure:
    """The failure for a line of the patch."""
    return ToolFailure(f"The patch cannot be understood at its line {number}: {text} Nothing was changed.")


class _Reader:
    """Reads lines one after the other; `_at` is the next one."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def files(self) -> tuple[FilePatch, ...]:
        self._blank()
        if self._peek().rstrip() == BEGIN:
            self._at += 1
        found: list[FilePatch] = []
        while True:
            self._blank()
            if self._at == len(self._lines):
                raise ToolFailure(f"The patch does not end with `{END}`: it was cut off. Nothing was changed.")
            if self._peek().rstrip() == END:
                self._at += 1
                self._nothing_follows()
                return tuple(found)
            found.append(self._file())

    def _file(self) -> FilePatch:
        line = self._peek()
        self._at += 1
        if line.startswith(_ADD):
            return AddFile(line.removeprefix(_ADD).strip(), self._added())
        if line.startswith(_DELETE):
            return DeleteFile(line.removeprefix(_DELETE).strip())
        if not line.startswith(_UPDATE):
            raise unreadable(self._at, f"expected `{_UPDATE}`, `{_ADD}`, `{_DELETE}` or `{END}`, found {line[:80]!r}.")
        move_to = None
        if self._peek().startswith(_MOVE):
            move_to = self._peek().removeprefix(_MOVE).strip()
            self._at += 1
        hunks = self._hunks()
        if not hunks and move_to is None:
            raise unreadable(self._at, "an updated file has neither hunks nor a new name.")
        return UpdateFile(line.removeprefix(_UPDATE).strip(), move_to, hunks)

    def _added(self) -> str:
        texts: list[str] = []
        while self._peek().startswith("+"):
            texts.append(f"{self._peek()[1:]}\n")
            self._at += 1
        self._blank()
        if self._at < len(self._lines) and not self._peek().startswith("*** "):
            raise unreadable(self._at + 1, f"each line of an added file begins with `+`, not {self._peek()[:80]!r}.")
        return "".join(texts)

    def _hunks(self) -> tuple[Hunk, ...]:
        hunks: list[Hunk] = []
        while self._at < len(self._lines) and not self._at_mark():
            hunks.append(self._hunk())
        return tuple(hunk for hunk in hunks if hunk.lines)

    def _hunk(self) -> Hunk:
        number = self._at + 1
        heads, hint = self._heads()
        lines: list[tuple[Sign, str]] = []
        blank = 0
        while self._at < len(self._lines) and not self._at_mark() and not self._peek().startswith("@@"):
            line = self._peek()
            self._at += 1
            sign = _SIGNS.get(line[:1]) if line else " "
            if sign is None:
                raise unreadable(self._at, f"a line begins with ` `, `-`, `+` or `@@`, unlike {line[:80]!r}.")
            lines.append((sign, line[1:]))
            blank = 0 if line else blank + 1
        at_end = self._peek().rstrip() == _END_OF_FILE
        if at_end:
            self._at += 1
        elif self._peek() == "" or self._at_mark():
            del lines[len(lines) - blank :]  # between two files they are no lines of either
            if not lines and heads:
                raise unreadable(number, "a hunk has no lines.")
        return Hunk(tuple(lines), number, heads, hint, at_end)

    def _heads(self) -> tuple[tuple[str, ...], int | None]:
        heads: list[str] = []
        hint = None
        while self._peek().startswith("@@"):
            line = self._peek().rstrip()
            if (ranges := _RANGES.fullmatch(line)) is not None:
                hint = int(ranges[1])
            elif head := line[2:].removeprefix(" ").removesuffix(" @@"):
                heads.append(head)
            self._at += 1
        return tuple(heads), hint

    def _at_mark(self) -> bool:
        return self._peek().startswith("*** ")

    def _peek(self) -> str:
        return self._lines[self._at] if self._at < len(self._lines) else ""

    def _blank(self) -> None:
        while self._at < len(self._lines) and not self._lines[self._at].strip():
            self._at += 1

    def _nothing_follows(self) -> None:
        self._blank()
        if self._at < len(self._lines):
            raise unreadable(self._at + 1, f"something follows `{END}`.")
