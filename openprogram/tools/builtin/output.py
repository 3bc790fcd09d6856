"""Where commands leave their output, and how much of it a model is shown (R6)."""

import os
import re
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from openprogram.core.jsonio import digest

MAX_AGE_S: Final = timedelta(days=14).total_seconds()
"""Outputs older than this are deleted: what a chat shows of them is in its events."""
MAX_BYTES: Final = 2_000_000_000
"""What all outputs may take; beyond it the oldest go."""
MAX_RECORDS: Final = 2_000
"""So many background commands are remembered in files, those of all chats together; beyond it the oldest go."""

_SAFE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def outputs_of(output_dir: Path, session_id: str) -> Path:
    """The directory of one chat's outputs; nobody else's can be reached from it."""
    return output_dir / _name(session_id)


def output_file(output_dir: Path, session_id: str, call_id: str) -> Path:
    """The file for one call's output, its directory made and closed to others."""
    directory = outputs_of(output_dir, session_id)
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    return directory / f"{_name(call_id)}.log"


def prune(
    output_dir: Path,
    now: float,
    *,
    keep: Collection[Path] = (),
    max_age_s: float = MAX_AGE_S,
    max_bytes: int = MAX_BYTES,
    max_records: int = MAX_RECORDS,
) -> int:
    """Delete outputs and records of background commands that are too old, and of the rest the oldest until they fit;
    those in `keep` stay.

    Chats whose directory is empty then lose it. Returns how many files were deleted. Raises `OSError` where the disk
    refuses; a file that goes away meanwhile is none.
    """
    logs = _found(output_dir, "*/*.log")
    records = [(written, 1, path) for written, _, path in _found(output_dir, "*/job_*.*") if path.suffix != ".log"]
    gone = _outdated(logs, now - max_age_s, max_bytes, keep) + _outdated(records, now - max_age_s, max_records, keep)
    for path in gone:
        path.unlink(missing_ok=True)
    for directory in {path.parent for _, _, path in (*logs, *records)}:
        with suppress(OSError):  # not empty, or just taken into use
            directory.rmdir()
    return len(gone)


def _found(output_dir: Path, pattern: str) -> list[tuple[float, int, Path]]:
    """When each of these files was written, and its bytes."""
    found: list[tuple[float, int, Path]] = []
    for path in output_dir.glob(pattern):
        with suppress(FileNotFoundError):
            status = path.stat(follow_symlinks=False)
            found.append((status.st_mtime, status.st_size, path))
    return found


def _outdated(found: list[tuple[float, int, Path]], since: float, room: int, keep: Collection[Path]) -> list[Path]:
    """What was written before that moment, and of the rest the oldest until the sizes come to no more than `room`."""
    total = sum(size for _, size, _ in found)
    gone: list[Path] = []
    for written, size, path in sorted(found):
        if path not in keep and (written < since or total > room):
            gone.append(path)
            total -= size
    return gone


def _name(text: str) -> str:
    return text if _SAFE.fullmatch(text) else digest(text)


def excerpt(path: Path, budget: int) -> str:
    """The output as text for a model: whole if it fits in `budget` bytes, else its head, its tail and a note between.

    Reads no more than that. Control sequences of terminals are taken out, of overwritten lines the last state stays.
    """
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= budget:
            return readable(stream.read(budget))
        head = stream.read(budget // 3)
        stream.seek(size - (budget - len(head)))
        tail = stream.read(budget - len(head))
    head = head[: head.rfind(b"\n") + 1] or head
    tail = tail[tail.find(b"\n") + 1 :] or tail
    left_out = size - len(head) - len(tail)
    return f"{readable(head)}\n[{left_out:,} bytes left out; the full output is in {path}]\n{readable(tail)}"


def readable(data: bytes) -> str:
    """Terminal output as plain text."""
    text = _ESCAPE.sub("", data.decode("utf-8", "replace"))
    lines = (line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))
    return "\n".join(lines).strip("\n")
