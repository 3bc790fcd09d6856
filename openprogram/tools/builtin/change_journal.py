"""What a change of several files leaves in the data directory while it is made, so that a killed server cannot leave it
half made: the next start takes it back, or clears up behind it if it was through. Blocking: run in a thread.

A journal is a file. It is there before anything is touched, and renamed when the last file is in place: that moment
decides. What somebody changed after the crash is not overwritten.
"""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote_to_bytes

import structlog
from pydantic import TypeAdapter, ValidationError

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import digest_bytes, encode
from openprogram.tools.builtin.files import open_directory, read_whole
from openprogram.tools.builtin.paths import Place

_log = structlog.get_logger(__name__)

_BEGUN: Final = ".begun"
_THROUGH: Final = ".through"


@dataclass(frozen=True, slots=True)
class Entry:
    """One file: its root and its path (percent-encoded bytes), the names beside it of the new content and the old one,
    digests of both contents (None: no file), and the folders that are made for it."""

    root: str
    path: str
    fresh: str
    kept: str
    before: str | None
    after: str | None
    folders: tuple[str, ...]


_ENTRIES: Final = TypeAdapter(tuple[Entry, ...])


def entry(
    place: Place, fresh: str, kept: str, contents: tuple[bytes | None, bytes | None], folders: Sequence[Path]
) -> Entry:
    """The entry of a change from the first of `contents` to the second."""
    before, after = (None if content is None else digest_bytes(content) for content in contents)
    return Entry(_packed(place.root), _packed(place.path), fresh, kept, before, after, tuple(map(_packed, folders)))


class Journal:
    """The journal of one change: `begin` before it, `through` when all files are in place, `close` when nothing is left
    to be done. With no directory nothing is written."""

    def __init__(self, directory: Path | None, entries: Sequence[Entry]) -> None:
        self._path = None if directory is None else directory / f"{secrets.token_hex(8)}{_BEGUN}"
        self._entries = tuple(entries)

    def begin(self) -> None:
        """Write it down. Raises `ToolFailure`."""
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            unfinished = self._path.with_suffix(".tmp")
            with unfinished.open("xb") as stream:
                stream.write(encode(self._entries))
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.replace(self._path)
        except OSError as error:
            raise ToolFailure(f"The change cannot be noted down in the data directory: {error.strerror}.") from error

    def through(self) -> None:
        """From now on it is made, whatever happens. Raises `ToolFailure`."""
        if self._path is None:
            return
        try:
            self._path = self._path.rename(self._path.with_suffix(_THROUGH))
        except OSError as error:
            raise ToolFailure(f"The change cannot be noted down in the data directory: {error.strerror}.") from error

    def close(self) -> None:
        """Nothing is left beside the files. Where the disk refuses, the next start finds that, too."""
        if self._path is None:
            return
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("change_journal_stays", journal=str(self._path), error=str(error))


def recover(directory: Path) -> int:
    """Settle what a server left that was killed; to be called while nothing else changes files. Returns how many
    changes there were. What cannot be settled is logged, and tried again at the next start."""
    found = sorted(path for path in directory.glob("*") if path.suffix in (_BEGUN, _THROUGH))
    for unfinished in directory.glob("*.tmp"):
        unfinished.unlink(missing_ok=True)
    for path in found:
        try:
            entries = _ENTRIES.validate_json(path.read_bytes())
            for each in reversed(entries):
                _settle(each, made=path.suffix == _THROUGH)
            path.unlink()
        except (OSError, ToolFailure, ValidationError) as error:
            _log.error("change_not_settled", journal=str(path), error=str(error))
        else:
            _log.warning("change_settled", made=path.suffix == _THROUGH, files=len(entries))
    return len(found)


def _settle(each: Entry, *, made: bool) -> None:
    root, path = _unpacked(each.root), _unpacked(each.path)
    place = Place(root, path, str(path))
    try:
        with open_directory(Place(root, path.parent, str(path.parent))) as parent:
            if made:
                _remove(each.kept, parent)
            else:
                _take_back(each, place, parent)
            _remove(each.fresh, parent)
    except FileNotFoundError:
        _log.info("change_without_a_folder", path=place.shown)  # it was not made yet, or is gone
    if not made:
        for folder in reversed([_unpacked(folder) for folder in each.folders]):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def _take_back(each: Entry, place: Place, parent: int) -> None:
    now = _digest(place, place.path.name)
    if now not in (each.before, each.after, None):
        _log.warning("change_left_as_it_is", path=place.shown, old_content=each.kept)
    elif _digest(place, each.kept) is not None:
        os.replace(each.kept, place.path.name, src_dir_fd=parent, dst_dir_fd=parent)
        _remove(each.kept, parent)  # a second link to the same file, which a rename leaves alone
    elif each.before is None and now is not None and _digest(place, each.fresh) is None:
        _remove(place.path.name, parent)


def _digest(place: Place, name: str) -> str | None:
    try:
        return digest_bytes(read_whole(Place(place.root, place.path.with_name(name), place.shown)))
    except FileNotFoundError:
        return None


def _remove(name: str, parent: int) -> None:
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        return


def _packed(path: Path) -> str:
    return quote(os.fsencode(path))


def _unpacked(text: str) -> Path:
    return Path(os.fsdecode(unquote_to_bytes(text)))
