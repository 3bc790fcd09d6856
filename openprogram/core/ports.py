"""What the layers below and above are to each other: protocols, so that a second implementation needs no change here.
None assumes one process or SQLite: PostgreSQL may carry the store, Redis or NATS the bus."""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from openprogram.core.asking import QuestionRow
from openprogram.core.events import (
    Event,
    PermissionMode,
    SessionInfo,
    StepFinished,
)
from openprogram.core.intent import StoredIntent
from openprogram.core.jsonio import JsonObject, JsonValue
from openprogram.core.messages import Message, QueuedMessage
from openprogram.core.prompt import ModelInfo, ProviderEvent, ProviderRequest
from openprogram.core.sent import SentLog
from openprogram.core.storage import (
    ApprovalRow,
    Backlog,
    Grant,
    Node,
    Opening,
    Remembered,
    RememberRequest,
    SessionRow,
    StoredEvent,
    UsageRow,
    Write,
)
from openprogram.core.surface import Surface


class Store(SentLog, Protocol):
    """Durable state. Every method may raise `StorageError`; after a raise nothing of that call was applied."""

    async def commit(
        self, session_id: str, events: Sequence[Event], writes: Sequence[Write] = ()
    ) -> tuple[StoredEvent, ...]:
        """Append events under the next seqs of this session and do the writes, all or nothing.
        Commits of one session are applied in the order of the calls. Returns the events as stored.
        Raises `Conflict` where a write's condition fails, `UnknownSession` if there is no such session and no
        `PutSession` among the writes.
        """
        ...

    async def session(self, session_id: str) -> SessionRow | None:
        """The chat, deleted ones included, or None."""
        ...

    async def opening(self, session_id: str) -> Opening | None:
        """What a turn of the chat begins from, or None if there is no such chat."""
        ...

    async def sessions(
        self, user_id: str, *, limit: int = 200, before: tuple[str, str] | None = None, deleted: bool = False
    ) -> tuple[SessionInfo, ...]:
        """The user's visible chats, newest `updated_at` first and of equal ones the greater id; those behind the place
        `before`, which is an `updated_at` and an id."""
        ...

    async def intent(self, session_id: str) -> StoredIntent:
        """The chat's intent; revision 0 and all-null where none was stored."""
        ...

    async def nodes(self, session_id: str) -> tuple[Node, ...]:
        """The message tree in order of insertion."""
        ...

    async def messages(self, session_id: str, ids: Sequence[str]) -> tuple[Message, ...]:
        """Those messages, in the order of `ids`; unknown ids are left out."""
        ...

    async def events(self, session_id: str, after_seq: int, limit: int = 500) -> tuple[StoredEvent, ...]:
        """Events whose `seq` is greater than `after_seq`, in order."""
        ...

    async def backlog(self, session_id: str, after_seq: int) -> Backlog:
        """What lies behind `after_seq`, counted without reading it."""
        ...

    async def approvals(self, session_id: str, *, pending: bool = True) -> tuple[ApprovalRow, ...]:
        """Approvals of the chat, oldest first: the pending ones, or all."""
        ...

    async def approval(self, approval_id: str) -> tuple[str, ApprovalRow] | None:
        """`(session_id, row)` of one approval, or None."""
        ...

    async def questions(self, session_id: str, *, pending: bool = True) -> tuple[QuestionRow, ...]:
        """Questions to the person, oldest first: the pending ones, or all."""
        ...

    async def grants(self, session_id: str) -> tuple[Grant, ...]:
        """What was allowed for this chat."""
        ...

    async def queue(self, session_id: str) -> tuple[QueuedMessage, ...]:
        """Messages that wait for the running turn, in order."""
        ...

    async def usage(self, session_id: str) -> tuple[UsageRow, ...]:
        """Every counted step, in order."""
        ...

    async def steps(self, session_id: str, message_ids: Collection[str]) -> tuple[StepFinished, ...]:
        """The requests whose answers are these messages, in order, as far as they are known."""
        ...

    async def remembered(self, user_id: str, client_id: str) -> Remembered | None:
        """The action done under this client id in the last 24 hours, or None."""
        ...

    async def unfinished(self) -> tuple[SessionRow, ...]:
        """Chats whose turn was not finished: at start-up, those that a crash cut short."""
        ...

    async def setting(self, user_id: str, key: str) -> JsonValue:
        """A stored setting; None where there is none."""
        ...

    async def put_setting(
        self, user_id: str, key: str, value: JsonValue, request: RememberRequest | None = None
    ) -> None:
        """Store a setting, None deletes it; and the request that asked for it, all or nothing. Raises `Conflict`."""
        ...

    async def token_counts(self, digests: Collection[str]) -> Mapping[str, int]:
        """How many tokens texts have, by their digests (`core.jsonio.digest_bytes`); unknown ones are left out."""
        ...

    async def put_token_counts(self, counts: Mapping[str, int]) -> None:
        """Remember counts; one that is known already stays."""
        ...

    async def sweep(self, *, drafts_before: str, requests_before: str) -> int:
        """Delete drafts and remembered requests older than these ISO times; returns how many rows went."""
        ...

    async def aclose(self) -> None:
        """Finish what was accepted, then let go of everything."""
        ...


