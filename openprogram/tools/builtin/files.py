"""Opening, reading and replacing files without following a link below the root (R15). Blocking: run in a thread."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.paths import Place

MAX_EDITED: Final = 10_000_000
"""Bytes of a file that can be edited or written: it is held in memory, and its difference is shown."""

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def explained(place: Place) -> Iterator[None]:
    """Turn what the system says of this place into a `ToolFailure` for the model."""
    try:
        yield
    except OSError as error:
        match error.errno:
            case errno.ENOENT:
                text = f"{place.shown} does not exist."
            case errno.EISDIR:
                text = f"{place.shown} is a directory, not a file."
            case errno.ENOTDIR:
                text = f"{place.shown} is not a directory, or a part of its path is not."
            case errno.ELOOP | errno.EMLINK:
                text = f"{place.shown} is a link that leads nowhere, or was changed just now."
            case _:
                text = f"{place.shown}: {os.strerror(error.errno or 0)}."
        raise ToolFailure(text) from error


@contextmanager
def open_directory(place: Place, *, create: bool = False) -> Iterator[int]:
    """A descriptor of the directory at `place`, reached from its root step by step; missing ones made if `create`."""
    descriptor = os.open(place.root, _DIRECTORY)
    try:
        for name in place.parts:
            if create:
                _make(name, descriptor)
            below = os.open(name, _DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def _make(name: str, parent: int) -> None:
    try:
        os.mkdir(name, dir_fd=parent)
    except FileExistsError:
        return  # a link of that name is refused by the open that follows


@contextmanager
def open_file(place: Place) -> Iterator[BinaryIO]:
    """The regular file at `place`, for reading. Pipes and devices are refused before anything could wait on them."""
    if not place.parts:
        raise IsADirectoryError(errno.EISDIR, "is a directory")
    with open_directory(_above(place)) as parent:
        descriptor = os.open(place.path.name, _READ, dir_fd=parent)
    with open(descriptor, "rb") as stream:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        if not stat.S_ISREG(mode):
            raise ToolFailure(f"{place.shown} is not a regular file.")
        yield stream


def read_whole(place: Place) -> bytes:
    """The bytes of the file. Raises `ToolFailure` beyond `MAX_EDITED`, `OSError` for what the system refuses."""
    with open_file(place) as stream:
        data = stream.read(MAX_EDITED + 1)
    if len(data) > MAX_EDITED:
        raise ToolFailure(f"{place.shown} is larger than {MAX_EDITED:,} bytes; that is too large to change as text.")
    return data


def replace_file(place: Place, data: bytes) -> None:
    """Put `data` at `place` at once or not at all; parents are made, the mode and owner of a former file are kept.

    A reader sees the old file or the new one, never half of one.
    """
    if not place.parts:
        raise IsADirectoryError(errno.EISDIR, "is a directory")
    with open_directory(_above(place), create=True) as parent:
        before = _status(place, parent)
        temporary = f".{secrets.token_hex(8)}.tmp"
        descriptor = os.open(temporary, _CREATE, 0o666, dir_fd=parent)
        replaced = False
        try:
            with open(descriptor, "wb") as stream:
                if before is not None:
                    _take_over(descriptor, before)
                stream.write(data)
                stream.flush()
                os.fsync(descriptor)
            os.replace(temporary, place.path.name, src_dir_fd=parent, dst_dir_fd=parent)
            replaced = True
        finally:
            if not replaced:
                os.unlink(temporary, dir_fd=parent)


def _status(place: Place, parent: int) -> os.stat_result | None:
    try:
        status = os.stat(place.path.name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise ToolFailure(f"{place.shown} is not a regular file.")
    return status


def _take_over(descriptor: int, before: os.stat_result) -> None:
    if os.geteuid() == 0:
        os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _above(place: Place) -> Place:
    return Place(place.root, place.path.parent, place.shown)
