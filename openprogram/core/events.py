"""Events: the only record of a chat, logged before anyone sees them (law 8). `docs/protocol.md` is made from here."""

from dataclasses import dataclass
from typing import Literal

from openprogram.core.asking import ApprovalRequested, ApprovalResolved, QuestionEvent
from openprogram.core.compaction import CompactionEvent
from openprogram.core.intent import Effective, ToolIntent
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import CallStatus, HostedBlock, Message, QueuedMessage, ToolResultBlock
from openprogram.core.prompt import FailureAction, Residency, Segment
from openprogram.core.surface import SurfacePlan
from openprogram.core.usage import CacheVerdict, Usage

TurnReason = Literal["done", "stopped", "error", "interrupted", "limit", "cut"]
ChatMode = Literal["send", "queue", "steer"]
SessionStatus = Literal["idle", "running", "waiting"]
PermissionMode = Literal["ask", "accept_edits", "auto"]


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """A failure as shown to a person: stable code, what happened, what to do about it."""

    code: str
    message: str
    action: FailureAction = "none"
    hint: str | None = None
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A chat as the sidebar shows it. A draft (`visible` false) has no message yet."""

    id: str
    title: str
    created_at: str
    updated_at: str
    visible: bool = False
    pinned: bool = False
    deleted: bool = False
    status: SessionStatus = "idle"
    model: str | None = None
    permission_mode: PermissionMode = "ask"
    workspace: str | None = None
    leaf_id: str | None = None


@dataclass(frozen=True, slots=True)
class MessageAdded:
    """A message is part of the chat, whole and final. The active branch now ends in it."""

    message: Message
    type: Literal["message_added"] = "message_added"


@dataclass(frozen=True, slots=True)
class TurnAccepted:
    """A turn runs from here, though its contract is still being prepared: `turn_started` follows, or its end."""

    turn_id: str
    type: Literal["turn_accepted"] = "turn_accepted"


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The contract of a turn is frozen. `tools` are the authorised names in order, `residency` how each is shown."""

    turn_id: str
    fingerprint: str
    tools: tuple[str, ...]
    residency: dict[str, Residency]
    intent_revision: int
    registry_version: int
    type: Literal["turn_started"] = "turn_started"


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A model request goes out; its answer will be `message_id`. Of the declared tools `loaded` are those discovered,
    `resident` the others; `deferred_count` more are authorised. `segments` follow `kept` ones of the request before."""

    turn_id: str
    step: int
    message_id: str
    parent_id: str | None
    model: str
    resident: tuple[str, ...]
    loaded: tuple[str, ...]
    deferred_count: int
    plan: SurfacePlan
    reason: str
    causes: tuple[str, ...]
    kept: int
    segments: tuple[Segment, ...]
    type: Literal["step_started"] = "step_started"


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of block `block` of the message being answered."""

    message_id: str
    block: int
    text: str
    type: Literal["text_delta"] = "text_delta"


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More reasoning text."""

    message_id: str
    block: int
    text: str
    type: Literal["reasoning_delta"] = "reasoning_delta"


@dataclass(frozen=True, slots=True)
class HostedAdded:
    """Block `block` of the message being answered, which the provider made by itself: a search, or what it found."""

    message_id: str
    block: int
    hosted: HostedBlock
    type: Literal["hosted_added"] = "hosted_added"


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of the JSON text of a call's arguments."""

    message_id: str
    block: int
    call_id: str
    name: str
    text: str
    type: Literal["tool_call_delta"] = "tool_call_delta"


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """A call is dispatched: from here its effect may happen."""

    turn_id: str
    message_id: str
    call_id: str
    name: str
    arguments: JsonObject
    type: Literal["tool_call_started"] = "tool_call_started"


@dataclass(frozen=True, slots=True)
class ToolOutputDelta:
    """More output of a running call."""

    call_id: str
    text: str
    type: Literal["tool_output_delta"] = "tool_output_delta"


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    """A call has its result. `discovered` are the deferred tools that it asked to have loaded."""

    call_id: str
    status: CallStatus
    result: ToolResultBlock
    duration_ms: int
    discovered: tuple[str, ...] = ()
    type: Literal["tool_call_finished"] = "tool_call_finished"


@dataclass(frozen=True, slots=True)
class StepFinished:
    """A model request is answered. `usage` is as reported, `cost` in US dollars where the price is known, `answer_id`
    the endpoint's own name for the answer, where it gives one."""

    turn_id: str
    step: int
    message_id: str
    model: str
    usage: Usage
    cost: float | None
    cache: CacheVerdict
    first_token_ms: int | None
    duration_ms: int
    answer_id: str | None = None
    type: Literal["step_finished"] = "step_finished"


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """A turn is over, or could not start. `cut`: at the model's output limit, `limit`: at the limit of steps."""

    turn_id: str
    reason: TurnReason
    error: ErrorInfo | None = None
    type: Literal["turn_finished"] = "turn_finished"


@dataclass(frozen=True, slots=True)
class LoadedChanged:
    """The whole loaded set as it is now, in order of discovery; `added` came with this change."""

    loaded: tuple[str, ...]
    added: tuple[str, ...] = ()
    type: Literal["loaded_changed"] = "loaded_changed"


@dataclass(frozen=True, slots=True)
class IntentChanged:
    """The chat's tool intent changed."""

    intent: ToolIntent
    revision: int
    effective: Effective
    type: Literal["intent_changed"] = "intent_changed"


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """The whole queue as it is now."""

    queue: tuple[QueuedMessage, ...]
    type: Literal["queue_changed"] = "queue_changed"


@dataclass(frozen=True, slots=True)
class BranchSelected:
    """The active branch now ends in `leaf_id` (None: before the first message)."""

    leaf_id: str | None
    type: Literal["branch_selected"] = "branch_selected"


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """Title, pin, model, mode or the like changed; the whole new description."""

    session: SessionInfo
    type: Literal["session_changed"] = "session_changed"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something worth a quiet line: a retry, a tool name that no tool has, a turn that resumed."""

    code: str
    message: str
    type: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class ErrorRaised:
    """Something went wrong outside a turn, or keeps one from starting, which then ends."""

    error: ErrorInfo
    type: Literal["error"] = "error"


Event = (
    MessageAdded
    | TurnAccepted
    | TurnStarted
    | StepStarted
    | TextDelta
    | ReasoningDelta
    | HostedAdded
    | ToolCallDelta
    | ToolCallStarted
    | ToolOutputDelta
    | ToolCallFinished
    | StepFinished
    | TurnFinished
    | CompactionEvent
    | LoadedChanged
    | IntentChanged
    | ApprovalRequested
    | ApprovalResolved
    | QuestionEvent
    | QueueChanged
    | BranchSelected
    | SessionChanged
    | Notice
    | ErrorRaised
)
