"""A time limit that is up when the test says so, and not a moment before or after."""

import asyncio
from types import ModuleType, SimpleNamespace

import pytest


class TimeLimit:
    """The limit that the code under test sets: one."""

    def __init__(self) -> None:
        self._set: asyncio.Future[asyncio.Timeout] = asyncio.get_running_loop().create_future()

    def timeout(self, seconds: float) -> asyncio.Timeout:
        """In place of `asyncio.timeout`: it waits for `up`."""
        assert seconds > 0
        limit = asyncio.timeout(None)
        self._set.set_result(limit)
        return limit

    async def up(self) -> None:
        """Time is up, as soon as it is counted."""
        (await self._set).reschedule(asyncio.get_running_loop().time())


def by_hand(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> TimeLimit:
    """The limits that this module sets with `asyncio.timeout` are the test's from now on."""
    limit = TimeLimit()
    monkeypatch.setattr(module, "asyncio", SimpleNamespace(**{**vars(asyncio), "timeout": limit.timeout}))
    return limit
