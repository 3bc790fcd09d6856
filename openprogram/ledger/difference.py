"""Where a request first differs from the one before it at the same endpoint (spec cache.md C18). Pure.

What comes behind the end of the request before is no difference: a request that goes on has none. Tools, system and
messages are compared each with its own kind, in the order in which they stand in the prompt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from openprogram.ledger.body import SECTIONS, Section

_CHUNK: Final = 4096
EXCERPT: Final = 80
"""Bytes that are shown on each side of the first one that differs."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A request by the digests of its segments."""

    tools: tuple[str, ...]
    system: tuple[str, ...]
    messages: tuple[str, ...]
    settings: str = ""

    def section(self, name: Section) -> tuple[str, ...]:
        """The digests of one kind."""
        match name:
            case "tools":
                return self.tools
            case "system":
                return self.system
            case "messages":
                return self.messages

    @property
    def digests(self) -> tuple[str, ...]:
        """The whole prefix in its order."""
        return self.tools + self.system + self.messages


@dataclass(frozen=True, slots=True)
class Place:
    """The first segment that differs: what stood there before, and what stands there now. None: nothing."""

    section: Section
    index: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The text around the first byte that differs, before and after; `room` characters of it are the same."""

    byte: int
    before: str
    after: str
    room: int


def first_place(before: Outline, after: Outline) -> Place | None:
    """The first segment that differs, or None where everything that was sent before stands again."""
    for section in SECTIONS:
        old, new = before.section(section), after.section(section)
        index = _common(old, new)
        ended = index == len(old) if section == "messages" else index == len(old) == len(new)
        shortened = section == "messages" and index == len(new)
        if not ended and not shortened:
            return Place(section, index, _at(old, index), _at(new, index))
    return None


def first_byte(before: bytes, after: bytes) -> int | None:
    """The first place at which two texts differ, the shorter one's end included; None where they are equal."""
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start : start + _CHUNK] == after[start : start + _CHUNK]:
        start += _CHUNK
    for place in range(start, min(shorter, start + _CHUNK)):
        if before[place] != after[place]:
            return place
    return None if len(before) == len(after) else shorter


def excerpt(place: Place, segments: Mapping[str, bytes]) -> Excerpt:
    """The first byte that differs, with its surroundings. What is not in `segments` any more is empty."""
    before, after = (segments.get(digest or "", b"") for digest in (place.before, place.after))
    byte = first_byte(before, after) or 0
    same = before[max(0, byte - EXCERPT) : byte].decode("utf-8", "ignore")
    return Excerpt(byte, _around(before, byte), _around(after, byte), len(same))


def _around(data: bytes, byte: int) -> str:
    return data[max(0, byte - EXCERPT) : byte + EXCERPT].decode("utf-8", "ignore")


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    pairs = zip(old, new, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new)))


def _at(digests: Sequence[str], index: int) -> str | None:
    return digests[index] if index < len(digests) else None
