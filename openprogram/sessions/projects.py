"""The project layer of a chat: read from the directory that it works in, anew for each turn and each look."""

import asyncio
import os
import stat
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from openprogram.core.events import SessionInfo
from openprogram.core.tooling import Snapshot
from openprogram.session_config.project_file import NO_PROJECT, PROJECT_FILE, ProjectLayer, faulty, read_project

GLANCE_S: Final = 0.02
"""How long a switch or a snapshot waits for a directory (P1); what it then goes by is what was read last."""
LOOK_S: Final = 1.0
"""How long a person who looks at the tools waits for it."""
PATIENCE_S: Final = 10.0
"""How long a turn waits for it, before the careful preset stands in for what its project may want."""

_MOST_BYTES: Final = 64_000
_REMEMBERED: Final = 200
_THREADS: Final = 16
"""Each directory that is away (a network disk) holds one; they are no threads that anything else needs."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The file as it was read: its bytes, or in words why there are none; neither where it does not exist."""

    data: bytes | None = None
    fault: str | None = None


_NOTHING: Final = _Found()

Reading = asyncio.Future[_Found]
"""A project's file on its way from the disk."""


class Projects:
    """Reads what projects say. A directory that does not answer holds up who reads it, for a time, and nobody else."""

    def __init__(self, default: Path) -> None:
        self.threads = ThreadPoolExecutor(_THREADS, "workspace")
        self._default = default
        self._reading: dict[Path, asyncio.Future[_Found]] = {}
        self._known: OrderedDict[Path, _Found] = OrderedDict()

    def workspace_of(self, info: SessionInfo) -> Path:
        """The directory that a chat works in."""
        return Path(info.workspace) if info.workspace else self._default

    def begin(self, info: SessionInfo) -> Reading | None:
        """Begin to read what `layer` will be asked for; None where that would not be sooner."""
        path = self.workspace_of(info) / PROJECT_FILE
        return None if path in self._reading else self._begin(path)

    async def layer(
        self, info: SessionInfo, snapshot: Snapshot, patience_s: float = PATIENCE_S, begun: Reading | None = None
    ) -> ProjectLayer:
        """What the chat's project says about tools; nothing where it has no such file.

        It is what stands there at some time after this call, or after it was `begun` to be read.
        """
        path = self.workspace_of(info) / PROJECT_FILE
        try:
            async with asyncio.timeout(patience_s):
                found = await (asyncio.shield(begun) if begun else self._read(path))
        except TimeoutError:
            return faulty(str(path), "its disk does not answer")
        return _layer(path, found, snapshot)

    async def glance(self, info: SessionInfo, snapshot: Snapshot) -> tuple[ProjectLayer, bool]:
        """What it says, and whether that is so; else it is what the directory said when it last answered."""
        path = self.workspace_of(info) / PROJECT_FILE
        try:
            async with asyncio.timeout(GLANCE_S):
                return _layer(path, await self._read(path), snapshot), True
        except TimeoutError:
            return _layer(path, self._known.get(path, _NOTHING), snapshot), False

    def close(self) -> None:
        """Begin no more reads."""
        self.threads.shutdown(wait=False, cancel_futures=True)

    async def _read(self, path: Path) -> _Found:
        """The file as it is at some time after this call. It is read once for all who ask meanwhile."""
        earlier = self._reading.get(path)
        if earlier is not None:  # begun before this call, so maybe before what is looked for was written
            await asyncio.wait({earlier})
        return await asyncio.shield(self._reading.get(path) or self._begin(path))

    def _begin(self, path: Path) -> Reading:
        reading = asyncio.get_running_loop().run_in_executor(self.threads, _read, path)
        self._reading[path] = reading
        reading.add_done_callback(lambda done: self._done(path, done))
        return reading

    def _done(self, path: Path, reading: "asyncio.Future[_Found]") -> None:
        del self._reading[path]
        if not reading.cancelled():
            self._known[path] = reading.result()
            self._known.move_to_end(path)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)


def _layer(path: Path, found: _Found, snapshot: Snapshot) -> ProjectLayer:
    if found.fault is not None:
        return faulty(str(path), found.fault)
    return NO_PROJECT if found.data is None else read_project(str(path), found.data, snapshot)


def _read(path: Path) -> _Found:
    try:
        # What lies there came with the project: no link out of it is followed, and no pipe is waited for.
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            descriptor = os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        finally:
            os.close(folder)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return _Found(fault="not a plain file")
            data = file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return _Found(fault="its folder is a link") if path.parent.is_symlink() else _NOTHING
    except OSError as error:
        return _Found(fault=f"cannot be read: {error.strerror or error}")
    if len(data) > _MOST_BYTES:
        return _Found(fault=f"larger than {_MOST_BYTES:,} bytes")
    return _Found(data)
