"""Connections to the database file. Each has a thread of its own, on which whole functions run."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Concatenate, Final, Literal, ParamSpec, TypeVar, cast

import aiosqlite
from typing_extensions import override

Synchronous = Literal["NORMAL", "FULL"]
"""What survives a power cut: `FULL` every commit, `NORMAL` all but perhaps the last ones. Both survive any
crash of the program, and neither ever leaves a damaged file."""

BUSY_S: Final = 5.0
"""How long one statement waits for another process before SQLite reports `SQLITE_BUSY`."""

_P = ParamSpec("_P")
_T = TypeVar("_T")

_COMMON: Final = ("foreign_keys = ON", "temp_store = MEMORY", "mmap_size = 0")
# Pages are appended and rarely seen again: 32 MB of cache took 24 MB more memory than 8 MB and no less CPU.
_WRITER: Final = ("cache_size = -8000", "wal_autocheckpoint = 4000", "journal_size_limit = 64000000")
_READER: Final = ("cache_size = -4000", "query_only = ON")


class Connection(aiosqlite.Connection):
    """An aiosqlite connection that runs a whole function on its thread.

    aiosqlite's own methods hop to the thread and back for each statement. A hop costs more than a statement:
    55 to 65 us of CPU, where committing an event takes 20 to 50. So a group of commits is one function.
    """

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        # A program that dies without closing the store must end, not wait for this thread for ever. To the database
        # that is a crash like any other.
        self._thread.daemon = True
        self._stopped: asyncio.Future[None] | None = None

    @override
    def stop(self) -> asyncio.Future[None] | None:
        self._stopped = super().stop()
        return self._stopped

    async def stopped(self) -> None:
        """Wait until the thread has obeyed `stop`: where opening fails, aiosqlite calls that, but does not wait."""
        if self._stopped is not None:
            await self._stopped

    async def run(
        self, function: Callable[Concatenate[sqlite3.Connection, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Call `function` with the raw connection on this connection's thread. Raises what it raises."""
        execute = cast(Callable[..., Awaitable[_T]], self._execute)  # not annotated there
        return await execute(function, self._conn, *args, **kwargs)


async def connect(path: Path, *, role: Literal["writer", "reader"], synchronous: Synchronous) -> Connection:
    """Open the file with the pragmas of `role`. Raises `sqlite3.Error`; the caller closes what it got."""
    pragmas = (*_COMMON, f"synchronous = {synchronous}", *(_WRITER if role == "writer" else _READER))

    def connector() -> sqlite3.Connection:
        # isolation_level None: no transaction but those that are begun in so many words.
        db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        try:
            for pragma in pragmas:
                db.execute(f"PRAGMA {pragma}")
        except sqlite3.Error:
            db.close()
            raise
        if role == "reader":
            db.row_factory = sqlite3.Row
        return db

    connection = Connection(connector)
    try:
        await connection  # starts its thread and opens the file there
    except sqlite3.Error:
        await connection.stopped()
        raise
    return connection
