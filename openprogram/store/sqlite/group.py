"""One group of queued work as one transaction: the half of the writer on the connection's thread."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, assert_never

import structlog

from openprogram.core.clock import Clock, iso_time
from openprogram.core.errors import Conflict, StorageError, UnknownSession
from openprogram.core.storage import PutSession, StoredEvent, Write
from openprogram.store.sqlite.faults import is_busy, storage_error
from openprogram.store.sqlite.writes import Unit, apply

REMEMBERED_S: Final = timedelta(hours=24).total_seconds()
"""How long an action's client id is remembered (P5)."""

_BEGIN_ATTEMPTS: Final = 6
_CACHED_CHATS: Final = 10_000
_INSERT: Final = "INSERT INTO events (chat, seq, from_seq, at, payload) VALUES (?, ?, ?, ?, ?)"
_ROWS_A_STATEMENT: Final = (64, 16, 4)
"""Rows of the prepared statements for many. Each step of a statement gives the interpreter lock away and has to win it
back from the event loop's thread, which under load costs more than the row."""

_log = structlog.get_logger("openprogram.store")

_EventRow = tuple[int, int, int, str, bytes]
Outcome = Any
"""What the future of a piece of work gets: its result, or an exception to raise."""


@dataclass(slots=True, eq=False)
class Commit:
    """A chat's events, encoded, and writes: all or nothing."""

    session_id: str
    payloads: Sequence[bytes]
    writes: Sequence[Write]
    done: "asyncio.Future[tuple[StoredEvent, ...]]"


@dataclass(slots=True, eq=False)
class Job:
    """Any other change of the database. `deletes_chats`: events committed later in the group must notice."""

    change: Callable[[sqlite3.Connection], Any]
    done: "asyncio.Future[Any]"
    deletes_chats: bool = False


Work = Commit | Job


class Groups:
    """Runs groups. Keeps number and last seq of each chat, as long as nobody else wrote to the file.

    SQLite's `data_version` tells, under the write lock, whether another process did.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self.transactions = 0
        self._path = path
        self._clock = clock
        self._heads: dict[str, tuple[int, int]] = {}
        self._data_version = 0

    def run(self, db: sqlite3.Connection, group: Sequence[Work]) -> list[Outcome]:
        """Commit the group, or each piece alone where that fails. Returns the outcomes in order."""
        try:
            self._begin(db)
        except sqlite3.Error as error:
            return [self._refused(error) for _ in group]
        try:
            outcomes = self._apply(db, group)
            db.execute("COMMIT")
        except Exception as error:  # design law 10: whatever it was, the callers hear of it
            self._heads.clear()
            db.rollback()
            if len(group) == 1:
                return [self._refused(error)]
            return [outcome for work in group for outcome in self.run(db, [work])]
        self.transactions += 1
        return outcomes

    def _refused(self, error: Exception) -> StorageError:
        if isinstance(error, sqlite3.Error):
            failure = storage_error(error, self._path)
        else:
            failure = StorageError(f"this cannot be stored: {error}")
        failure.__cause__ = error
        _log.error("commit refused", path=str(self._path), reason=failure.message, exc_info=error)
        return failure

    def _begin(self, db: sqlite3.Connection) -> None:
        for attempt in range(1, _BEGIN_ATTEMPTS + 1):
            try:
                db.execute("BEGIN IMMEDIATE")
                break
            except sqlite3.OperationalError as error:
                if attempt == _BEGIN_ATTEMPTS or not is_busy(error):
                    raise
                _log.warning("database is locked by another process", path=str(self._path), attempt=attempt)
        (data_version,) = db.execute("PRAGMA data_version").fetchone()
        if data_version != self._data_version or len(self._heads) > _CACHED_CHATS:
            self._data_version = data_version
            self._heads.clear()

    def _apply(self, db: sqlite3.Connection, group: Sequence[Work]) -> list[Outcome]:
        now = self._clock()
        at, remembered_since = iso_time(now), iso_time(now - REMEMBERED_S)
        rows: list[_EventRow] = []
        outcomes: list[Outcome] = []
        for work in group:
            match work:
                case Commit():
                    outcomes.append(self._commit(db, work, at, remembered_since, rows))
                case Job():
                    _insert(db, rows)
                    rows.clear()
                    outcomes.append(work.change(db))
                    if work.deletes_chats:
                        self._heads.clear()
                case _:
                    assert_never(work)
        _insert(db, rows)
        return outcomes

    def _commit(
        self, db: sqlite3.Connection, commit: Commit, at: str, remembered_since: str, rows: list[_EventRow]
    ) -> Outcome:
        """Do the writes and number the events into `rows`, which the caller inserts."""
        session_id = commit.session_id
        head = self._heads.get(session_id) or _read_head(db, session_id)
        if head is None and not any(isinstance(w, PutSession) and w.info.id == session_id for w in commit.writes):
            return UnknownSession(f"there is no chat {session_id}")
        last = head[1] if head else 0
        if commit.writes:
            refusal = _write(db, commit.writes, Unit(session_id, at, last + 1, remembered_since))
            if refusal is not None:
                return refusal
        stored = [StoredEvent(session_id, seq, seq, at, body) for seq, body in enumerate(commit.payloads, last + 1)]
        if head or (head := _read_head(db, session_id)):
            chat = head[0]
            rows.extend((chat, event.seq, event.seq, at, event.payload) for event in stored)
            self._heads[session_id] = chat, last + len(stored)
        return tuple(stored)


def _insert(db: sqlite3.Connection, rows: Sequence[_EventRow]) -> None:
    done = 0
    for size in _ROWS_A_STATEMENT:
        while len(rows) - done >= size:
            values = [value for row in rows[done : done + size] for value in row]
            db.execute(_INSERT + ", (?, ?, ?, ?, ?)" * (size - 1), values)
            done += size
    db.executemany(_INSERT, rows[done:])


def _read_head(db: sqlite3.Connection, session_id: str) -> tuple[int, int] | None:
    """The chat's number and last seq; None if there is no such chat."""
    found: tuple[int, int] | None = db.execute(
        "SELECT n, (SELECT ifnull(max(seq), 0) FROM events WHERE chat = n) FROM sessions WHERE id = ?", (session_id,)
    ).fetchone()
    return found


def _write(db: sqlite3.Connection, writes: Sequence[Write], unit: Unit) -> Conflict | None:
    """The writes of one commit; or none of them, and why: the rest of the group goes on."""
    db.execute("SAVEPOINT one_commit")
    try:
        for write in writes:
            apply(db, write, unit)
    except Conflict as conflict:
        db.execute("ROLLBACK TO one_commit")
        db.execute("RELEASE one_commit")
        return conflict
    db.execute("RELEASE one_commit")
    return None
