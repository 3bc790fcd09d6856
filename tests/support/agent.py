"""A run of the agent without a world: a scripted model, tools that wait for the test, a log in memory, one environment.

Nothing here sleeps. A `Gate` stands in a script or in a tool; the test waits until the run has reached it, does what it
wants to do in that very moment, and opens it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from openprogram.agent.environment import Environment, History, Resumed, Setup
from openprogram.agent.freeze import freeze
from openprogram.agent.loop import run
from openprogram.agent.stop import StopSignal
from openprogram.context.assembler import PromptContext
from openprogram.core.errors import RequestError, StorageError
from openprogram.core.events import Event, TurnFinished
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import Block, Message, Role, TextBlock, ToolResultBlock, ToolUseBlock
from openprogram.core.prompt import (
    Completed,
    Failed,
    FailureCode,
    ModelInfo,
    ModelParams,
    ProviderEvent,
    ProviderFailure,
    ProviderRequest,
    ResponseStarted,
    StopReason,
    Surface,
    TextPiece,
)
from openprogram.core.tooling import ContractTool, LoadedSet, ToolContext, ToolOutput, ToolSpec
from openprogram.core.usage import Usage
from openprogram.tokens import count_tokens
from openprogram.tools.registry import Registry
from openprogram.tools.search.finder import Finder
from tests.support.tools import Switches, resolved, spec

E = TypeVar("E")

NOON = 1_767_268_800.0
"""2026-01-01T12:00:00Z: the time in every test that does not move it."""

MODEL = ModelInfo("fake/model", "fake", "model", "A model")


class Gate:
    """A place where a run waits until the test lets it go on."""

    def __init__(self) -> None:
        self._reached = asyncio.Event()
        self._opened = asyncio.Event()
        self._error: Exception | None = None
        self.cancelled = False

    async def wait(self) -> None:
        """Called by what is held."""
        self._reached.set()
        try:
            await self._opened.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if self._error is not None:
            raise self._error

    async def reached(self) -> None:
        """Wait until somebody stands at the gate."""
        await self._reached.wait()

    def open(self) -> None:
        """Let everybody pass from now on."""
        self._opened.set()

    def fail(self, error: Exception) -> None:
        """Raise this in everybody who stands at the gate, or comes to it."""
        self._error = error
        self._opened.set()


Script = Sequence[ProviderEvent | Gate]


def say(*texts: str, usage: Usage | None = None) -> Script:
    """An answer of text in these pieces, whole."""
    pieces = [TextPiece(0, text) for text in texts]
    return (ResponseStarted(), *pieces, completed(TextBlock("".join(texts)), usage=usage))


def call(*calls: ToolUseBlock, text: str = "", usage: Usage | None = None) -> Script:
    """An answer that asks for these calls."""
    blocks: tuple[Block, ...] = (TextBlock(text), *calls) if text else calls
    pieces = [TextPiece(0, text)] if text else []
    return (ResponseStarted(), *pieces, completed(*blocks, stop_reason="tool_use", usage=usage))


def completed(*blocks: Block, stop_reason: StopReason = "end_turn", usage: Usage | None = None) -> Completed:
    """The last event of a whole answer."""
    return Completed(blocks, stop_reason, usage or Usage(uncached=10, cache_read=0, output=5))


def failed(code: FailureCode = "overloaded", *blocks: Block) -> Failed:
    """The last event of an answer that failed."""
    return Failed(ProviderFailure(code, f"{code} happened", "retry"), blocks)


_CALL_NUMBERS = count(1)


def use(name: str, call_id: str | None = None, **arguments: Any) -> ToolUseBlock:
    """A call."""
    return ToolUseBlock(call_id or f"c_{next(_CALL_NUMBERS)}", name, arguments)


class ScriptedProvider:
    """Answers the n-th request with the n-th script and keeps the requests.

    A script that is not there is a fault of the test and crashes the run.
    """

    def __init__(self, *scripts: Script) -> None:
        self.scripts = list(scripts)
        self.requests: list[ProviderRequest] = []
        self.open_streams = 0

    async def stream(self, request: ProviderRequest) -> AsyncIterator[ProviderEvent]:
        self.requests.append(request)
        script = self.scripts.pop(0)
        self.open_streams += 1
        try:
            for event in script:
                if isinstance(event, Gate):
                    await event.wait()
                else:
                    yield event
        finally:
            self.open_streams -= 1

    async def models(self) -> tuple[ModelInfo, ...]:
        return (MODEL,)

    async def aclose(self) -> None:
        assert self.open_streams == 0


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

    def take_steered(self) -> bool:
        steered, self.steered = self.steered, False
        return steered

    async def next_input(self, *, unanswered: bool) -> bool:
        await asyncio.sleep(0)
        if not self.waiting:
            return unanswered
        self.history.append(message("user", self.waiting.pop(0), self.history.leaf_id))
        return True


@dataclass
class FakeSurfaces:
    """The `Surfaces` port."""

    current: Surface | None = None
    all: list[Surface] = field(default_factory=list)

    def accepted(self, surface: Surface) -> None:
        self.current = surface
        self.all.append(surface)


_MESSAGE_NUMBERS = count(1)


def message(role: Role, content: str | Sequence[Block], parent_id: str | None, **fields: Any) -> Message:
    """A message below another one."""
    blocks = (TextBlock(content),) if isinstance(content, str) else tuple(content)
    made = Message(f"m_{next(_MESSAGE_NUMBERS)}", parent_id, role, blocks, "2026-01-01T12:00:00.000Z")
    return replace(made, **fields)


def chain(*parts: tuple[Role, str | Sequence[Block]]) -> list[Message]:
    """A branch of messages, each below the one before."""
    branch: list[Message] = []
    for role, content in parts:
        branch.append(message(role, content, branch[-1].id if branch else None))
    return branch


class Chat:
    """One chat as the loop sees it. The test changes `intent`, `registry` and `switches`, as the world outside does."""

    def __init__(self, provider: ScriptedProvider, *tools: FakeTool, said: str = "hello") -> None:
        self.provider = provider
        self.registry = Registry()
        self.registry.put("builtin", [tool.spec for tool in tools])
        self.intent = ToolIntent(toolset="full")
        self.switches = Switches("auto")
        self.emit = RecordingEmit()
        self.history = History(chain(("user", said)))
        self.inbox = FakeInbox(self.history)
        self.surfaces = FakeSurfaces()
        self.loaded = LoadedSet()
        self.finder = Finder()
        self.stop = StopSignal()
        self.refusals: list[RequestError] = []
        self.floor: tuple[str, ...] = ()
        self.now = NOON
        self.max_steps = 200
        self.setups = 0

    async def prepare(self) -> Setup:
        self.setups += 1
        await asyncio.sleep(0)
        if self.refusals:
            raise self.refusals.pop(0)
        snapshot = self.registry.snapshot
        resolution = resolved(self.intent, snapshot)
        return Setup(
            contract=freeze(resolution, lambda tool: ContractTool(tool, tool.execute)),
            floor=tuple(tool for name in self.floor if (tool := snapshot.get(name)) is not None),
            unknown=resolution.unknown,
            dropped=frozenset(resolution.dropped),
            rank=partial(self.finder.rank, snapshot),
            count=count_tokens,
            model=MODEL,
            provider=self.provider,
            params=ModelParams(),
            prompt=PromptContext("/workspace", "linux"),
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
            history=self.history,
            loaded=self.loaded,
            stop=self.stop,
            clock=lambda: self.now,
            monotonic=lambda: self.now,
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
    def reasons(self) -> list[str]:
        """How the turns ended."""
        return [event.reason for event in self.emit.of(TurnFinished)]


def assert_paired(messages: Iterable[Message]) -> None:
    """Each call has exactly one result, in the message right below its answer, in the order of the calls (law 7)."""
    branch = list(messages)
    for answer, after in zip(branch, [*branch[1:], None], strict=True):
        if answer.calls:
            assert after is not None, "an answer's calls have no results"
            assert after.role == "tool"
            assert [result.call_id for result in after.results] == [call.call_id for call in answer.calls]
        elif answer.role == "assistant" and after is not None:
            assert after.role != "tool", "results without a call"
