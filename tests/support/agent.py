"""A run of the agent without a world: a scripted model, tools that wait for the test, a log in memory."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from openprogram.agent.environment import AsStated, Environment, History, Progress, Resumed, Setup, ToolPorts
from openprogram.agent.freeze import freeze
from openprogram.agent.loop import run
from openprogram.agent.stop import StopSignal
from openprogram.context.assembler import PromptContext
from openprogram.core.errors import RequestError, StorageError
from openprogram.core.events import Event, MessageAdded, StepFinished, TurnFinished
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonObject
from openprogram.core.loaded import LoadedSet
from openprogram.core.messages import ToolResultBlock
from openprogram.core.ports import Provider
from openprogram.core.prompt import ModelParams
from openprogram.core.sent import PutSent
from openprogram.core.surface import Surface
from openprogram.core.tooling import ContractTool, ToolContext, ToolOutput, ToolSpec
from openprogram.tokens import count_tokens
from openprogram.tools.registry import Registry
from openprogram.tools.search.finder import Finder
from tests.support.script import MODEL, Gate, ScriptedProvider, chain, message
from tests.support.tools import Switches, resolved, spec

E = TypeVar("E")

NOON = 1_767_268_800.0
"""2026-01-01T12:00:00Z: the time in every test that does not move it."""


class FakeTool:
    """A tool that keeps its calls and does what `act` does."""

    def __init__(
        self, name: str, act: Callable[[JsonObject, ToolContext], Awaitable[ToolOutput]] | None = None, **fields: Any
    ) -> None:
        self.calls: list[JsonObject] = []
        self._act = act
        self.spec: ToolSpec = spec(name, execute=self._execute, **{"readonly": True, "residency": "resident", **fields})

    async def _execute(self, arguments: JsonObject, context: ToolContext) -> ToolOutput:
        self.calls.append(arguments)
        if self._act is not None:
            return await self._act(arguments, context)
        return ToolOutput.text(f"{self.spec.name} is done")


def held(gate: Gate, text: str = "held and done") -> Callable[[JsonObject, ToolContext], Awaitable[ToolOutput]]:
    """What a tool does that waits at a gate."""

    async def act(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        await gate.wait()
        return ToolOutput.text(text)

    return act


async def counted_here(texts: Sequence[str]) -> Sequence[int]:
    """Counts tokens without a process for it."""
    return [count_tokens(text) for text in texts]


class RecordingEmit:
    """The `Emit` port: keeps what was handed over together. `broken` makes `flush` fail as a lost store does."""

    def __init__(self) -> None:
        self.commits: list[tuple[Event, ...]] = []
        self.flushes = 0
        self.broken: StorageError | None = None

    def __call__(self, *events: Event) -> None:
        if self.broken is None:
            self.commits.append(events)

    async def flush(self) -> None:
        self.flushes += 1
        await asyncio.sleep(0)
        if self.broken is not None:
            raise self.broken

    @property
    def events(self) -> list[Event]:
        """Everything, in order."""
        return [event for commit in self.commits for event in commit]

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]


@dataclass
class FakeInbox:
    """The `Inbox` port: `waiting` go into the history one by one."""

    history: History
    waiting: list[str] = field(default_factory=list)
    steered: bool = False
    emit: "RecordingEmit | None" = None
    """Where the messages that come in are told, as the real one tells them."""

    def take_steered(self) -> bool:
        steered, self.steered = self.steered, False
        return steered

    async def next_input(self, *, unanswered: bool) -> bool:
        await asyncio.sleep(0)
        if not self.waiting:
            return unanswered
        said = message("user", self.waiting.pop(0), self.history.leaf_id)
        if self.emit is not None:
            self.emit(MessageAdded(said))
        self.history.append(said)
        return True


@dataclass
class FakeSurfaces:
    """The `Surfaces` port."""

    current: Surface | None = None
    all: list[Surface] = field(default_factory=list)
    forced_epoch: int | None = None

    @property
    def forced(self) -> bool:
        return self.current is not None and self.current.epoch == self.forced_epoch

    def accepted(self, surface: Surface) -> None:
        self.current = surface
        self.all.append(surface)


class Chat:
    """One chat as the loop sees it. The test changes `intent`, `registry` and `switches`, as the world outside does."""

    def __init__(self, provider: ScriptedProvider, *tools: FakeTool, said: str = "hello") -> None:
        self.provider = provider
        self.endpoint: Provider = provider
        self.registry = Registry()
        self.registry.put("builtin", [tool.spec for tool in tools])
        self.intent = ToolIntent(toolset="full")
        self.switches = Switches("auto")
        self.emit = RecordingEmit()
        self.history = History(chain(("user", said)))
        self.inbox = FakeInbox(self.history)
        self.surfaces = FakeSurfaces()
        self.progress = Progress()
        self.sent: list[PutSent] = []
        self.loaded = LoadedSet()
        self.finder = Finder()
        self.stop = StopSignal()
        self.refusals: list[RequestError] = []
        self.floor: tuple[str, ...] = ()
        self.model = MODEL
        self.capabilities = AsStated()
        self.tool_ports = ToolPorts()
        self.now = NOON
        self.max_steps = 200
        self.setups = 0
        self.wrap: Callable[[ToolSpec], ContractTool] = lambda tool: ContractTool(tool, tool.execute)

    async def prepare(self) -> Setup:
        self.setups += 1
        await asyncio.sleep(0)
        if self.refusals:
            raise self.refusals.pop(0)
        snapshot = self.registry.snapshot
        resolution = resolved(self.intent, snapshot)
        return Setup(
            contract=freeze(resolution, self.wrap),
            floor=tuple(tool for name in self.floor if (tool := snapshot.get(name)) is not None),
            unknown=resolution.unknown,
            dropped=frozenset(resolution.dropped),
            rank=partial(self.finder.rank, snapshot),
            count=count_tokens,
            model=self.model,
            provider=self.endpoint,
            params=ModelParams(),
            prompt=PromptContext("linux"),
            workspace=Path("/workspace"),
        )

    @property
    def environment(self) -> Environment:
        """What `run` is handed."""
        return Environment(
            session_id="s_1",
            emit=self.emit,
            prepare=self.prepare,
            authority=self.switches,
            inbox=self.inbox,
            surfaces=self.surfaces,
            progress=self.progress,
            history=self.history,
            loaded=self.loaded,
            capabilities=self.capabilities,
            tool_ports=self.tool_ports,
            stop=self.stop,
            clock=lambda: self.now,
            monotonic=lambda: self.now,
            sent=self.sent.append,
            max_steps=self.max_steps,
        )

    async def run(self, resumed: Resumed | None = None) -> None:
        """Run to the end."""
        await run(self.environment, resumed)

    def begin(self, group: asyncio.TaskGroup) -> "asyncio.Task[None]":
        """Run beside the test."""
        return group.create_task(self.run())

    @property
    def results(self) -> list[ToolResultBlock]:
        """Every result in the history, in order."""
        return [result for answer in self.history.messages for result in answer.results]

    @property
    def steps(self) -> list[StepFinished]:
        """The requests that were answered."""
        return self.emit.of(StepFinished)

    @property
    def reasons(self) -> list[str]:
        """How the turns ended."""
        return [event.reason for event in self.emit.of(TurnFinished)]
