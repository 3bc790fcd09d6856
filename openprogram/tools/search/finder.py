"""Ranks the tools of a registry snapshot; its index is made when it is first asked for, off the event loop."""

import asyncio
from collections import OrderedDict
from collections.abc import Collection
from typing import Final

from openprogram.core.jsonio import digest
from openprogram.core.tooling import Snapshot
from openprogram.tools.search.index import Index

_KEPT: Final = 4
"""Indexes kept: of the newest registry, and of those that running turns have frozen."""


class Finder:
    """Belongs to one event loop. Snapshots that say the same of their tools share an index."""

    def __init__(self) -> None:
        self._indexes: OrderedDict[str, Index] = OrderedDict()
        self._making = asyncio.Lock()
        self._last: tuple[Snapshot, str] | None = None

    async def rank(self, snapshot: Snapshot, query: str, among: Collection[str], limit: int) -> tuple[str, ...]:
        """The names of the tools that fit best, among those named and at most so many, the best first."""
        return (await self._index(snapshot)).rank(query, among, limit)

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
