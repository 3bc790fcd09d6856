"""SQLite's and the system's errors as `StorageError`s for people: what happened, where, what to do."""

import errno
import os
import sqlite3
from pathlib import Path
from typing import Final

from openprogram.core.errors import DatabaseCorrupt, StorageError

_RESTORE: Final = (
    "Stop the server and put a backup in its place (backups lie beside it, named *.bak), or move it away to "
    "start with an empty one."
)
_PERMISSION: Final = "Give the user that runs the server the right to write this file and its directory."
_FREE: Final = "Free some space on it and try again."

# By the start of SQLite's symbolic error name, the more special first (https://www.sqlite.org/rescode.html).
_KNOWN: Final[tuple[tuple[str, type[StorageError], str, str], ...]] = (
    ("SQLITE_FULL", StorageError, "the disk that holds {path} is full", _FREE),
    (
        "SQLITE_READONLY_DBMOVED",
        StorageError,
        "{path} was moved or deleted while the server had it open",
        "Put it back and restart the server.",
    ),
    ("SQLITE_READONLY", StorageError, "{path} or its directory is read-only", _PERMISSION),
    ("SQLITE_PERM", StorageError, "{path} may not be accessed", _PERMISSION),
    ("SQLITE_CORRUPT", DatabaseCorrupt, "{path} is damaged", _RESTORE),
    ("SQLITE_NOTADB", DatabaseCorrupt, "{path} is not a database, or its beginning is damaged", _RESTORE),
    (
        "SQLITE_BUSY",
        StorageError,
        "another process keeps {path} locked",
        "Close other programs that use it (a database browser, a second server, a backup) and try again.",
    ),
    (
        "SQLITE_IOERR",
        StorageError,
        "the system refused to read or write {path} or its -wal and -shm files ({name})",
        "Look for a failing disk, a disk quota or a limit on file size, and try again.",
    ),
    ("SQLITE_TOOBIG", StorageError, "a value is too large for {path}", "Send it in smaller parts."),
)


def storage_error(error: BaseException, path: Path) -> StorageError:
    """What to tell a person about `error`, which came up while working on the database at `path`."""
    if isinstance(error, StorageError):
        return error
    if isinstance(error, OSError):
        return _system(error, path)
    name = getattr(error, "sqlite_errorname", None) or type(error).__name__
    if name.startswith("SQLITE_CANTOPEN"):
        return _cannot_open(path)
    for prefix, kind, message, hint in _KNOWN:
        if name.startswith(prefix):
            return kind(message.format(path=path, name=name), hint=hint)
    return StorageError(f"{path} could not be used ({name}: {error})", hint=None)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process held the lock for longer than `BUSY_S`."""
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


def _cannot_open(path: Path) -> StorageError:
    folder = path.parent
    if not folder.is_dir():
        return StorageError(f"the directory {folder} does not exist", hint="Make it, or name another one.")
    if path.is_dir():
        return StorageError(f"{path} is a directory", hint="A file is needed there: name another one.")
    if not os.access(folder, os.W_OK | os.X_OK):
        return StorageError(f"the directory {folder} cannot be written", hint=_PERMISSION)
    return StorageError(f"{path} or the -wal and -shm files beside it cannot be opened", hint=_PERMISSION)


def _system(error: OSError, path: Path) -> StorageError:
    if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.EISDIR}:
        return _cannot_open(path)
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return StorageError(f"{path} cannot be written: {error.strerror}", hint=_PERMISSION)
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StorageError(f"the disk that holds {path} is full", hint=_FREE)
    return StorageError(f"{path} cannot be opened: {error.strerror}", hint="Look for a failing disk.")
