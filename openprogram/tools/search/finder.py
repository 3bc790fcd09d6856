"""Ranks the tools of a registry snapshot; its index is made when it is first asked for, off the event loop."""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Protocol

from openprogram.core.jsonio import digest
from openprogram.core.tooling import Snapshot
from openprogram.tools.search.index import Index

_KEPT: Final = 4
"""Indexes kept: of the newest registry, and of those that running turns have frozen."""
_CANDIDATES: Final = 50
"""Of each stage, so many are fused."""
_RANK_0: Final = 60
"""Reciprocal rank fusion's constant: how little it matters to be first (Cormack, Clarke and Buettcher 2009)."""


class Stage(Protocol):
    """A second opinion on which tools fit a query."""

    async def rank(self, snapshot: Snapshot, query: str, among: Collection[str], limit: int) -> tuple[str, ...]:
        """The names that fit best, the best first."""
        ...


class Finder:
    """Belongs to one event loop. Snapshots that say the same of their tools share an index.

    `second` is fused with the words' ranking by reciprocal rank; None: words alone decide.
    """

    def __init__(self, second: Stage | None = None) -> None:
        self._second = second
        self._indexes: OrderedDict[str, Index] = OrderedDict()
        self._making = asyncio.Lock()
        self._last: tuple[Snapshot, str] | None = None

    async def rank(self, snapshot: Snapshot, query: str, among: Collection[str], limit: int) -> tuple[str, ...]:
        """The names of the tools that fit best, among those named and at most so many, the best first."""
        index = await self._index(snapshot)
        if self._second is None:
            return index.rank(query, among, limit)
        by_words = index.rank(query, among, _CANDIDATES)
        by_meaning = await self._second.rank(snapshot, query, among, _CANDIDATES)
        return fused((by_words, by_meaning))[:limit]

    async def _index(self, snapshot: Snapshot) -> Index:
        key = self._digest(snapshot)
        async with self._making:
            if key not in self._indexes:
                self._indexes[key] = await asyncio.to_thread(Index, snapshot.tools, snapshot.about)
            self._indexes.move_to_end(key)
            while len(self._indexes) > _KEPT:
                self._indexes.popitem(last=False)
            return self._indexes[key]

    def _digest(self, snapshot: Snapshot) -> str:
        if self._last is None or self._last[0] is not snapshot:
            told = [[tool.declaration, tool.source] for tool in snapshot.tools]
            self._last = (snapshot, digest([told, dict(snapshot.about)]))
        return self._last[1]


def fused(rankings: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Several rankings as one: a name counts by the reciprocal of its rank in each."""
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, name in enumerate(ranking, 1):
            scores[name] += 1 / (_RANK_0 + rank)
    return tuple(sorted(scores, key=lambda name: (-scores[name], name)))
