"""One recorded session through the real agent loop and a real adapter, against the fake API; the rest of the program is
stood in for by what the loop's ports need. What happens in it (`_script`) happens as in a chat: switches change the
intent at once, the loop reads it at its next turn; a restart keeps what is stored and nothing else.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from _script import BIG, OFF_AND_ON, Happening, Script
from _traces import Session
from _world import World
from pydantic import TypeAdapter

from openprogram.agent.environment import Environment, History, Progress, Setup
from openprogram.agent.freeze import freeze
from openprogram.agent.loop import run
from openprogram.agent.stop import StopSignal
from openprogram.context.assembler import PromptContext
from openprogram.core.asking import Answer, ApprovalRequested
from openprogram.core.clock import iso_time
from openprogram.core.events import Event, StepFinished, StepStarted, TurnFinished, TurnStarted
from openprogram.core.ids import new_id
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import encode
from openprogram.core.loaded import LoadedSet
from openprogram.core.messages import Message, Role, TextBlock
from openprogram.core.ports import PermissionState
from openprogram.core.prompt import ModelParams
from openprogram.core.protocol.codec import decode_message
from openprogram.core.sent import PutSent
from openprogram.core.storage import Node, UsageRow
from openprogram.core.surface import Surface, SurfacePlan
from openprogram.core.tooling import AgentProfile, Resolution, Snapshot, ToolContext, ToolOutput
from openprogram.ledger.inspect import Inspected, inspect
from openprogram.ledger.log import newest
from openprogram.session_config.layers import Layers, merge
from openprogram.sessions.effective import floor
from openprogram.tokens import count_tokens
from openprogram.tools.leaving import LeftBehind
from openprogram.tools.resolve import resolve, turn_view
from openprogram.tools.search.finder import Finder
from openprogram.tools.wrap import wrap

_NOTHING: Final = ToolIntent()
_MAX_STEPS: Final = 1_000
_NOON: Final = 1_767_268_800.0
PLAN: Final = {
    "on": "Plan mode is on: look and think, change nothing. When the plan stands, call exit_plan_mode; it loads like "
    "any other tool.",
    "off": "Plan mode is off: the user has left it.",
}
_SURFACES: Final = TypeAdapter(Surface)


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: why its surface is what it is, and whether a switch was flipped or came into force since the one
    before it."""

    plan: SurfacePlan
    loaded: tuple[str, ...]
    switched: bool


