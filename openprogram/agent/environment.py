"""Everything a run of the agent is handed. The loop knows nothing else of the world."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from openprogram.agent.stop import StopSignal
from openprogram.context.assembler import PromptContext
from openprogram.context.catalog import Count
from openprogram.context.compaction import shown
from openprogram.core.asking import AskPerson
from openprogram.core.chats import Chats
from openprogram.core.clock import Clock
from openprogram.core.events import ErrorInfo
from openprogram.core.ids import new_id
from openprogram.core.loaded import LoadedSet
from openprogram.core.messages import Message, ToolResultBlock
from openprogram.core.news import NewsOf, no_news
from openprogram.core.obstacles import Obstacle
from openprogram.core.ports import Authority, Emit, Inbox, Provider, Surfaces
from openprogram.core.prompt import ModelInfo, ModelParams, ProviderRequest, Segment
from openprogram.core.sent import PutSent
from openprogram.core.surface import Capability, Strategy, SurfacePlan
from openprogram.core.tooling import Contract, ToolSpec
from openprogram.core.usage import Usage
from openprogram.ledger.difference import Outline
from openprogram.ledger.verdict import Answered as AnsweredRequest
from openprogram.surface.strategies import downgraded

Rank = Callable[[str, Collection[str], int], Awaitable[tuple[str, ...]]]
"""The names of the tools that fit a query best, among those named and at most so many."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What one turn works with, read anew at its start: newest intent, live registry, chosen model."""

    contract: Contract
    floor: tuple[ToolSpec, ...]
    """Tools to declare from the first request on, authorised or not (spec cache.md C1)."""
    unknown: tuple[str, ...]
    """Names in the intent that no tool has."""
    dropped: frozenset[str]
    """Registered tools that are not authorised: they leave the loaded set."""
    rank: Rank
    """Finds tools among those of the registry as it was frozen."""
    count: Count
    """Tokens of a name in the catalog, or more."""
    model: ModelInfo
    provider: Provider
    params: ModelParams
    prompt: PromptContext
    """The system prompt but for the catalog, which the surface keeps."""
    workspace: Path
    faults: tuple[ErrorInfo, ...] = ()
    """What the turn goes on in spite of; people are told."""


class Capabilities(Protocol):
    """What endpoints can do, less what they have refused (spec cache.md C9)."""

    def of(self, model: ModelInfo) -> Capability:
        """What this model's endpoint can do, as far as is known by now."""
        ...

    async def refused(self, model: ModelInfo, strategy: Strategy) -> None:
        """The endpoint has refused this, and took the same request without it: remember that."""
        ...

    async def refused_diagnosis(self, model: ModelInfo) -> None:
        """The endpoint has refused to be asked what its cache did, and took the same request unasked: remember that."""
        ...


class AsStated(Capabilities):
    """What models state of themselves, less what was refused since this was made."""

    def __init__(self) -> None:
        self._refused: set[tuple[str, Strategy]] = set()
        self._unasked: set[str] = set()

    def of(self, model: ModelInfo) -> Capability:
        """See `Capabilities.of`."""
        known = model.capability
        if model.id in self._unasked:
            known = replace(known, diagnosis=False)
        return downgraded(known) if (model.id, known.strategy) in self._refused else known

    async def refused(self, model: ModelInfo, strategy: Strategy) -> None:
        """See `Capabilities.refused`."""
        self._refused.add((model.id, strategy))

    async def refused_diagnosis(self, model: ModelInfo) -> None:
        """See `Capabilities.refused_diagnosis`."""
        self._unasked.add(model.id)


Answered = Callable[[ModelInfo, ProviderRequest, SurfacePlan, Usage], None]
"""Is told of each request that was answered whole. Never blocks."""


def _kept_nowhere(sent: PutSent) -> None:
    """Nobody wants to know what was sent."""


class Prepare(Protocol):
    """Makes the setup of the next turn. Raises `RequestError` where none can be made (unknown preset, no endpoint)."""

    async def __call__(self) -> Setup:
        """Read the newest intent, resolve and freeze."""
        ...


class History:
    """The active branch, append-only, as one shared value of a run."""

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        self._messages = list(messages)
        self._view: tuple[Message, ...] | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The branch from its root."""
        return tuple(self._messages)

    @property
    def view(self) -> tuple[Message, ...]:
        """What a model sees of it (spec cache.md C16)."""
        if self._view is None:
            self._view = shown(self._messages)
        return self._view

    @property
    def leaf_id(self) -> str | None:
        """Id of the last message."""
        return self._messages[-1].id if self._messages else None

    @property
    def last(self) -> Message | None:
        """The last message."""
        return self._messages[-1] if self._messages else None

    def append(self, message: Message) -> None:
        """Add a message below the leaf; raises `ValueError` for any other place."""
        if message.parent_id != self.leaf_id:
            raise ValueError(f"{message.id} is not below the leaf {self.leaf_id}")
        self._messages.append(message)
        self._view = None


@dataclass(slots=True)
class Progress:
    """What is carried from request to request of one session, where known: the last one's segments and what was sent of
    it, and of each model the last request that was answered, and by which of the endpoint's answers."""

    segments: tuple[Segment, ...] = ()
    outline: Outline | None = None
    answered: dict[str, AnsweredRequest] = field(default_factory=dict)
    answer_ids: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resumed:
    """A turn that goes on after a restart: the history ends in an answer whose calls have no recorded results.

    `steps` are the requests that it made already; `results` those that its calls had, which are not run again;
    `fingerprint` is the contract's that it had, `discovered` the tools that these calls asked to have loaded.
    """

    turn_id: str
    steps: int
    results: Mapping[str, ToolResultBlock]
    fingerprint: str
    discovered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CompactNow:
    """The first turn of the run answers nothing: the user has asked for a compaction, and that is all it does."""


Errand = Resumed | CompactNow | None
"""What a run begins with; None: the user input that its history ends in."""


@dataclass(frozen=True, slots=True)
class ToolPorts:
    """What the calls of a run reach beyond the agent; None: not from here."""

    person: AskPerson | None = None
    chats: Chats | None = None
    obstacle: Callable[[ToolSpec], Obstacle | None] = lambda _tool: None
    """What stands in the way of a tool's calls at this moment; asked at each dispatch (spec tools.md T12, T21)."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The ports and values of one run."""

    session_id: str
    emit: Emit
    prepare: Prepare
    authority: Authority
    inbox: Inbox
    surfaces: Surfaces
    history: History
    stop: StopSignal
    clock: Clock
    monotonic: Callable[[], float]
    loaded: LoadedSet = field(default_factory=LoadedSet)
    answered: Answered = lambda _model, _request, _plan, _usage: None
    sent: Callable[[PutSent], None] = _kept_nowhere
    """Keeps what was sent. Never blocks."""
    boot_id: str = ""
    progress: Progress = field(default_factory=Progress)
    capabilities: Capabilities = field(default_factory=AsStated)
    news: NewsOf = no_news
    tool_ports: ToolPorts = field(default_factory=ToolPorts)
    max_steps: int = 200
    turn_id: Callable[[], str] = partial(new_id, "t")  # noqa: RUF009 - the call is not made here
    """Asked once for each turn that begins; the message that it answers may have been stored with it."""
