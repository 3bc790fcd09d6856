"""One timer for everything that is due at the same moment."""

import asyncio
from collections.abc import Callable
from math import floor


class Ticker:
    """Divides the loop's time into ticks of `period_s` and calls back at their beginnings, what falls together in one
    go: with many chats that stream, one timer a tick instead of one a chat, and one group commit for what they flush.
    """

    def __init__(self, period_s: float) -> None:
        self._period_s = period_s
        self._loop = asyncio.get_running_loop()
        self._due: dict[int, list[Callable[[], None]]] = {}

    @property
    def tick(self) -> int:
        """The tick that has begun."""
        return floor(self._loop.time() / self._period_s)

    def call_at(self, tick: int, callback: Callable[[], None]) -> None:
        """Call back when this tick begins; at once after this callback where it has begun already."""
        waiting = self._due.get(tick)
        if waiting is None:
            waiting = self._due[tick] = []
            self._loop.call_at(tick * self._period_s, self._run, tick)
        waiting.append(callback)

    def _run(self, tick: int) -> None:
        for callback in self._due.pop(tick):
            callback()
