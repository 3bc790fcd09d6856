"""Work that goes on beside the server for as long as it lives, under one supervisor (design law 10)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import structlog

AGAIN_S: Final = 10.0
"""So long after a failure the work is begun again."""

_log = structlog.get_logger(__name__)


@asynccontextmanager
async def beside(
    work: Callable[[], Awaitable[None]], name: str, again_s: float | None = AGAIN_S
) -> AsyncIterator[None]:
    """Do `work` until the block ends. What makes it fail is logged, and it begins again (None: that was that)."""
    task = asyncio.create_task(_supervised(work, name, again_s), name=name)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _supervised(work: Callable[[], Awaitable[None]], name: str, again_s: float | None) -> None:
    while True:
        try:
            await work()
        except Exception:
            _log.exception("background_work_failed", work=name, again_in_s=again_s)
        else:
            return
        if again_s is None:
            return
        await asyncio.sleep(again_s)
