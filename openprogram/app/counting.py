"""Keeps the token counts of all registered tools known, from a process that runs only when there is something new."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from openprogram.app.beside import beside
from openprogram.core.prompt import Api
from openprogram.sessions.prices import price_texts
from openprogram.tokens.counts import TokenCounts
from openprogram.tools.registry import Registry


@asynccontextmanager
async def counting(registry: Registry, tokens: TokenCounts, apis: Collection[Api]) -> AsyncIterator[None]:
    """Count what is registered now and what comes later, as it goes to endpoints of these kinds, beside all else."""
    changed = asyncio.Event()
    changed.set()

    async def follow() -> None:
        while True:
            await changed.wait()
            changed.clear()
            await tokens.learn(price_texts(registry.snapshot, sorted(apis)))

    unsubscribe = registry.subscribe(lambda _snapshot: changed.set())
    try:
        async with beside(follow, "count tokens"):
            yield
    finally:
        unsubscribe()
