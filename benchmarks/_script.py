"""What a seeded script has happen in a recorded session, and what the model answers then.

A user message comes about each tenth step. Before it two of the chat's switches are flipped, and others in mid-turn;
tools are discovered just before messages and in mid-turn; servers flap; there is one restart, and one huge output.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from _traces import Session

from openprogram.core.jsonio import JsonObject
from openprogram.core.surface import BRIDGE_NAME, Strategy

EVERY: Final = 10
"""Steps between the messages that the script has the user send, about."""
BIG: Final = 1_000_000
"""Characters of the one huge tool output."""
EXIT_PLAN: Final = "exit_plan_mode"
OFF_AND_ON: Final = "grep"
"""The tool that is switched off and on."""
SERVED: Final = tuple(f"mcp__bench__report_{number:02}" for number in range(40))
"""The tools of the server that flaps."""
_REPORTS: Final = SERVED[::3]
_CODING: Final = ("git_read", "memory_search", "worktree_list", "list_sessions", "pdf_read")
"""Tools that wait where the preset `coding` or `full` is in force, each of another group."""
_ARGUMENTS: Final[Mapping[str, JsonObject]] = {
    EXIT_PLAN: {"plan": "Look for the cause first."},
    "git_read": {"command": "log"},
    "memory_search": {"query": "tests"},
    "pdf_read": {"path": "manual.pdf"},
    "worktree_list": {},
    "list_sessions": {},
}
_PRESETS: Final = ("coding", "", "full", "")

Kind = Literal["say", "web_search", "tool", "preset", "plan", "server", "discover", "use", "restart", "big"]


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happens while a step's call runs: a flip of a switch (`value`: `on`, `off`, a preset's name), a
    message, a server that drops or returns; or what the model does next: discover a tool and use it, or just use it."""

    kind: Kind
    value: str = ""


Script = Mapping[int, Sequence[Happening]]
"""What happens at which step, in order."""


def quiet(_session: Session, _seed: int) -> Script:
    """Nothing happens: the session as it was."""
    return {}


def scripted(session: Session, seed: int) -> Script:
    """The seeded script."""
    return _Author(len(session.steps), random.Random(f"{seed}/{session.id}")).write()


@dataclass
class _Author:
    """Writes a script, with the chat's state in mind: only what is authorised in a turn is discovered in it."""

    steps: int
    dice: random.Random
    script: dict[int, list[Happening]] = field(default_factory=dict)
    on: dict[str, bool] = field(default_factory=lambda: {"tool": True, "server": True})
    preset: int = -1
    deck: list[Kind] = field(default_factory=list)
    found: set[str] = field(default_factory=set)

    def write(self) -> Script:
        """All of it."""
        places = [place + self.dice.randint(-1, 1) for place in range(EVERY - 2, self.steps - 2, EVERY)]
        self._discover(places[0] - 3)
        for number, (place, behind) in enumerate(zip(places, [*places[1:], self.steps], strict=True)):
            self._boundary(number, place, restart=number == len(places) // 2)
            self._turn(number, place, behind)
        self._at(self.steps // 3, Happening("big"))
        return {step: tuple(happenings) for step, happenings in sorted(self.script.items())}

    def _boundary(self, number: int, place: int, *, restart: bool) -> None:
        """What is flipped, then the message. Every second time the chip is flipped there and back between."""
        flips = [self._flip(self._drawn()), self._flip(self._drawn())]
        if number % 2:
            flips[1:1] = [self._flip("web_search"), self._flip("web_search")]
        if restart:
            flips.append(Happening("restart"))
        self._at(place, *flips, Happening("say", f"Go on, please ({number + 1})."))

    def _turn(self, number: int, place: int, behind: int) -> None:
        """The turn that the message at `place` begins; the next one comes at `behind`."""
        server = self.on["server"]
        if self.on.get("plan"):
            self._leave_plan(place + 2)
        if number % 2:
            self._discover(place + 4)
        else:
            self._discover(behind - 1)
        if server:
            self._at(place + 3, self._flip("server"))
            self._at(place + 5, self._flip("server"))
        self._at(place + 6, self._flip("web_search" if number % 2 else "tool"))  # it counts from the next turn on

    def _leave_plan(self, step: int) -> None:
        """The model leaves plan mode: with a tool that it has to find the first time."""
        if step < self.steps:
            self._at(step, Happening("use" if EXIT_PLAN in self.found else "discover", EXIT_PLAN))
            self.found.add(EXIT_PLAN)
            self.on["plan"] = False

    def _discover(self, step: int) -> None:
        """Have the model look for one of the tools that wait in this turn."""
        preset = _PRESETS[self.preset] if self.preset >= 0 else ""
        waiting = [
            *(_REPORTS if self.on["server"] and preset != "coding" else ()),
            *(_CODING if preset else ()),
        ]
        fresh = [name for name in waiting if name not in self.found]
        if fresh and step < self.steps:
            name = self.dice.choice(fresh)
            self.found.add(name)
            self._at(step, Happening("discover", name))

    def _drawn(self) -> Kind:
        """The next switch of a shuffled deck, so that each has its turn."""
        if not self.deck:
            self.deck = ["web_search", "preset", "tool", "plan", "server"]
            self.dice.shuffle(self.deck)
        return self.deck.pop()

    def _flip(self, switch: Kind) -> Happening:
        if switch == "preset":
            self.preset = (self.preset + 1) % len(_PRESETS)
            return Happening("preset", _PRESETS[self.preset])
        self.on[switch] = not self.on.get(switch, False)
        return Happening(switch, "on" if self.on[switch] else "off")

    def _at(self, step: int, *happenings: Happening) -> None:
        if step < self.steps:
            self.script.setdefault(step, []).extend(happenings)


def answers(session: Session, script: Script, strategy: Strategy) -> Iterator[JsonObject]:
    """What the fake API is to answer, request by request."""
    for number, step in enumerate(session.steps):
        yield _answer(step.text, f"call_{number}", "bash", {"command": step.command})
        for happening in script.get(number, ()):
            if happening.kind == "discover":
                query: JsonObject = {"query": f"select:{happening.value}"}
                yield _answer("I look for a tool.", f"find_{number}", "tool_search", query)
            if happening.kind in ("discover", "use"):
                arguments = _ARGUMENTS.get(happening.value, {"subject": "tests"})
                name = happening.value
                if strategy == "bridge":
                    name, arguments = BRIDGE_NAME, {"name": name, "arguments": arguments}
                yield _answer("I use it.", f"use_{number}", name, arguments)
    yield {"blocks": [{"type": "text", "text": "Done."}]}


def _answer(text: str, call_id: str, name: str, arguments: JsonObject) -> JsonObject:
    blocks: list[JsonObject] = [{"type": "tool_use", "id": call_id, "name": name, "input": arguments}]
    if text.strip():
        blocks.insert(0, {"type": "text", "text": text})
    return {"blocks": list(blocks)}
