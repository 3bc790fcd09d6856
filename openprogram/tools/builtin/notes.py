"""Notes of a project: plain Markdown files in `.openprogram/memory` below the workspace, for people and models alike.

Whatever lies there counts, also what a person wrote by hand; only how much of it is taken in is bounded. Blocking: run
in a thread.
"""

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.files import explained, open_directory, open_file
from openprogram.tools.builtin.paths import Place, Roots, printable
from openprogram.tools.search.ranking import Ranking
from openprogram.tools.search.words import Words

FOLDER: Final = ".openprogram/memory"
ENDING: Final = ".md"
MAX_NOTE: Final = 65_536
"""Bytes of a note that a model may make, and of each one that are searched."""
MAX_NOTES: Final = 500
"""Notes that are looked at, by name."""

_NAME: Final = re.compile(r"[^\W_][\w-]{0,59}")
_HEADING: Final = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*")
_FENCE: Final = re.compile(r"\s*(```|~~~)")
_PASSAGE_LINES: Final = 40
_FIELDS: Final = {"note": 2.0, "heading": 2.0, "text": 1.0}


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a note under one heading; `line` is where it begins, counted from 1."""

    note: str
    heading: str
    line: int
    text: str

    @property
    def place(self) -> str:
        """Where it stands, as `path:line`."""
        return f"{FOLDER}/{printable(self.note)}{ENDING}:{self.line}"


def note_path(name: str) -> str:
    """The path of a note, relative to the workspace. Raises `ToolFailure` for what cannot be a note's name."""
    bare = unicodedata.normalize("NFC", name).removesuffix(ENDING)
    if not _NAME.fullmatch(bare):
        raise ToolFailure(f"{name[:80]!r} cannot name a note: take up to 60 letters, digits, `-` and `_`.")
    return f"{FOLDER}/{bare}{ENDING}"


def note_place(roots: Roots, name: str) -> Place:
    """Where the note is, or would be. A note whose name differs in upper and lower case only is the same one."""
    path = note_path(name)
    wanted = os.path.basename(path).casefold()
    same = next((known for known in note_names(roots) if f"{known}{ENDING}".casefold() == wanted), None)
    return roots.locate(path if same is None else f"{FOLDER}/{same}{ENDING}")


def note_names(roots: Roots) -> list[str]:
    """The names of all notes, sorted, as many as are looked at."""
    place = roots.locate(FOLDER)
    if not place.path.is_dir():
        return []
    with explained(place), open_directory(place) as folder:
        found = sorted(name for name in os.listdir(folder) if name.endswith(ENDING) and not name.startswith("."))
    return [name.removesuffix(ENDING) for name in found[:MAX_NOTES]]


def passages(roots: Roots) -> list[Passage]:
    """All notes in parts, in order; those that cannot be read are left out: a person may have put anything there."""
    found: list[Passage] = []
    for name in note_names(roots):
        text = _text(roots, name)
        if text is not None:
            found += _parts(name, text)
    return found


def best(found: list[Passage], query: str, limit: int) -> list[Passage]:
    """The passages that fit best, the best first."""
    words = Words()
    by_key = {f"{number:06}": passage for number, passage in enumerate(found)}
    documents = {
        key: {
            "note": words.terms(passage.note),
            "heading": words.terms(passage.heading),
            "text": words.terms(passage.text),
        }
        for key, passage in by_key.items()
    }
    return [by_key[key] for key in Ranking(documents, _FIELDS).rank(query, by_key.keys(), limit)]


def _text(roots: Roots, name: str) -> str | None:
    try:
        place = roots.locate(f"{FOLDER}/{name}{ENDING}")
        with explained(place), open_file(place) as stream:
            return stream.read(MAX_NOTE).decode("utf-8", "replace")
    except ToolFailure:
        return None


def _parts(note: str, text: str) -> Iterator[Passage]:
    """Split at headings, outside of code, and where a part grows long."""
    heading = ""
    kept: list[str] = []
    begun = 1
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= _FENCE.match(line) is not None
        title = None if fenced else _HEADING.fullmatch(line)
        if title is not None or (len(kept) >= _PASSAGE_LINES and not line.strip()):
            yield from _part(note, heading, begun, kept)
            kept, begun = [], number
            heading = title[1] if title is not None else heading
        if title is None:
            kept.append(line)
    yield from _part(note, heading, begun, kept)


def _part(note: str, heading: str, line: int, lines: list[str]) -> Iterator[Passage]:
    text = "\n".join(lines).strip("\n")
    if text.strip() or heading:
        yield Passage(note, heading, line, text)
