"""Forgetting in time: drafts that were never sent, client ids of actions long done (T6, P5), old output of commands."""

import asyncio
from datetime import timedelta
from typing import Final

import structlog

from openprogram.core.clock import iso_time
from openprogram.core.errors import StorageError
from openprogram.sessions.hub import Hub

DRAFTS_S: Final = timedelta(days=7).total_seconds()
REQUESTS_S: Final = timedelta(hours=24).total_seconds()
_EVERY_S: Final = timedelta(hours=1).total_seconds()

_log = structlog.get_logger(__name__)


async def sweep_for_ever(hub: Hub) -> None:
    """Sweep now and each hour, until it is cancelled. What the store refuses now is tried again then."""
    while True:
        now = hub.ports.clock()
        try:
            swept = await hub.ports.store.sweep(
                drafts_before=iso_time(now - DRAFTS_S), requests_before=iso_time(now - REQUESTS_S)
            )
            _log.debug("swept", rows=swept, tidied=await hub.ports.tidy())
        except (StorageError, OSError) as error:
            _log.warning("sweep_failed", error=str(error))
        await asyncio.sleep(_EVERY_S)
