"""Replacing one stretch of text by another, exactly; and, where it is not there, saying what comes closest. Pure."""

import difflib
from typing import Final

from openprogram.core.errors import ToolFailure

_SEARCHED: Final = 5_000
"""Lines among which the closest are looked for."""

_SHOWN: Final = 3
_WIDTH: Final = 160
_SIMILAR: Final = 0.6


def replaced(text: str, old: str, new: str, *, every: bool) -> str:
    """`text` with `old` replaced by `new`: its only occurrence, or all of them if `every`.

    In a file with CRLF line ends, an `old` written with LF alone matches too, and what is put in gets CRLF. Raises
    `ToolFailure` where nothing would change, nothing matches, or it is not clear which occurrence is meant.
    """
    if not old:
        raise ToolFailure("The text to be replaced is empty: give the exact text as it stands in the file.")
    if old == new:
        raise ToolFailure("The old and the new text are the same: nothing would change.")
    if old not in text and "\r\n" in text:
        old, new = _crlf(old), _crlf(new)
    first = text.find(old)
    if first < 0:
        raise ToolFailure(f"The text to be replaced is not in the file.{closest(text, old)}")
    if not every and text.find(old, first + 1) >= 0:  # also where it overlaps itself
        raise ToolFailure(
            f"The text to be replaced occurs {max(2, text.count(old))} times (lines {_places(text, old)}). Give more "
            "of what surrounds it so that it is unique, or replace all of them."
        )
    return text.replace(old, new)


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _places(text: str, old: str) -> str:
    lines: list[str] = []
    at = text.find(old)
    while at >= 0 and len(lines) < _SHOWN + 2:
        lines.append(str(text.count("\n", 0, at) + 1))
        at = text.find(old, at + 1)
    return ", ".join(lines) + (", ..." if at >= 0 else "")


def closest(text: str, old: str) -> str:
    """A hint: the same text with other white space, or the lines most like its first line."""
    lines = text.split("\n")[:_SEARCHED]
    wanted = [line.strip() for line in old.strip("\r\n").split("\n")]
    bare = [line.strip() for line in lines]
    for number in range(len(bare) - len(wanted) + 1):
        if wanted[0] == bare[number] and wanted == bare[number : number + len(wanted)]:
            return f" The same text with other indentation or trailing spaces starts at line {number + 1}:\n" + _quoted(
                lines, number, len(wanted)
            )
    probe = next((line for line in wanted if line), "")[:_WIDTH]
    if not probe:
        return ""
    near = difflib.get_close_matches(probe, dict.fromkeys(line[:_WIDTH] for line in bare), _SHOWN, _SIMILAR)
    if not near:
        return ""
    numbers = sorted(next(i for i, line in enumerate(bare) if line[:_WIDTH] == match) for match in near)
    return " Closest lines:\n" + "\n".join(_quoted(lines, number, 1) for number in numbers)


def _quoted(lines: list[str], start: int, count: int) -> str:
    shown = lines[start : start + min(count, _SHOWN)]
    return "\n".join(f"{start + i + 1}\t{line.rstrip()[:_WIDTH]}" for i, line in enumerate(shown))
