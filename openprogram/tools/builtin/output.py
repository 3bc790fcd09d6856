"""Where commands leave their output, and how much of it a model is shown (R6)."""

import os
import re
from pathlib import Path
from typing import Final

from openprogram.core.jsonio import digest

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
