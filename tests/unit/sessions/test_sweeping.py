"""The sweep goes on whatever the disk says."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from openprogram.sessions import sweeping
from openprogram.sessions.hub import Hub
from tests.support.memory_store import MemoryState, MemoryStore

NOW = 2_000_000_000.0


async def test_each_sweep_tidies_and_a_disk_that_refuses_does_not_end_it(monkeypatch: Any) -> None:
    monkeypatch.setattr(sweeping, "_EVERY_S", 0.0)
    tidied = asyncio.Queue[int]()

    async def tidy() -> None:
        tidied.put_nowait(1)
        if tidied.qsize() == 1:
            raise OSError("the disk is read-only")

    ports = SimpleNamespace(clock=lambda: NOW, store=MemoryStore(MemoryState(), lambda: NOW), tidy=tidy)
    sweeper = asyncio.create_task(sweeping.sweep_for_ever(cast(Hub, SimpleNamespace(ports=ports))))
    for _ in range(3):
        await tidied.get()
    sweeper.cancel()
    await asyncio.wait({sweeper})
    assert sweeper.cancelled()
