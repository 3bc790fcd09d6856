"""Rows are projections of events: the writes that go into the same commit as an event."""

from collections.abc import Sequence
from typing import assert_never

from openprogram.core.asking import (
    ApprovalRequested,
    ApprovalResolved,
    PutQuestion,
    QuestionAnswered,
    QuestionAsked,
    ResolveQuestion,
)
from openprogram.core.compaction import Compacted
from openprogram.core.events import (
    BranchSelected,
    ErrorRaised,
    Event,
    IntentChanged,
    LoadedChanged,
    MessageAdded,
    Notice,
    QueueChanged,
    ReasoningDelta,
    SessionChanged,
    StepFinished,
    TextDelta,
    ToolCallDelta,
    ToolOutputDelta,
    TurnAccepted,
    TurnFinished,
    TurnStarted,
)
from openprogram.core.storage import (
    AddNote,
    EndTurn,
    PutApproval,
    PutIntent,
    PutLoaded,
    PutMessage,
    PutQueue,
    PutSession,
    PutUsage,
    ResolveApproval,
    SetLeaf,
    StartTurn,
    UsageRow,
    Write,
)

_STREAMED = (TextDelta, ReasoningDelta, ToolCallDelta, ToolOutputDelta)


def has_rows(event: Event) -> bool:
    """Whether rows may mirror this event: streamed text, which is nearly all that there is, has none."""
    return not isinstance(event, _STREAMED)


def project(events: Sequence[Event], user_id: str) -> tuple[Write, ...]:
    """The writes that mirror these events, in their order; streamed text has none.

    An error that keeps a turn from starting is told by the end of that turn, and is no note beside it.
    """
    told = [event.error for event in events if isinstance(event, TurnFinished)]
    mirrored = filter(has_rows, events)
    return tuple(
        write
        for event in mirrored
        if not (isinstance(event, ErrorRaised) and event.error in told)
        for write in _writes(event, user_id)
    )


def _writes(event: Event, user_id: str) -> tuple[Write, ...]:
    match event:
        case MessageAdded(message):
            return PutMessage(message), SetLeaf(message.id)
        case BranchSelected(leaf_id):
            return (SetLeaf(leaf_id),)
        case TurnAccepted() | TurnStarted():
            return (StartTurn(event.turn_id),)
        case TurnFinished():
            return (EndTurn(event),)
        case StepFinished() | Compacted():
            return (_counted(event),)
        case Notice() | ErrorRaised():
            return (AddNote(event),)
        case LoadedChanged(loaded):
            return (PutLoaded(loaded),)
        case IntentChanged():
            return (PutIntent(event.intent, event.revision - 1),)
        case ApprovalRequested() | ApprovalResolved() | QuestionAsked() | QuestionAnswered():
            return (_asking(event),)
        case QueueChanged(queue):
            return (PutQueue(queue),)
        case SessionChanged(session):
            return (PutSession(session, user_id),)
        case _:
            return ()


def _counted(event: StepFinished | Compacted) -> Write:
    if isinstance(event, Compacted):
        return PutUsage(UsageRow(event.request_id, 1, event.model, event.usage, event.cost, "summary"))
    return PutUsage(UsageRow(event.turn_id, event.step, event.model, event.usage, event.cost), event)


def _asking(event: ApprovalRequested | ApprovalResolved | QuestionAsked | QuestionAnswered) -> Write:
    match event:
        case ApprovalRequested():
            return PutApproval(event)
        case ApprovalResolved():
            return ResolveApproval(event.approval_id, event.decision, event.note)
        case QuestionAsked():
            return PutQuestion(event)
        case QuestionAnswered():
            return ResolveQuestion(event.question_id, event.answer)
        case _:
            assert_never(event)
