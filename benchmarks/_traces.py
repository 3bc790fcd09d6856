"""Recorded agent sessions, and what a seeded script has happen in them."""

import gzip
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

from openprogram.core.jsonio import JsonObject

BIG: Final = 1_000_000
"""Characters of the one huge tool output."""
EVERY: Final = 10
"""Steps between the messages that the script has the user send, about."""

Kind = Literal[
    "say", "web_search", "disable", "enable", "preset", "discover", "drop", "return", "plan", "restart", "big"
]


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


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happens while a step's calls run, or before the user's next message."""

    kind: Kind
    value: str = ""


Script = Mapping[int, Sequence[Happening]]
"""What happens at which step."""


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


def quiet(_session: Session, _seed: int) -> Script:
    """Nothing happens: the session as it was."""
    return {}


def scripted(session: Session, seed: int, tools: Sequence[str]) -> Script:
    """A user message about each tenth step, with switches before it; some switches in mid-turn, discoveries of `tools`,
    servers that flap, plan mode, a restart, and one huge tool output."""
    dice = random.Random(f"{seed}/{session.id}")
    found: dict[int, list[Happening]] = {}
    say = list(range(EVERY - 2, len(session.steps) - 2, EVERY))
    switches = [
        Happening("web_search", "on"),
        Happening("preset", "research"),
        Happening("disable", "grep"),
        Happening("preset", ""),
        Happening("web_search", "off"),
        Happening("enable", "grep"),
    ]
    for number, place in enumerate(say):
        step = place + dice.randint(-1, 1)
        happenings = [switches[number % len(switches)]]
        if number % 2:
            happenings += [
                Happening("web_search", "on"),
                Happening("web_search", "off"),
                switches[number % len(switches)],
            ]
        if number == len(say) // 2:
            happenings.append(Happening("restart"))
        if number % 3 == 1:
            happenings.append(Happening("plan", "on" if number % 2 else "off"))
        found[step] = [*happenings, Happening("say", f"Go on, please ({number + 1}).")]
        found.setdefault(step + 3, []).append(Happening("drop" if number % 2 == 0 else "return"))
        if number < len(tools):
            found.setdefault(step + 5, []).append(Happening("discover", tools[number]))
        found.setdefault(step + 4, []).append(dice.choice(switches[:3]))  # in mid-turn: it counts from the next turn on
    found.setdefault(len(session.steps) // 3, []).append(Happening("big"))
    return {step: tuple(found[step]) for step in found if step < len(session.steps)}


def answers(session: Session, script: Script) -> Iterator[JsonObject]:
    """What the fake API is to answer, request by request."""
    for number, step in enumerate(session.steps):
        yield _answer(step.text, f"call_{number}", "bash", {"command": step.command})
        for happening in script.get(number, ()):
            if happening.kind == "discover":
                query: JsonObject = {"query": f"select:{happening.value}"}
                yield _answer("I look for a tool.", f"find_{number}", "tool_search", query)
                yield _answer("I use it.", f"use_{number}", happening.value, {"subject": "tests"})
    yield {"blocks": [{"type": "text", "text": "Done."}]}


def _answer(text: str, call_id: str, name: str, arguments: JsonObject) -> JsonObject:
    blocks: list[JsonObject] = [{"type": "tool_use", "id": call_id, "name": name, "input": arguments}]
    if text.strip():
        blocks.insert(0, {"type": "text", "text": text})
    return {"blocks": list(blocks)}
