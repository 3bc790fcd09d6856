"""Recorded agent sessions, as they are read from a file."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """One model request of a recorded session: what the model said and called, and what the call gave."""

    text: str
    command: str
    output: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the provider reported then, in tokens."""

    prompt: int
    cached: int


@dataclass(frozen=True, slots=True)
class Session:
    """A recorded session. `task` is its one user message."""

    id: str
    task: str
    steps: tuple[Step, ...]
    usage: tuple[Recorded, ...]


def read(path: Path) -> Iterator[Session]:
    """The sessions of a file of JSON lines, or of such lines in gzip."""
    raw = path.read_bytes()
    text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    for line in text.splitlines():
        yield _session(json.loads(line))


def _session(record: Mapping[str, Any]) -> Session:
    messages = record["messages"]
    steps, usage = [], []
    for asked, answered in pairwise(messages):
        if asked["role"] == "assistant" and answered["role"] == "tool" and asked["tool_calls"]:
            command = asked["tool_calls"][0]["arguments"]["command"]
            steps.append(Step(asked["text"], command, answered["text"]))
            usage.append(Recorded(asked["usage"]["prompt"], asked["usage"]["cached"]))
    task = "\n\n".join(message["text"] for message in messages if message["role"] in ("system", "user"))
    return Session(record["id"], task, tuple(steps), tuple(usage))
