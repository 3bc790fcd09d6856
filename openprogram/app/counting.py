"""Keeps the token counts of all registered tools known, from a process that runs only when there is something new."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

from openprogram.context.catalog import counted_texts
from openprogram.core.jsonio import encode
from openprogram.core.tooling import Snapshot
from openprogram.tokens.counts import TokenCounts
from openprogram.tools.registry import Registry


@asynccontextmanager
async def counting(registry: Registry, tokens: TokenCounts) -> AsyncIterator[None]:
    """Count what is registered now and what comes later, beside everything else."""
    changed = asyncio.Event()
    changed.set()

    async def follow() -> None:
        while True:
            await changed.wait()
            changed.clear()
            await tokens.learn(_texts(registry.snapshot))

    unsubscribe = registry.subscribe(lambda _snapshot: changed.set())
    following = asyncio.create_task(follow(), name="count tokens")
    try:
        yield
    finally:
        unsubscribe()
        following.cancel()
        await asyncio.wait({following})


def _texts(snapshot: Snapshot) -> Iterator[str]:
    """Declarations as they are priced, and what a catalog of them is made of."""
    yield from (encode(tool.declaration).decode() for tool in snapshot.tools)
    yield from counted_texts(snapshot.tools)
