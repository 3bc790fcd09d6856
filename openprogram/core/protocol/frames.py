"""Every frame the server can send. A frame is one JSON object whose `type` says which."""

from dataclasses import dataclass, field
from typing import Literal

from openprogram.core.events import Event, SessionInfo, StepFinished
from openprogram.core.intent import Effective
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import Message
from openprogram.core.protocol.base import Ack as Ack  # noqa: PLC0414 - a frame like the others
from openprogram.core.protocol.base import SessionAck as SessionAck  # noqa: PLC0414 - the same
from openprogram.core.protocol.cache_frames import CacheState, CacheStep, CacheTotals, SegmentInfo
from openprogram.core.protocol.price_frames import ModelPricesAck, SendPreviewAck
from openprogram.core.protocol.state import SessionState
from openprogram.core.protocol.tool_frames import Decided, FollowOffer, ToolBudget, ToolState
from openprogram.core.sent import Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInfo:
    """Who is signed in."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model that a chat can use; `id` goes into `set_model`."""

    id: str
    title: str
    endpoint: str
    context_window: int | None
    demo: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetInfo:
    """A preset that a chat can use; `name` goes into `set_tools_profile`. Those of `source` user can be changed."""

    name: str
    title: str
    description: str
    entries: tuple[str, ...]
    includes: tuple[str, ...]
    source: Literal["builtin", "config", "user"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """First frame on a socket."""

    type: Literal["hello"] = "hello"
    version: str
    server: str
    boot_id: str
    user: UserInfo
    models: tuple[ModelChoice, ...]
    default_model: str | None
    presets: tuple[PresetInfo, ...]
    workspace: str
    """The directory that a new chat works in by default."""


# -- acks -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAck(SessionAck):
    """The message is stored. `queued`: it waits for the running turn; then `message_id` is its id in the queue."""

    message_id: str
    queued: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentAck(SessionAck):
    """The intent is stored. `now` if no turn runs or the change only takes away, else `next_turn`."""

    revision: int
    applies: Literal["now", "next_turn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscribeAck(Ack):
    """Events after the given seq follow. `seq` is the newest seq at this moment."""

    session_id: str | None
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsAck(Ack):
    """A page of chats."""

    sessions: tuple[SessionInfo, ...]
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesAck(SessionAck):
    """A page of the active branch, oldest first. `siblings` maps a message with siblings to all of them, in order;
    `steps` are the requests that the page's answers came from, as far as they are known."""

    messages: tuple[Message, ...]
    siblings: dict[str, tuple[str, ...]]
    more: bool
    steps: tuple[StepFinished, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsAck(Ack):
    """The models that can be chosen now, as in `hello`."""

    models: tuple[ModelChoice, ...]
    default_model: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsAck(Ack):
    """All settings of the user."""

    settings: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsAck(SessionAck):
    """The effective tools of a chat with reasons (`explain_tools`). `error` says why nothing resolves.

    `offer` is there where the chat's own picks look like a copy of a preset, which it could follow instead.
    `problems` says of a source of tools, or of the project's file, what is wrong with it.
    """

    revision: int
    preset: str | None
    tools: tuple[ToolState, ...]
    budget: ToolBudget
    decided: tuple[Decided, ...]
    unknown: tuple[str, ...]
    effective: Effective
    presets: tuple[PresetInfo, ...]
    error: str | None = None
    offer: FollowOffer | None = None
    problems: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheAck(SessionAck):
    """A chat's requests in the order of sending (`inspect_cache`), without the oldest `left_out`."""

    steps: tuple[CacheStep, ...]
    totals: CacheTotals
    cache: CacheState
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAck(SessionAck):
    """One request (`inspect_step`). `compared_with` is the request before it at the same endpoint, as turn and step;
    `predicted_loss` the tokens that its plan gave up knowingly."""

    step: CacheStep
    segments: tuple[SegmentInfo, ...]
    compared_with: tuple[str, int] | None
    settings_changed: bool
    predicted_loss: int | None
    body: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageAck(Ack):
    """What all chats used (`usage`), newest day first."""

    spending: tuple[Spending, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewAck(SessionAck):
    """What a switch costs at the next send (`preview_toggle`), or a rebase (`force_rebase`): `tokens` to be read anew,
    for `cost` dollars more. 0 where it is free, null where it is not known.

    `later` are tools that it brings and that are named, not declared: one that the model then loads may cost once what
    `load_tokens` says. A rebase makes the prompts of a turn `saved_tokens` shorter (negative: longer), which saves
    `saved_cost` dollars a turn while the cache is warm.
    """

    tokens: int | None
    cost: float | None
    reason: str
    withdrawn: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    load_tokens: int | None = None
    costly: bool = False
    """More than the user's setting `costly_send` lets pass without a word."""
    saved_tokens: int | None = None
    saved_cost: float | None = None


# -- errors, events, snapshots, link ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFrame:
    """Nothing was applied. `code` is stable, `message` and `hint` are for people, `field` a dotted path."""

    type: Literal["error"] = "error"
    id: str | None = None
    code: str
    message: str
    field: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFrame:
    """One event of a subscribed chat; gapless: `from_seq` (default `seq`) is the previous frame's `seq` plus one."""

    type: Literal["event"] = "event"
    session_id: str
    seq: int
    from_seq: int | None = None
    at: str
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Replaces everything known of a chat; events after `seq` follow (P3)."""

    type: Literal["snapshot"] = "snapshot"
    session_id: str
    seq: int
    state: SessionState


HintKind = Literal["session_changed", "registry_changed", "settings_changed", "models_changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HintFrame:
    """Unnumbered news for the sidebar (`subscribe` with `session_id` null)."""

    type: Literal["hint"] = "hint"
    hint: HintKind
    session: SessionInfo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PingFrame:
    """Each 10 seconds; a client that hears nothing for 25 reconnects (P10)."""

    type: Literal["ping"] = "ping"
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pong:
    """Answer to a client's ping."""

    type: Literal["pong"] = "pong"
    id: str


AnyAck = (
    ChatAck
    | IntentAck
    | SubscribeAck
    | SessionsAck
    | MessagesAck
    | SettingsAck
    | ModelsAck
    | ToolsAck
    | CacheAck
    | StepAck
    | UsageAck
    | PreviewAck
    | SendPreviewAck
    | ModelPricesAck
    | SessionAck
    | Ack
)
ServerFrame = Hello | AnyAck | ErrorFrame | EventFrame | Snapshot | HintFrame | PingFrame | Pong
