"""Reading unified diffs, with git's additions, as models write them: with counts that are often wrong. Pure."""

import re
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.patch import AddFile, DeleteFile, FilePatch, Hunk, Sign, UpdateFile, unreadable

_NOTHING: Final = "/dev/null"
_RANGES: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@.*")
_PAIR: Final = re.compile(r"--- (?:a/.*|/dev/null.*)\n\+\+\+ (?:b/.*|/dev/null.*)\n@@ .*")
"""Heads of a file where the counts of the hunk before it say that it goes on."""
_NO_NEWLINE: Final = "\\ "
_GIT: Final = "diff --git "
_IGNORED: Final = ("index ", "similarity index ", "dissimilarity index ", "new file mode ", "old mode ", "new mode ")
_STAMP: Final = re.compile(r"\t.*")
_SIGNS: Final[dict[str, Sign]] = {" ": " ", "-": "-", "+": "+"}


def parse_unified(lines: list[str]) -> tuple[FilePatch, ...]:
    """The files of a unified diff. Raises `ToolFailure` naming the line that cannot be understood."""
    reader = _Reader(lines)
    found: list[FilePatch] = []
    while reader.more():
        found.append(reader.file())
    return tuple(found)


class _Reader:
    """Reads lines one after the other; `_at` is the next one."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        while self._lines and not self._lines[-1]:
            self._lines = self._lines[:-1]
        self._at = 0

    def more(self) -> bool:
        while self._at < len(self._lines) and not self._lines[self._at].strip():
            self._at += 1
        return self._at < len(self._lines)

    def file(self) -> FilePatch:
        start = self._at + 1
        old, new, deleted = self._git()
        if self._at_pair():
            named = _name(self._peek()[4:], "a/"), _name(self._peek(1)[4:], "b/")
            if (old, new) in (named, ("", "")):
                old, new = named
                self._at += 2
        hunks: list[Hunk] = []
        while self._peek().startswith("@@"):
            hunks.append(self._hunk())
        if not old or not new or (self._at < len(self._lines) and not self._at_file()):
            raise unreadable(self._at + 1, f"expected `--- a` and `+++ b` with hunks, found {self._peek()[:80]!r}.")
        if new == _NOTHING or deleted:
            return DeleteFile(old)
        if old == _NOTHING:
            return AddFile(new, _text(hunks))
        if not hunks and old == new:
            raise unreadable(start, "a changed file has neither hunks nor a new name.")
        return UpdateFile(old, new if new != old else None, tuple(hunks))

    def _git(self) -> tuple[str, str, bool]:
        """What git's own lines say: the old and the new name, and whether the file is deleted."""
        old = new = ""
        deleted = False
        if not self._peek().startswith(_GIT):
            return old, new, deleted
        self._at += 1
        while self._at < len(self._lines):
            line = self._peek()
            if line.startswith("rename from "):
                old = line.removeprefix("rename from ").strip()
            elif line.startswith("rename to "):
                new = line.removeprefix("rename to ").strip()
            elif line.startswith("deleted file mode "):
                deleted = True
            elif line.startswith(("Binary files ", "GIT binary patch", "copy from ")):
                raise unreadable(self._at + 1, f"{line[:80]!r} cannot be applied here.")
            elif not line.startswith(_IGNORED):
                break
            self._at += 1
        return old, new, deleted

    def _hunk(self) -> Hunk:
        number = self._at + 1
        ranges = _RANGES.fullmatch(self._peek())
        left = {"-": int(ranges[2] or 1), "+": int(ranges[3] or 1)} if ranges is not None else {"-": 0, "+": 0}
        self._at += 1
        lines: list[tuple[Sign, str]] = []
        unended: set[Sign] = set()
        while self._at < len(self._lines) and not self._hunk_over(left):
            line = self._peek()
            self._at += 1
            if line.startswith(_NO_NEWLINE) and lines:
                unended.add(lines[-1][0])
                continue
            sign = _SIGNS.get(line[:1]) if line else " "
            if sign is None:
                raise unreadable(self._at, f"a line of a hunk begins with ` `, `-` or `+`, unlike {line[:80]!r}.")
            lines.append((sign, line[1:]))
            for side in ("-", "+"):
                left[side] -= sign in (" ", side)
        if not lines:
            raise unreadable(number, "a hunk has no lines.")
        last_newline = None if len(unended) != 1 or " " in unended else "-" in unended
        hint = int(ranges[1]) if ranges is not None else None
        return Hunk(tuple(lines), number, (), hint, bool(unended), last_newline)

    def _hunk_over(self, left: dict[str, int]) -> bool:
        """Whether another hunk or file begins. Counts decide about lines that look like a file's head, if they are
        right; a head that could hardly be anything else ends the hunk whatever they say."""
        if self._peek().startswith(("@@", _GIT)):
            return True
        if not self._at_pair():
            return False
        going_on = left["-"] > 0 and left["+"] > 0
        return not going_on or _PAIR.fullmatch("\n".join(self._peek(ahead) for ahead in range(3))) is not None

    def _at_file(self) -> bool:
        return self._peek().startswith(_GIT) or self._at_pair()

    def _at_pair(self) -> bool:
        return self._peek().startswith("--- ") and self._peek(1).startswith("+++ ")

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else ""


def _name(text: str, prefix: str) -> str:
    name = _STAMP.sub("", text).strip()
    if name.startswith('"'):
        raise ToolFailure(f"The patch quotes the name {name}: give it as it is. Nothing was changed.")
    return name if name == _NOTHING else name.removeprefix(prefix)


def _text(hunks: list[Hunk]) -> str:
    """The text of a new file."""
    lines = [text for hunk in hunks for sign, text in hunk.lines if sign == "+"]
    ended = not any(hunk.last_newline is False for hunk in hunks)
    return "\n".join(lines) + ("\n" if ended and lines else "")
