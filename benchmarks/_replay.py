"""One recorded session through the real agent loop and a real adapter, against the fake API; the rest of the program is
stood in for by what the loop's ports need. What happens in it (`_traces.Script`) happens as in a chat: switches
change the intent at once, the loop reads it at its next turn; a restart keeps what is stored and nothing else.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from _traces import BIG, Happening, Script, Session

from openprogram.agent.environment import Environment, History, Progress, Setup
from openprogram.agent.freeze import freeze
from openprogram.agent.loop import run
from openprogram.agent.stop import StopSignal
from openprogram.context.assembler import PromptContext
from openprogram.core.asking import Answer, ApprovalRequested
from openprogram.core.clock import iso_time
from openprogram.core.events import Event, StepStarted, TurnFinished
from openprogram.core.ids import new_id
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonObject, encode
from openprogram.core.loaded import LoadedSet
from openprogram.core.messages import Message, TextBlock
from openprogram.core.news import News
from openprogram.core.ports import PermissionState, Provider
from openprogram.core.prompt import ModelInfo, ModelParams
from openprogram.core.protocol.codec import decode_message
from openprogram.core.surface import Surface
from openprogram.core.tooling import DISCOVERY_TOOL, AgentProfile, Snapshot, ToolContext, ToolOutput, ToolSpec
from openprogram.session_config.layers import Layers, merge
from openprogram.tokens import count_tokens
from openprogram.tools.leaving import LeftBehind
from openprogram.tools.registry import Registry
from openprogram.tools.resolve import resolve
from openprogram.tools.search.finder import Finder
from openprogram.tools.wrap import wrap

SERVER: Final = "mcp:bench"
_NOTHING: Final = ToolIntent()
_MAX_STEPS: Final = 1_000
PLAN: Final = {"on": "The user has switched plan mode on: change nothing.", "off": "Plan mode is off again."}


@dataclass(frozen=True, slots=True)
class Sent:
    """Why the surface of a request is what it is. `switched`: an intent was changed since the request before it."""

    reason: str
    causes: tuple[str, ...]
    switched: bool


def served(names: Sequence[str]) -> tuple[ToolSpec, ...]:
    """Tools of an MCP server."""
    parameters: JsonObject = {
        "type": "object",
        "properties": {"subject": {"type": "string", "description": "What to look at."}},
        "required": ["subject"],
        "additionalProperties": False,
    }

    async def run_it(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        return ToolOutput.text(f"{context.call_id}: nothing new.")

    return tuple(ToolSpec(name, f"Report on {name}.", parameters, run_it, source=SERVER) for name in names)


@dataclass
class Chat:
    """One chat: what the store would keep, and the ports of its runs. `naive` rebuilds the surface at each request."""

    session: Session
    script: Script
    registry: Registry
    model: ModelInfo
    provider: Provider
    served: tuple[ToolSpec, ...]
    naive: bool = False
    intent: ToolIntent = _NOTHING
    revision: int = 0
    sent: list[Sent] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    surface: Surface | None = None
    waiting: list[str] = field(default_factory=list)
    news: list[News] = field(default_factory=list)
    step: int = 0
    restart: bool = False
    switched: bool = False

    async def replay(self) -> None:
        """The session from its first message to its end."""
        self.history = History((self._said(self.session.task, None),))
        self.loaded = LoadedSet()
        self.progress = Progress()
        await run(self._environment())
        while self.waiting:  # a restart ended the run: what is stored is read back
            stored = [decode_message(encode(message)) for message in self.history.messages]
            self.history = History(stored)
            self.loaded = LoadedSet(self.loaded.names)
            self.progress = Progress()
            self.restart = False
            self.history.append(self._said(self.waiting.pop(0), self.history.leaf_id))
            await run(self._environment())

    # -- what the recorded calls do -------------------------------------------------------------------------------

    async def bash(self, _arguments: JsonObject, context: ToolContext) -> ToolOutput:
        """What the command gave then; and what the script has happen meanwhile."""
        step = int(context.call_id.removeprefix("call_"))
        output = self.session.steps[step].output
        for happening in self.script.get(step, ()):
            if happening.kind == "big":
                output = (output + "\n") * (BIG // (len(output) + 1) + 1)
            else:
                self._happen(happening)
        return ToolOutput.text(output)

    def _happen(self, happening: Happening) -> None:
        value = happening.value
        match happening.kind:
            case "web_search":
                self._switch(replace(self.intent, web_search=value == "on"))
            case "disable":
                self._switch(replace(self.intent, disabled=(value,)))
            case "enable":
                self._switch(replace(self.intent, disabled=()))
            case "preset":
                self._switch(replace(self.intent, toolset=value or None))
            case "drop":
                self.registry.put(SERVER, ())
            case "return":
                self.registry.put(SERVER, tuple(reversed(self.served)))
            case "plan":
                self.news.append(News(f"plan-{len(self.sent)}", PLAN[value]))
            case "restart":
                self.restart = True
            case "say":
                self.waiting.append(value)
            case _:
                pass

    def _switch(self, intent: ToolIntent) -> None:
        self.intent = intent
        self.revision += 1
        self.switched = True

    # -- ports ----------------------------------------------------------------------------------------------------

    def __call__(self, *events: Event) -> None:
        """The `Emit` port."""
        for event in events:
            if isinstance(event, StepStarted):
                self.sent.append(Sent(event.reason, event.causes, self.switched))
                self.switched = False
            elif isinstance(event, TurnFinished) and event.error is not None:
                self.failures.append(event.error.message)

    async def flush(self) -> None:
        """Nothing is stored."""

    @property
    def current(self) -> Surface | None:
        """The `Surfaces` port."""
        return None if self.naive else self.surface

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
        self.history.append(self._said(self.waiting.pop(0), self.history.leaf_id))
        return True

    def authorised_now(self, name: str) -> bool:
        """The `Authority` port."""
        return name not in self.intent.disabled

    def permission(self) -> PermissionState:
        """The `Authority` port."""
        return PermissionState("auto", ())

    async def ask(self, request: ApprovalRequested) -> Answer:
        """The `Ask` port: in mode `auto` nobody is asked."""
        raise RuntimeError(f"{request.tool} asked for approval")

    async def prepare(self) -> Setup:
        """The `Prepare` port."""
        snapshot = self.registry.snapshot
        merged = merge(Layers(session=self.intent))
        resolved = resolve(merged, snapshot, AgentProfile(), "web", revision=self.revision)
        return Setup(
            contract=freeze(resolved, lambda spec: wrap(spec, self, self.ask, LeftBehind())),
            floor=_floor(snapshot),
            unknown=resolved.unknown,
            dropped=frozenset(resolved.dropped),
            rank=partial(Finder().rank, snapshot),
            count=count_tokens,
            model=self.model,
            provider=self.provider,
            params=ModelParams(),
            prompt=PromptContext("linux"),
            workspace=Path("/workspace"),
        )

    async def _news(self, _session_id: str) -> tuple[News, ...]:
        return tuple(self.news)

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
            clock=time.time,
            monotonic=time.monotonic,
            loaded=self.loaded,
            progress=self.progress,
            news=self._news,
            max_steps=_MAX_STEPS,
        )

    def _said(self, text: str, parent: str | None) -> Message:
        return Message(new_id("m"), parent, "user", (TextBlock(text),), iso_time(time.time()))


def _floor(snapshot: Snapshot) -> tuple[ToolSpec, ...]:
    found = (snapshot.get(name) for name in (DISCOVERY_TOOL, "web_search"))
    return tuple(spec for spec in found if spec is not None)
