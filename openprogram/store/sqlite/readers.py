"""Connections for reading, apart from the writer's: in WAL mode neither waits for the other."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from openprogram.core.errors import StorageError
from openprogram.store.sqlite.connection import Connection
from openprogram.store.sqlite.faults import storage_error

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(slots=True, eq=False)
class _Reader:
    connection: Connection
    busy: int = 0


class Readers:
    """A few connections; a question goes to the one with the fewest waiting."""

    def __init__(self, connections: Sequence[Connection], path: Path) -> None:
        self._readers = [_Reader(connection) for connection in connections]
        self._path = path

    async def ask(
        self, question: Callable[Concatenate[sqlite3.Connection, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Run a function of `reads` on a reader's thread. Raises `StorageError`."""
        if not self._readers:
            raise StorageError("the store is closed: the server is shutting down", hint="Try again in a moment.")
        reader = min(self._readers, key=_load)
        reader.busy += 1
        try:
            return await reader.connection.run(question, *args, **kwargs)
        except sqlite3.Error as error:
            raise storage_error(error, self._path) from error
        finally:
            reader.busy -= 1

    async def aclose(self) -> None:
        """Finish the questions that were asked, then close the connections."""
        readers, self._readers = self._readers, []
        for reader in readers:
            await reader.connection.close()


def _load(reader: _Reader) -> int:
    return reader.busy
