"""Applying hunks to a text: each where its lines stand, or a failure that says what stands there instead. Pure.

Lines match exactly, else but for spaces at their ends, else but for typographic variants of quotes, dashes and spaces,
which models tend to even out. Indentation always counts. A hunk that fits in several places is refused unless what it
says of its place decides.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.editing import closest
from openprogram.tools.builtin.patch import Hunk

_SHOWN: Final = 6
_WIDTH: Final = 160
_SEARCHED: Final = 20_000
_COMPARED: Final = 40
"""Bounds on looking for what comes closest: lines of the file, lines of the hunk."""

_MARK: Final = "\ufeff"
"""Byte order mark. `read` does not show it, so hunks are written without it; it stays where it is."""

_TYPOGRAPHIC: Final = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\u3000", " ")
)


def _exact(line: str) -> str:
    return line


def _plain(line: str) -> str:
    return line.translate(_TYPOGRAPHIC).rstrip()


_KEYS: Final[tuple[Callable[[str], str], ...]] = (_exact, str.rstrip, _plain)


@dataclass(frozen=True, slots=True)
class _Text:
    """Lines without their ends; `crlf` if all of them end in CRLF, `ended` if the last one ends at all."""

    lines: list[str]
    crlf: bool
    ended: bool

    @classmethod
    def of(cls, text: str) -> "_Text":
        lines = text.split("\n")
        ended = not lines[-1]
        if ended:
            lines.pop()
        inner = lines if ended else lines[:-1]
        crlf = bool(inner) and all(line.endswith("\r") for line in inner)
        return cls([line.removesuffix("\r") if crlf else line for line in lines], crlf, ended)

    def joined(self, lines: Sequence[str], ended: bool) -> str:
        """Other lines as a text with these ends. (A last line that is empty is one by its end only.)"""
        end = "\r\n" if self.crlf else "\n"
        return end.join(lines) + (end if lines and (ended or not lines[-1]) else "")


def patched(path: str, text: str, hunks: Sequence[Hunk]) -> str:
    """`text` with the hunks applied, in their order. Line ends and a byte order mark stay what they are in the file.

    Raises `ToolFailure` for the first hunk that has no place or no single one.
    """
    mark = _MARK if text.startswith(_MARK) else ""
    before = _Text.of(text.removeprefix(mark))
    after: list[str] = []
    done = 0
    ended = before.ended
    for count, hunk in enumerate(hunks, 1):
        where = f"Hunk {count} of {len(hunks)} for {path} (line {hunk.number} of the patch)"
        start = _place(where, before.lines, hunk, done)
        after += before.lines[done:start]
        done = start
        for sign, line in hunk.lines:
            if sign == "+":
                after.append(line.removesuffix("\r") if before.crlf else line)
                continue
            if sign == " ":
                after.append(before.lines[done])
            done += 1
        ended = ended if hunk.last_newline is None else hunk.last_newline
    return mark + before.joined([*after, *before.lines[done:]], ended).removeprefix(mark)


def _place(where: str, lines: list[str], hunk: Hunk, done: int) -> int:
    """The index of the line at which the hunk begins."""
    start, several = _below_heads(where, lines, hunk, done)
    if not hunk.old:
        return _insertion(where, lines, hunk, start, several)
    places = _matches(lines, hunk.old, start)
    if hunk.at_end:
        last = [place for place in places if place + len(hunk.old) == len(lines)]
        places = last if last or hunk.last_newline is not None else places
    match places:
        case []:
            raise _missing(where, lines, hunk, done)
        case [only]:
            return only
        case [first, *_] if hunk.heads and not several:
            return first
        case _ if hunk.hint is not None:
            hint = hunk.hint - 1
            return min(places, key=lambda place: (abs(place - hint), place))
        case _:
            numbers = ", ".join(str(place + 1) for place in places[:_SHOWN])
            raise ToolFailure(
                f"{where} fits {len(places)} places (lines {numbers}). Give it more lines of context, or an `@@` line "
                "that stands only before the one you mean. Nothing was changed."
            )


def _below_heads(where: str, lines: list[str], hunk: Hunk, done: int) -> tuple[int, bool]:
    """The line after the heads, and whether another place than the first would have them too."""
    at, several = done, False
    for head in hunk.heads:
        hits = _matches(lines, [head], at) or [i for i in range(at, len(lines)) if lines[i].strip() == head.strip()]
        if not hits:
            hint = closest("\n".join(lines), head)
            raise ToolFailure(
                f"{where}: no line of the file {'from there on ' if done else ''}is `{head[:_WIDTH]}`, which its "
                f"`@@` names. Nothing was changed.{hint}"
            )
        several = several or len(hits) > 1
        at = hits[0] + 1
    return at, several


def _insertion(where: str, lines: list[str], hunk: Hunk, start: int, several: bool) -> int:
    """Where lines go that are only added."""
    if hunk.heads and not several:
        return start
    if hunk.at_end or not lines:
        return len(lines)
    if hunk.hint is not None and start <= hunk.hint <= len(lines) and not hunk.heads:
        return hunk.hint
    raise ToolFailure(
        f"{where} only adds lines and does not say where: give it lines of context, or an `@@` line that is unique in "
        "the file. Nothing was changed."
    )


def _matches(lines: list[str], wanted: list[str], start: int) -> list[int]:
    """All indexes from `start` on at which the lines stand, by the strictest comparison that finds any."""
    for key in _KEYS:
        have, want = [key(line) for line in lines], [key(line.removeprefix(_MARK)) for line in wanted]
        places = [
            at
            for at in range(start, len(have) - len(want) + 1)
            if have[at] == want[0] and have[at : at + len(want)] == want
        ]
        if places:
            return places
    return []


def _missing(where: str, lines: list[str], hunk: Hunk, done: int) -> ToolFailure:
    """What is said of a hunk whose lines are not there."""
    if earlier := _matches(lines, hunk.old, 0):
        return ToolFailure(
            f"{where} stands at line {earlier[0] + 1}, which is before or inside the hunk before it or its `@@` line. "
            "Put hunks in the order of the file. Nothing was changed."
        )
    return ToolFailure(f"{where} does not match the file. Nothing was changed.{_nearest(lines, hunk.old)}")


def _nearest(lines: list[str], old: list[str]) -> str:
    """The place where most of the hunk's lines stand, and the first line that differs there."""
    want = [line.strip() for line in old[:_COMPARED]]
    have = [line.strip() for line in lines[:_SEARCHED]]
    filled = [(offset, line) for offset, line in enumerate(want) if line]
    scores: dict[int, int] = {}
    numbers: dict[str, list[int]] = {}
    for number, line in enumerate(have):
        numbers.setdefault(line, []).append(number)
    for offset, line in filled:
        for number in numbers.get(line, ())[:_SEARCHED]:
            if number >= offset:
                scores[number - offset] = scores.get(number - offset, 0) + 1
    if not scores:
        return closest("\n".join(lines), "\n".join(old))
    best = min(scores, key=lambda at: (-scores[at], at))
    for offset, line in enumerate(old):
        actual = lines[best + offset] if best + offset < len(lines) else None
        if actual is None:
            return f" The file ends at line {len(lines)}, before `{line[:_WIDTH]}`."
        if _plain(actual) != _plain(line):
            return (
                f" Closest is line {best + 1}, but line {best + offset + 1} is\n{actual[:_WIDTH]}\n"
                f"where the hunk has\n{line[:_WIDTH]}"
            )
    return ""
