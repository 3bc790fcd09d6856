"""Rows and writes of the store, as values: what a commit does besides appending events.

A commit is one atomic unit: all its events and writes, or none. `openprogram.sessions.project` derives the writes that
mirror an event, so that rows never disagree with the log.
"""

from dataclasses import dataclass
from typing import Final, Literal

from openprogram.core.asking import ApprovalDecision, ApprovalRequested, PutQuestion, ResolveQuestion
from openprogram.core.events import ErrorRaised, Notice, SessionInfo, StepFinished, TurnFinished
from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.messages import Message, QueuedMessage, Role
from openprogram.core.sent import CallKind, PutSent
from openprogram.core.surface import EndEpoch, PutSurface, Surface
from openprogram.core.usage import Usage

NOTES_KEPT: Final = 20
"""So many notes of a chat are kept, the newest ones: a client that watches keeps as many, so that a reload shows the
same."""

# -- rows -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as it stands in the log. `payload` is its JSON object, to be sent on unparsed.

    Covers `from_seq` to `seq`; the two differ only where a compactor joined deltas of a finished turn.
    """

    session_id: str
    from_seq: int
    seq: int
    at: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A chat with what only the server needs. `turn_id` is the unfinished turn, whose first event is `turn_seq`;
    `outcome` is how the last turn ended, and when, while the active branch still ends there."""

    info: SessionInfo
    user_id: str
    last_seq: int = 0
    turn_id: str | None = None
    turn_seq: int | None = None
    surface: Surface | None = None
    loaded: tuple[str, ...] = ()
    outcome: TurnFinished | None = None
    outcome_at: str | None = None
    notes: "tuple[Note, ...]" = ()
    forced_epoch: int | None = None
    """The epoch of the surface that the user wants to end: the next request rebases while it lasts."""


@dataclass(frozen=True, slots=True)
class Note:
    """A quiet line or an error that is part of no message: it stands behind message `after_id` (None: before all)."""

    after_id: str | None
    event: Notice | ErrorRaised


@dataclass(frozen=True, slots=True)
class Node:
    """A message's place in the tree."""

    id: str
    parent_id: str | None
    role: Role


@dataclass(frozen=True, slots=True)
class Remembered:
    """An action that was done: its body's digest and the ack that was given (P5)."""

    digest: str
    ack: bytes


ANYWHERE: Final = ""
"""The directory of a grant that means the same in every directory."""


@dataclass(frozen=True, slots=True)
class Grant:
    """ "Allow for this chat": calls of `tool` whose subject is matched by `pattern` need no approval in `directory`.

    None names no directory: the row is older than the field, and covers nothing.
    """

    tool: str
    pattern: str
    directory: str | None = None


@dataclass(frozen=True, slots=True)
class Opening:
    """What a turn of a chat begins from, as of one moment. `branch` is the active one, from its root."""

    row: SessionRow
    intent: StoredIntent = StoredIntent()  # noqa: RUF009 - frozen
    queue: tuple[QueuedMessage, ...] = ()
    grants: tuple[Grant, ...] = ()
    branch: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One answered model request, counted once. A title's or a subagent's has a turn of its own."""

    turn_id: str
    step: int
    model: str
    usage: Usage
    cost: float | None
    kind: CallKind = "step"


@dataclass(frozen=True, slots=True)
class Backlog:
    """How much a subscriber has missed: events, and bytes of their payloads."""

    events: int
    bytes: int


# -- writes -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PutSession:
    """Create the chat, or replace its description. The first write of a new chat."""

    info: SessionInfo
    user_id: str
    type: Literal["put_session"] = "put_session"


@dataclass(frozen=True, slots=True)
class PutIntent:
    """Compare-and-set: store as `expected_revision + 1`; `Conflict` if the row is at another revision."""

    intent: ToolIntent
    expected_revision: int
    type: Literal["put_intent"] = "put_intent"


@dataclass(frozen=True, slots=True)
class PutMessage:
    """Insert a message; `Conflict` if its id exists."""

    message: Message
    type: Literal["put_message"] = "put_message"


@dataclass(frozen=True, slots=True)
class SetLeaf:
    """Which message the active branch ends in. What became of the last turn is told no longer."""

    leaf_id: str | None
    type: Literal["set_leaf"] = "set_leaf"


@dataclass(frozen=True, slots=True)
class StartTurn:
    """The chat has an unfinished turn from the first event of this commit on; one that it had already, from before.
    What became of the last one is told no longer."""

    turn_id: str
    type: Literal["start_turn"] = "start_turn"


@dataclass(frozen=True, slots=True)
class EndTurn:
    """The chat's turn is finished; nothing happens if it has another, or none."""

    outcome: TurnFinished
    type: Literal["end_turn"] = "end_turn"


@dataclass(frozen=True, slots=True)
class AddNote:
    """Keep a note behind the message that the active branch ends in; of more than `NOTES_KEPT` the oldest goes."""

    event: Notice | ErrorRaised
    type: Literal["add_note"] = "add_note"


@dataclass(frozen=True, slots=True)
class PutLoaded:
    """Replace the chat's loaded set."""

    names: tuple[str, ...]
    type: Literal["put_loaded"] = "put_loaded"


@dataclass(frozen=True, slots=True)
class PutUsage:
    """Count one step; the same turn and step again is ignored (counted once whatever is replayed). `finished` is all
    that is known of it."""

    row: UsageRow
    finished: StepFinished | None = None
    type: Literal["put_usage"] = "put_usage"


@dataclass(frozen=True, slots=True)
class PutApproval:
    """A pending approval."""

    request: ApprovalRequested
    type: Literal["put_approval"] = "put_approval"


@dataclass(frozen=True, slots=True)
class ResolveApproval:
    """Answer a pending approval; `Conflict` if it is not pending."""

    approval_id: str
    decision: ApprovalDecision | None
    note: str | None
    type: Literal["resolve_approval"] = "resolve_approval"


@dataclass(frozen=True, slots=True)
class AddGrant:
    """Remember "for this chat". A grant of the same tool and pattern that is kept already holds in this one's directory
    from now on."""

    grant: Grant
    type: Literal["add_grant"] = "add_grant"


@dataclass(frozen=True, slots=True)
class DropGrants:
    """The chat works in `directory` from now on: grants that hold in another one only are withdrawn."""

    directory: str
    type: Literal["drop_grants"] = "drop_grants"


@dataclass(frozen=True, slots=True)
class PutQueue:
    """Replace the queue of waiting messages."""

    queue: tuple[QueuedMessage, ...]
    type: Literal["put_queue"] = "put_queue"


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """Keep an action's ack under (user, client id); `Conflict` if one is kept already."""

    user_id: str
    client_id: str
    digest: str
    ack: bytes
    type: Literal["remember_request"] = "remember_request"


Write = (
    PutSession
    | PutIntent
    | PutMessage
    | SetLeaf
    | StartTurn
    | EndTurn
    | AddNote
    | PutSurface
    | EndEpoch
    | PutLoaded
    | PutUsage
    | PutSent
    | PutApproval
    | ResolveApproval
    | PutQuestion
    | ResolveQuestion
    | AddGrant
    | DropGrants
    | PutQueue
    | RememberRequest
)


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """An approval with its answer; `pending` until answered or moot."""

    request: ApprovalRequested
    pending: bool
    decision: ApprovalDecision | None = None
    note: str | None = None
