"""A chat as one value: what a snapshot carries (spec protocol.md P3)."""

from dataclasses import dataclass

from openprogram.core.asking import ApprovalRequested, QuestionAsked
from openprogram.core.events import Event, PermissionMode, SessionInfo, SessionStatus, StepFinished, TurnFinished
from openprogram.core.intent import Effective, ToolIntent
from openprogram.core.messages import Message, QueuedMessage
from openprogram.core.storage import Note
from openprogram.core.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialAnswer:
    """The answer that is being written: text and reasoning so far by block, calls whose arguments are being written."""

    turn_id: str
    step: int
    message_id: str
    parent_id: str | None
    model: str
    events: tuple[Event, ...]
    """The running turn's `turn_started` and its events since the last whole message, deltas joined: apply them to the
    messages."""
    at: tuple[str, ...] = ()
    """When each of `events` happened; joined ones: the first of them."""
    started_at: str | None = None
    """When the turn was accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """A chat as of one seq: what a client needs to show it and to go on from there.

    `outcome` is how the last turn ended, and when, unless the branch has gone on; `notes` are the newest quiet lines
    and errors that are part of no message, `steps` the requests that the answers among `messages` came from.
    """

    session: SessionInfo
    messages: tuple[Message, ...]
    siblings: dict[str, tuple[str, ...]]
    more: bool
    status: SessionStatus
    turn_id: str | None
    partial: PartialAnswer | None
    intent: ToolIntent
    revision: int
    effective: Effective
    permission_mode: PermissionMode
    queue: tuple[QueuedMessage, ...]
    approvals: tuple[ApprovalRequested, ...]
    questions: tuple[QuestionAsked, ...]
    usage: Usage
    cost: float | None
    outcome: TurnFinished | None = None
    outcome_at: str | None = None
    notes: tuple[Note, ...] = ()
    steps: tuple[StepFinished, ...] = ()
