"""The project layer of a chat: read from the directory that it works in, anew for each turn and each look."""

import asyncio
import os
import stat
from pathlib import Path
from typing import Final

from openprogram.core.events import SessionInfo
from openprogram.core.tooling import Snapshot
from openprogram.session_config.project_file import NO_PROJECT, PROJECT_FILE, ProjectLayer, faulty, read_project
from openprogram.sessions.hub import Defaults

_MOST_BYTES: Final = 64_000


def workspace_of(defaults: Defaults, info: SessionInfo) -> Path:
    """The directory that a chat works in."""
    return Path(info.workspace) if info.workspace else defaults.workspace


async def project_layer(defaults: Defaults, info: SessionInfo, snapshot: Snapshot) -> ProjectLayer:
    """What the chat's project says about tools; nothing where it has no such file."""
    path = workspace_of(defaults, info) / PROJECT_FILE
    if _is_missing(path):  # as most are: not worth a thread, which the first token would wait for
        return NO_PROJECT
    return await asyncio.to_thread(_read, path, snapshot)


def _is_missing(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False  # reading it will tell
    return False


def _read(path: Path, snapshot: Snapshot) -> ProjectLayer:
    try:
        # What lies there came with the project: no link out of it is followed, and no pipe is waited for.
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            descriptor = os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        finally:
            os.close(folder)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return faulty(str(path), "not a plain file")
            data = file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return faulty(str(path), "its folder is a link") if path.parent.is_symlink() else NO_PROJECT
    except OSError as error:
        return faulty(str(path), f"cannot be read: {error.strerror or error}")
    if len(data) > _MOST_BYTES:
        return faulty(str(path), f"larger than {_MOST_BYTES:,} bytes")
    return read_project(str(path), data, snapshot)
