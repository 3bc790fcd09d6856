"""The one writer: whatever is queued when it gets to it becomes one transaction (group commit).

A task on the event loop drains the queue and resolves the callers' futures; the transaction itself is one
function on the connection's thread (`group`). A caller hears of its commit only after `COMMIT` (law 8).
"""

import asyncio
from pathlib import Path
from typing import Final

from openprogram.core.clock import Clock
from openprogram.core.errors import StorageError
from openprogram.store.sqlite.connection import Connection
from openprogram.store.sqlite.group import Groups, Outcome, Work

_LARGEST_GROUP: Final = 1000


class Writer:
    """The queue and the task that empties it. Must be made on a running event loop."""

    def __init__(self, connection: Connection, path: Path, clock: Clock) -> None:
        self._connection = connection
        self._groups = Groups(path, clock)
        self._queue: list[Work] = []
        self._wake = asyncio.Event()
        self._closing = False
        self._task = asyncio.create_task(self._serve(), name="store writer")

    @property
    def transactions(self) -> int:
        """How many transactions were committed: fewer than commits where these were grouped."""
        return self._groups.transactions

    def submit(self, work: Work) -> None:
        """Queue work; its future is resolved when it is committed or refused.

        Raises `StorageError` when the store is closed.
        """
        if self._closing or self._task.done():
            raise StorageError("the store is closed: the server is shutting down", hint="Try again in a moment.")
        self._queue.append(work)
        self._wake.set()

    async def drain(self) -> None:
        """Take no more work, and wait until what was accepted is committed."""
        self._closing = True
        self._wake.set()
        await asyncio.wait([self._task])

    async def _serve(self) -> None:
        group: list[Work] = []
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._queue:
                    group, self._queue = self._queue[:_LARGEST_GROUP], self._queue[_LARGEST_GROUP:]
                    outcomes = await self._connection.run(self._groups.run, group)
                    for work, outcome in zip(group, outcomes, strict=True):
                        _resolve(work, outcome)
                if self._closing:
                    return
        finally:
            # Left over only if this task was cancelled: whether the group was committed is then unknown.
            for work in (*group, *self._queue):
                work.done.cancel()


def _resolve(work: Work, outcome: Outcome) -> None:
    if work.done.done():  # its caller was cancelled
        return
    if isinstance(outcome, BaseException):
        work.done.set_exception(outcome)
    else:
        work.done.set_result(outcome)
