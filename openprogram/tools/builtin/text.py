"""Text files as lines: encodings, line ends, binary files, lines that are too long. Blocking: run in a thread."""

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from openprogram.core.errors import ToolFailure

MAX_LINE: Final = 2_000
"""Characters of one line that are shown."""

_PROBE: Final = 8_192
_SKIP: Final = 65_536
_COUNTED: Final = 2_000_000
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Page:
    """A window of numbered lines.

    `first` is the number of the first; `total` is None where the file is too long to be counted. `more` says that
    lines follow; `cut` that at least one line was cut; `doubtful` that bytes could not be decoded.
    """

    lines: tuple[str, ...]
    first: int
    total: int | None
    more: bool
    cut: bool
    doubtful: bool

    @property
    def last(self) -> int:
        """The number of the last line shown."""
        return self.first + len(self.lines) - 1


def encoding_of(head: bytes) -> str | None:
    """The encoding that the first bytes of a file name; None for a binary file."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    return None if b"\0" in head else "utf-8"


def read_page(stream: BinaryIO, shown: str, *, first: int, limit: int, budget: int) -> Page:
    """Up to `limit` lines from number `first`, whole lines within `budget` characters (at least one).

    Raises `ToolFailure` for a binary file.
    """
    head = stream.read(_PROBE)
    encoding = encoding_of(head)
    if encoding is None:
        raise ToolFailure(f"{shown} is a binary file; it cannot be shown as text.")
    stream.seek(0)
    text = io.TextIOWrapper(stream, encoding, errors="replace", newline="\n")
    try:
        return _page(_lines(text), first, limit, budget)
    except UnicodeError as error:
        raise ToolFailure(f"{shown} is not proper {encoding} text.") from error
    finally:
        text.detach()


def _page(lines: Iterator[tuple[str, bool]], first: int, limit: int, budget: int) -> Page:
    kept: list[str] = []
    cut = more = False
    used = number = 0
    for number, (line, was_cut) in enumerate(lines, 1):
        if number < first:
            continue
        used += len(line) + 8
        if more or len(kept) == limit or (kept and used > budget):
            more = True
            if number >= _COUNTED:
                return _finished(kept, first, None, more=True, cut=cut)
            continue
        kept.append(line)
        cut = cut or was_cut
    return _finished(kept, first, number, more=more, cut=cut)


def _finished(kept: list[str], first: int, total: int | None, *, more: bool, cut: bool) -> Page:
    doubtful = any("\ufffd" in line for line in kept)
    return Page(tuple(kept), first, total, more=more, cut=cut, doubtful=doubtful)


def _lines(text: io.TextIOWrapper) -> Iterator[tuple[str, bool]]:
    """Lines without their ends, each cut at `MAX_LINE`; a line of any length takes bounded memory."""
    while piece := text.readline(MAX_LINE + 2):
        if piece.endswith("\n"):
            line = piece[:-1].removesuffix("\r")
        else:
            line = piece
            while piece and not piece.endswith("\n"):
                piece = text.readline(_SKIP)
        yield line[:MAX_LINE], len(line) > MAX_LINE
