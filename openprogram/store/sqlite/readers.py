"""Connections for reading, apart from the writer's: in WAL mode neither waits for the other.

A hop to a connection's thread and back costs more than most questions, so those that are asked in the same turn of the
event loop (`asyncio.gather`) go there together.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, cast

from openprogram.core.errors import StorageError
from openprogram.store.sqlite.connection import Connection
from openprogram.store.sqlite.faults import storage_error

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Question = Callable[[sqlite3.Connection], Any]
_TOGETHER: Final = 8
"""Questions of one hop: one that is slow holds up no more than these."""


@dataclass(slots=True, eq=False)
class _Reader:
    connection: Connection
    busy: int = 0


class Readers:
    """A few connections; questions go to the one with the fewest waiting."""

    def __init__(self, connections: Sequence[Connection], path: Path) -> None:
        self._readers = [_Reader(connection) for connection in connections]
        self._path = path
        self._loop = asyncio.get_running_loop()
        self._asked: list[tuple[_Question, asyncio.Future[Any]]] = []
        self._hops: set[asyncio.Task[None]] = set()

    async def ask(
        self, question: Callable[Concatenate[sqlite3.Connection, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Run a function of `reads` on a reader's thread. Raises `StorageError`."""
        if not self._readers:
            raise StorageError("the store is closed: the server is shutting down", hint="Try again in a moment.")
        if not self._asked:
            self._loop.call_soon(self._send)
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._asked.append((lambda db: question(db, *args, **kwargs), answer))
        return cast(_T, await answer)

    async def aclose(self) -> None:
        """Finish the questions that were asked, then close the connections."""
        self._send()
        readers, self._readers = self._readers, []
        if self._hops:
            await asyncio.wait(self._hops)
        for reader in readers:
            await reader.connection.close()

    def _send(self) -> None:
        while self._asked:
            together, self._asked = self._asked[:_TOGETHER], self._asked[_TOGETHER:]
            reader = min(self._readers, key=_load)
            reader.busy += 1
            hop = self._loop.create_task(self._hop(reader, together))
            self._hops.add(hop)
            hop.add_done_callback(partial(self._over, together))

    def _over(self, together: Sequence[tuple[_Question, asyncio.Future[Any]]], hop: asyncio.Task[None]) -> None:
        """Let nobody wait for a hop that failed as a whole."""
        self._hops.discard(hop)
        error = asyncio.CancelledError() if hop.cancelled() else hop.exception()
        for _, waiting in together:
            if error is not None and not waiting.done():
                waiting.set_exception(error)

    async def _hop(self, reader: _Reader, together: Sequence[tuple[_Question, asyncio.Future[Any]]]) -> None:
        try:
            answers = await reader.connection.run(partial(_answer_all, [question for question, _ in together]))
        finally:
            reader.busy -= 1
        for (_, waiting), answer in zip(together, answers, strict=True):
            if waiting.done():  # its asker was cancelled
                continue
            if isinstance(answer, sqlite3.Error):
                failure = storage_error(answer, self._path)
                failure.__cause__ = answer
                waiting.set_exception(failure)
            elif isinstance(answer, StorageError):
                waiting.set_exception(answer)
            else:
                waiting.set_result(answer)


def _answer_all(questions: Sequence[_Question], db: sqlite3.Connection) -> list[Any]:
    return [_answer(question, db) for question in questions]


def _answer(question: _Question, db: sqlite3.Connection) -> Any:
    try:
        return question(db)
    except (sqlite3.Error, StorageError) as error:
        return error


def _load(reader: _Reader) -> int:
    return reader.busy
