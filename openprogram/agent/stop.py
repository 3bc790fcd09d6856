"""Stopping a run from outside without losing what it had."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """Raised at a stoppable point after `StopSignal.request`."""


class StopSignal:
    """Raised once by the user; work under `run` is then cancelled where it stands.

    The work is cancelled inside its own task, so that its cleanup (closing the HTTP stream, killing the process tree)
    has finished when `Stopped` arrives.
    """

    def __init__(self) -> None:
        self._requested = False
        self._scopes: set[asyncio.Timeout] = set()

    @property
    def requested(self) -> bool:
        """Whether stop was requested."""
        return self._requested

    def request(self) -> None:
        """Ask the run to end. Asking again changes nothing."""
        if self._requested:
            return
        self._requested = True
        now = asyncio.get_running_loop().time()
        for scope in self._scopes:
            scope.reschedule(now)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Await `work`; raises `Stopped` when stop is requested before it is done. It never begins after that."""
        if self._requested:
            work.close()
            raise Stopped
        scope = asyncio.timeout(None)
        try:
            async with scope:
                self._scopes.add(scope)
                return await work
        except TimeoutError:
            if scope.expired():
                raise Stopped from None
            raise
        finally:
            self._scopes.discard(scope)
