"""One timer for everything that is due at the same moment."""

import asyncio
from collections.abc import Callable
from math import floor


class Ticker:
    """Divides the loop's time into ticks of `period_s` and calls back when the next one begins, everything in one go:
    with many chats that stream, one timer a tick instead of one a chat, and one group commit for what they flush.
    """

    def __init__(self, period_s: float) -> None:
        self._period_s = period_s
        self._loop = asyncio.get_running_loop()
        self._waiting: list[Callable[[], None]] = []

    def call_next(self, callback: Callable[[], None]) -> None:
        """Call back when the next tick begins, at most one period from now."""
        if not self._waiting:
            begins = (floor(self._loop.time() / self._period_s) + 1) * self._period_s
            self._loop.call_at(begins, self._begin)
        self._waiting.append(callback)

    def _begin(self) -> None:
        waiting, self._waiting = self._waiting, []
        for callback in waiting:
            callback()