class Bus(Protocol):
    """Wakes readers up. It may lose anything: readers go by seq and read what is missing from the store (law 8)."""

    def publish(self, topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        """Tell subscribers of `topic` that events up to `last_seq` are stored. Never blocks.

        `payload` may carry the events' frames, joined by newlines.
        """
        ...

    def subscribe(self, topic: str, callback: "BusCallback") -> Callable[[], None]:
        """Call `callback` for each publication from now on, on the event loop; returns the unsubscription."""
        ...

    async def aclose(self) -> None:
        """Drop all subscriptions."""
        ...


class BusCallback(Protocol):
    """A subscriber. Must return at once and not raise."""

    def __call__(self, topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        """One publication."""
        ...


class Provider(Protocol):
    """One endpoint behind one wire format."""

    def stream(self, request: ProviderRequest) -> AsyncIterator[ProviderEvent]:
        """Send and yield events; the last one is `Completed` or `Failed`. Never raises but for cancellation (law 9).
        Closing the iterator or cancelling closes the HTTP stream at once.
        """
        ...

    async def models(self) -> tuple[ModelInfo, ...]:
        """Configured models, or those that the endpoint lists. Raises `NoEndpoint` when it cannot be asked."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


class ModelCatalog(Protocol):
    """Which models there are, and the provider behind each."""

    async def models(self) -> tuple[ModelInfo, ...]:
        """Every model that is known now. Waits for no endpoint."""
        ...

    async def default_id(self) -> str | None:
        """The model of chats that name none; None while it is not known. Waits for no endpoint."""
        ...

    def about(self, model_id: str) -> ModelInfo | None:
        """What is known of a model, listed or not; None where no endpoint is named so. Asks nobody."""
        ...

    async def resolve(self, model_id: str | None) -> tuple[ModelInfo, Provider]:
        """The model of that id, or the default. Raises `NoEndpoint` naming the choices."""
        ...


class Emit(Protocol):
    """Where a turn's events go. Order is kept; text pieces of one block may be joined (P4)."""

    def __call__(self, *events: Event) -> None:
        """Hand over events that belong together: they are stored in one commit. Never blocks."""
        ...

    async def flush(self) -> None:
        """Wait until everything handed over is stored. Raises `StorageError` if it cannot be."""
        ...


@dataclass(frozen=True, slots=True)
class PermissionState:
    """The permission mode and the grants of a chat, as of now."""

    mode: PermissionMode
    grants: tuple[Grant, ...]


class Authority(Protocol):
    """What the user allows at this very moment; asked at each dispatch (design law 6, spec T21)."""

    def authorised_now(self, name: str) -> bool:
        """Whether the session's newest intent still authorises this tool."""
        ...

    def permission(self) -> PermissionState:
        """The permission mode and grants now."""
        ...


@dataclass(frozen=True, slots=True)
class Selection:
    """What became of names that were to be loaded.
    `loaded` are declarations (`{name, description, parameters}`) in order, those of their groups included; `ready` need
    no loading; `unknown` are no tools of this chat.
    """

    loaded: tuple[JsonObject, ...] = ()
    ready: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class Discovery(Protocol):
    """The running turn's deferred tools, for a call that looks for one. What is not authorised is not there."""

    async def find(self, query: str, limit: int) -> tuple[JsonObject, ...]:
        """The declarations that fit a free text best, the best first. Loads nothing."""
        ...

    def select(self, names: Sequence[str]) -> Selection:
        """Load the tools of these names, with their groups, for the next step and all that follow."""
        ...


class Surfaces(Protocol):
    """The session's surface, kept over turns and restarts (design law 5)."""

    @property
    def current(self) -> Surface | None:
        """What the endpoint was last shown, or None before the first request."""
        ...

    @property
    def forced(self) -> bool:
        """Whether the user wants the current one's epoch to end (spec cache.md C4)."""
        ...

    def accepted(self, surface: Surface) -> None:
        """The endpoint accepted a request with this surface: it is now the current one. Never blocks."""
        ...


class Inbox(Protocol):
    """User messages that arrived while a turn ran."""

    def take_steered(self) -> bool:
        """Whether a steered message waits: the turn then ends at this safe point and the next begins with it."""
        ...

    async def next_input(self, *, unanswered: bool) -> bool:
        """At the end of a turn: move the next waiting message into the history, if any. False ends the run.

        `unanswered`: the turn ended for a steered message and the model has not seen its last results. If that message
        was withdrawn meanwhile, the answer is True all the same.
        """
        ...
