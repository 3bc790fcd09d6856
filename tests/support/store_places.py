"""Where the conformance suite keeps its stores: places that can be opened, closed and opened again."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from openprogram.core.clock import Clock
from openprogram.core.ports import Store
from openprogram.store.sqlite import SqliteStore
from tests.support.memory_store import MemoryState, MemoryStore
from tests.support.store_values import HandClock


class Place(Protocol):
    """A durable place for one store's data."""

    async def open(self, clock: Clock) -> Store:
        """Open what is there; a new place is empty."""
        ...


@dataclass(frozen=True)
class SqlitePlace:
    """A database file."""

    path: Path

    async def open(self, clock: Clock) -> Store:
        return await SqliteStore.open(self.path, clock)


@dataclass(frozen=True)
class MemoryPlace:
    """The state that a memory store leaves behind."""

    state: MemoryState = field(default_factory=MemoryState)

    async def open(self, clock: Clock) -> Store:
        return MemoryStore(self.state, clock)


NewPlace = Callable[[], Place]

PLACES: Mapping[str, Callable[[Path], Place]] = MappingProxyType(
    {"sqlite": lambda folder: SqlitePlace(folder / "openprogram.db"), "memory": lambda _: MemoryPlace()}
)
"""Every implementation that must pass: how to make a new place in an empty directory."""


@asynccontextmanager
async def opened(place: Place, clock: Clock | None = None) -> AsyncIterator[Store]:
    """The store at a place, closed at the end."""
    store = await place.open(clock or HandClock())
    try:
        yield store
    finally:
        await store.aclose()
