"""Making a database file and bringing an older one up to date, one recorded transaction per step (R3)."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import structlog

from openprogram.core.errors import DatabaseTooNew, StorageError
from openprogram.store.sqlite.connection import BUSY_S
from openprogram.store.sqlite.faults import is_busy, storage_error
from openprogram.store.sqlite.schema import APPLICATION_ID, Migration

_log = structlog.get_logger("openprogram.store")

_RECORD: Final = """
CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    at TEXT NOT NULL
)"""


def make_file(path: Path) -> None:
    """Make sure that a file is there that this process may write; a new one is readable by its owner only.

    SQLite gives its -wal and -shm files the same mode. Raises `StorageError`.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise storage_error(error, path) from error


def migrate(db: sqlite3.Connection, path: Path, migrations: Sequence[Migration], at: str) -> None:
    """Bring the database to the last of `migrations` and to WAL; safe when several processes do so at once.

    Before each step that changes a database that was there, a copy of it is written beside it as `NAME.vN.bak`.
    Raises `DatabaseTooNew`, `StorageError` for another program's file, `sqlite3.Error`.
    """
    version = _version(db, path, len(migrations))
    was_there = version > 0
    _use_wal(db, path)
    while version < len(migrations):
        version = _step(db, path, migrations, at, copy=was_there)


def _version(db: sqlite3.Connection, path: Path, newest: int) -> int:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        if application or db.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise StorageError(
                f"{path} is a database of another program",
                hint="Name another file or another home directory.",
            )
        return 0
    version: int = db.execute("SELECT max(number) FROM migrations").fetchone()[0]
    if version > newest:
        raise DatabaseTooNew(
            f"{path} was written by a newer version of this program"
            f" (its schema is {version}, this version knows {newest})",
            hint=f"Install that version, or go back to {_backup_path(path, newest).name} if it is there.",
        )
    return version


def _use_wal(db: sqlite3.Connection, path: Path) -> None:
    # Changing the mode needs the file for a moment alone, and SQLite's busy handler is not asked about that.
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
            continue
        if mode == "wal":
            return
        raise StorageError(
            f"{path} cannot have a write-ahead log where it is",
            hint="Keep it on a local disk, not on a network share.",
        )


def _step(db: sqlite3.Connection, path: Path, migrations: Sequence[Migration], at: str, *, copy: bool) -> int:
    db.execute("BEGIN IMMEDIATE")
    try:
        version = _version(db, path, len(migrations))  # another process may have been faster
        if version < len(migrations):
            if version and copy:
                _back_up(path, version)
            if not version:
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                db.execute(_RECORD)
            migration = migrations[version]
            for statement in migration.statements:
                db.execute(statement)
            version += 1
            db.execute("INSERT INTO migrations VALUES (?, ?, ?)", (version, migration.name, at))
            _log.info("database migrated", path=str(path), schema=version, name=migration.name)
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
    return version


def _backup_path(path: Path, version: int) -> Path:
    return path.with_name(f"{path.name}.v{version}.bak")


def _back_up(path: Path, version: int) -> None:
    # Through a connection of its own: SQLite does not copy from one that holds the write lock, as ours does.
    target = _backup_path(path, version)
    unfinished = target.with_name(f"{target.name}.tmp")
    unfinished.unlink(missing_ok=True)
    make_file(unfinished)
    with (
        contextlib.closing(sqlite3.connect(path)) as source,
        contextlib.closing(sqlite3.connect(unfinished)) as copy,
    ):
        source.backup(copy)
    unfinished.replace(target)
    _log.info("database backed up", path=str(target))
