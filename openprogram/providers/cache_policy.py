"""Where the cache breakpoints of an Anthropic request stand (spec cache.md C15). Pure.

A breakpoint makes the API write a cache entry for everything up to it, and look for one up to 20 blocks before it. Four
are allowed. Ours: the last tool, the last system block, the place where the previous request's newest one stood (so
that reading never depends on the lookback, even after a step with 25 parallel calls), and the newest message. A change
of the tools at the end of the history is the newest message.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

MAX_BREAKPOINTS: Final = 4


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """A content block of the request: its turn and its place there, the message it comes from, and whether the API
    takes a breakpoint on it (not on thinking, not on empty text)."""

    turn: int
    index: int
    source: int
    role: str
    markable: bool


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """Places that get a `cache_control` mark; None where there is nothing to mark."""

    tool: int | None
    system: int | None
    blocks: tuple[tuple[int, int], ...]
    """`(turn, index)` of content blocks, in order."""

    @property
    def count(self) -> int:
        """How many marks that makes."""
        return (self.tool is not None) + (self.system is not None) + len(self.blocks)


def breakpoints(tools: int, system: int, places: Sequence[BlockPlace], previous_length: int) -> Breakpoints:
    """Choose at most four breakpoints.

    `tools` and `system` count the declared tools and system blocks. `previous_length` is how many messages of the
    history the previous request held; 0 where that is not known, as after a restart: then the previous request is taken
    to have ended where the newest answer begins.
    """
    newest = _last(reversed(places))
    blocks = [] if newest is None else [newest]
    previous = _last(_before(places, previous_length))
    if previous is not None and previous != newest:
        blocks.insert(0, previous)
    return Breakpoints(
        tool=tools - 1 if tools else None,
        system=system - 1 if system else None,
        blocks=tuple((place.turn, place.index) for place in blocks),
    )


def _last(backwards: Iterator[BlockPlace]) -> BlockPlace | None:
    return next((place for place in backwards if place.markable and place.role != "assistant"), None)


def _before(places: Sequence[BlockPlace], previous_length: int) -> Iterator[BlockPlace]:
    """Backwards from the end of the previous request."""
    if previous_length:
        return (place for place in reversed(places) if place.source < previous_length)
    answers = [place.turn for place in places if place.role == "assistant"]
    newest_answer = answers[-1] if answers else 0
    return (place for place in reversed(places) if place.turn < newest_answer)
