"""A time limit that is up when the test says so, and not a moment before or after."""

import asyncio
from types import ModuleType, SimpleNamespace

import pytest


class TimeLimit:
    """The limit that the code under test has set last."""

    def __init__(self) -> None:
        self._set: asyncio.Timeout | None = None

    def timeout(self, seconds: float) -> asyncio.Timeout:
        """In place of `asyncio.timeout`: it waits for `up`."""
        assert seconds > 0
        self._set = asyncio.timeout(None)
        return self._set

    def up(self) -> None:
        """Time is up."""
        assert self._set is not None, "no time limit was set"
        self._set.reschedule(asyncio.get_running_loop().time())


def by_hand(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> TimeLimit:
    """The limits that this module sets with `asyncio.timeout` are the test's from now on."""
    limit = TimeLimit()
    monkeypatch.setattr(module, "asyncio", SimpleNamespace(**{**vars(asyncio), "timeout": limit.timeout}))
    return limit