@dataclass
class Chat:
    """One chat: what the store would keep, and the ports of its runs. `naive` declares anew for each request exactly
    what is authorised then."""

    session: Session
    script: Script
    world: World
    naive: bool = False
    intent: ToolIntent = _NOTHING
    revision: int = 0
    requests: list[Sent] = field(default_factory=list)
    kept: list[PutSent] = field(default_factory=list)
    counted: list[UsageRow] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    happened: list[Happening] = field(default_factory=list)
    surface: Surface | None = None
    waiting: list[str] = field(default_factory=list)
    reminders: list[str] = field(default_factory=list)
    restart: bool = False
    switched: bool = False
    in_force: int = 0

    async def replay(self) -> None:
        """The session from its first message to its end."""
        self._ticks = count()
        self.history = History((self._said("user", self.session.task, None),))
        self.loaded = LoadedSet()
        self.progress = Progress()
        await run(self._environment())
        while self.waiting:
            await self._begin_again()
            self._take()
            await run(self._environment())

    async def _begin_again(self) -> None:
        """Another process: it has what was stored, and the message that waited."""
        self.restart = False
        await self.world.boot()
        self.history = History([decode_message(encode(message)) for message in self.history.messages])
        self.loaded = LoadedSet(self.loaded.names)
        self.surface = None if self.surface is None else _SURFACES.validate_json(encode(self.surface))
        last = newest([put.record for put in self.kept], self.counted)
        self.progress = Progress(outline=last.outline, answered=last.answered)

    def inspected(self) -> tuple[Inspected, ...]:
        """What the inspector makes of the requests."""
        nodes = [Node(message.id, message.parent_id, message.role) for message in self.history.messages]
        return inspect([put.record for put in self.kept], self.counted, nodes)

    # -- what the recorded calls do -------------------------------------------------------------------------------

    async def bash(self, context: ToolContext) -> ToolOutput:
        """What the command gave then; and what the script has happen meanwhile."""
        step = int(context.call_id.removeprefix("call_"))
        output = self.session.steps[step].output
        for happening in self.script.get(step, ()):
            self.happened.append(happening)
            if happening.kind == "big":
                output = (output + "\n") * (BIG // (len(output) + 1) + 1)
            else:
                self._happen(happening)
        return ToolOutput.text(output)

    def _happen(self, happening: Happening) -> None:
        value, on = happening.value, happening.value == "on"
        match happening.kind:
            case "web_search":
                self._switch(replace(self.intent, web_search=on))
            case "tool":
                self._switch(replace(self.intent, disabled=() if on else (OFF_AND_ON,)))
            case "preset":
                self._switch(replace(self.intent, toolset=value or None))
            case "plan":
                self.world.planning = on
                self.reminders.append(PLAN[value])
                self.switched = True
            case "server":
                self.world.serve(up=on)
            case "restart":
                self.restart = True
            case "say":
                self.waiting.append(value)
            case _:
                pass  # what the model does next stands in its answers

    def _switch(self, intent: ToolIntent) -> None:
        self.intent = intent
        self.revision += 1
        self.switched = True

    # -- ports ----------------------------------------------------------------------------------------------------

    def __call__(self, *events: Event) -> None:
        """The `Emit` port."""
        for event in events:
            match event:
                case TurnStarted():
                    self.switched = self.switched or event.intent_revision != self.in_force
                    self.in_force = event.intent_revision
                case StepStarted():
                    self.requests.append(Sent(event.plan, self.loaded.names, self.switched))
                    self.switched = False
                case StepFinished():
                    row = UsageRow(event.turn_id, event.step, event.model, event.usage, event.cost)
                    self.counted.append(row)
                case TurnFinished() if event.error is not None:
                    self.failures.append(event.error.message)
                case _:
                    pass

    async def flush(self) -> None:
        """Nothing is stored."""

    @property
    def current(self) -> Surface | None:
        """The `Surfaces` port."""
        return None if self.naive else self.surface

    @property
    def forced(self) -> bool:
        """The `Surfaces` port."""
        return False

    def accepted(self, surface: Surface) -> None:
        """The `Surfaces` port."""
        self.surface = surface

    def take_steered(self) -> bool:
        """The `Inbox` port."""
        return bool(self.waiting)

    async def next_input(self, *, unanswered: bool) -> bool:
        """The `Inbox` port. Where a restart is due the run ends here."""
        if self.restart:
            return False
        if not self.waiting:
            return unanswered
        self._take()
        return True

    def _take(self) -> None:
        """The message that waits, and behind it what has to be told with it (spec cache.md C6, C12)."""
        self._append("user", self.waiting.pop(0))
        for reminder in self.reminders:
            self._append("notice", reminder)
        self.reminders.clear()

    def authorised_now(self, name: str) -> bool:
        """The `Authority` port."""
        return name in self._resolved(turn_view(self.frozen, self.world.registry.snapshot)).names

    def permission(self) -> PermissionState:
        """The `Authority` port."""
        return PermissionState("auto", ())

    async def ask(self, request: ApprovalRequested) -> Answer:
        """The `Ask` port: in mode `auto` nobody is asked."""
        raise RuntimeError(f"{request.tool} asked for approval")

    async def prepare(self) -> Setup:
        """The `Prepare` port."""
        snapshot = self.frozen = self.world.registry.snapshot
        resolved = self._resolved(snapshot)
        return Setup(
            contract=freeze(resolved, lambda spec: wrap(spec, self, self.ask, LeftBehind())),
            floor=() if self.naive else floor(snapshot, resolved, self.world.model),
            unknown=resolved.unknown,
            dropped=frozenset(resolved.dropped),
            rank=partial(Finder().rank, snapshot),
            count=count_tokens,
            model=self.world.model,
            provider=self.world.provider,
            params=ModelParams(),
            prompt=PromptContext("linux"),
            workspace=Path("/workspace"),
        )

    def _resolved(self, snapshot: Snapshot) -> Resolution:
        return resolve(merge(Layers(session=self.intent)), snapshot, AgentProfile(), "web", revision=self.revision)

    def _environment(self) -> Environment:
        return Environment(
            session_id=self.session.id,
            emit=self,
            prepare=self.prepare,
            authority=self,
            inbox=self,
            surfaces=self,
            history=self.history,
            stop=StopSignal(),
            clock=self._now,
            monotonic=self._now,
            loaded=self.loaded,
            sent=self.kept.append,
            boot_id=f"boot-{self.world.boots}",
            progress=self.progress,
            max_steps=_MAX_STEPS,
        )

    def _now(self) -> float:
        """The same in each replay: a clock that goes on when it is looked at."""
        return _NOON + next(self._ticks) / 1_000

    def _append(self, role: Role, text: str) -> None:
        self.history.append(self._said(role, text, self.history.leaf_id))

    def _said(self, role: Role, text: str, parent: str | None) -> Message:
        return Message(new_id("m"), parent, role, (TextBlock(text),), iso_time(self._now()))
