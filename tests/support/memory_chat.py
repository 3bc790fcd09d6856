"""One chat of the `MemoryStore`, and what each write makes of it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from openprogram.core.asking import PutQuestion, QuestionRow, ResolveQuestion
from openprogram.core.errors import Conflict
from openprogram.core.events import StepFinished
from openprogram.core.intent import StoredIntent
from openprogram.core.messages import Message, QueuedMessage
from openprogram.core.sent import CallKind, PutSent, SentRecord, Spending
from openprogram.core.storage import (
    ANYWHERE,
    NOTES_KEPT,
    AddGrant,
    AddNote,
    ApprovalRow,
    DropGrants,
    EndTurn,
    Grant,
    Note,
    PutApproval,
    PutIntent,
    PutLoaded,
    PutMessage,
    PutQueue,
    PutSession,
    PutUsage,
    RememberRequest,
    ResolveApproval,
    SessionRow,
    SetLeaf,
    StartTurn,
    StoredEvent,
    UsageRow,
    Write,
)
from openprogram.core.surface import EndEpoch, PutSurface
from openprogram.core.usage import Usage


@dataclass(frozen=True)
class Chat:
    """Everything of one chat."""

    row: SessionRow
    intent: StoredIntent = field(default_factory=StoredIntent)
    messages: tuple[Message, ...] = ()
    events: tuple[StoredEvent, ...] = ()
    approvals: tuple[ApprovalRow, ...] = ()
    questions: tuple[QuestionRow, ...] = ()
    grants: tuple[Grant, ...] = ()
    queue: tuple[QueuedMessage, ...] = ()
    usage: tuple[UsageRow, ...] = ()
    steps: tuple[StepFinished, ...] = ()
    counted_at: tuple[str, ...] = ()
    """When each row of `usage` was counted."""
    sent: tuple[SentRecord, ...] = ()
    segments: Mapping[str, bytes] = field(default_factory=dict)


def row_of(chat: Chat) -> SessionRow:
    """The chat's row, its status derived."""
    waiting = any(row.pending for row in chat.approvals) or any(row.pending for row in chat.questions)
    running = chat.row.turn_id is not None
    return replace(
        chat.row, info=replace(chat.row.info, status="waiting" if waiting else "running" if running else "idle")
    )


def described(chat: Chat | None, write: PutSession) -> Chat:
    """A new chat, or the chat under a new description."""
    if chat is None:
        return Chat(SessionRow(write.info, write.user_id))
    old = chat.row.info
    info = replace(
        write.info,
        created_at=old.created_at,
        visible=old.visible or write.info.visible,
        leaf_id=old.leaf_id,
    )
    return replace(chat, row=replace(chat.row, info=info))


def written(chat: Chat, write: Write, at: str, first_seq: int) -> Chat:  # noqa: C901 - one line per kind of write
    """The chat after one write. Raises `Conflict`."""
    row = chat.row
    match write:
        case PutIntent():
            if chat.intent.revision != write.expected_revision:
                raise Conflict("intent at another revision")
            return replace(chat, intent=StoredIntent(write.intent, write.expected_revision + 1))
        case PutMessage():
            info = replace(row.info, visible=True, updated_at=at)
            return replace(chat, messages=(*chat.messages, write.message), row=replace(row, info=info))
        case SetLeaf():
            return replace(
                chat, row=replace(row, info=replace(row.info, leaf_id=write.leaf_id), outcome=None, outcome_at=None)
            )
        case StartTurn():
            begun = row.turn_seq if row.turn_id == write.turn_id else first_seq
            return replace(chat, row=replace(row, turn_id=write.turn_id, turn_seq=begun, outcome=None, outcome_at=None))
        case EndTurn():
            over = replace(row, turn_id=None, turn_seq=None, outcome=write.outcome, outcome_at=at)
            return replace(chat, row=over) if row.turn_id == write.outcome.turn_id else chat
        case AddNote():
            notes = (*row.notes, Note(row.info.leaf_id, write.event))[-NOTES_KEPT:]
            return replace(chat, row=replace(row, notes=notes))
        case PutSurface():
            return replace(chat, row=replace(row, surface=write.surface))
        case EndEpoch():
            return replace(chat, row=replace(row, forced_epoch=write.epoch))
        case PutLoaded():
            return replace(chat, row=replace(row, loaded=write.names))
        case PutUsage():
            known = any((each.turn_id, each.step) == (write.row.turn_id, write.row.step) for each in chat.usage)
            steps = chat.steps if write.finished is None else (*chat.steps, write.finished)
            times = (*chat.counted_at, at)
            return chat if known else replace(chat, usage=(*chat.usage, write.row), steps=steps, counted_at=times)
        case PutSent():
            segments = {segment.digest: segment.data for segment in write.segments}
            return replace(chat, sent=(*chat.sent, write.record), segments={**segments, **chat.segments})
        case PutApproval():
            return replace(chat, approvals=(*chat.approvals, ApprovalRow(write.request, pending=True)))
        case ResolveApproval():
            return replace(chat, approvals=_resolved(chat.approvals, write))
        case PutQuestion():
            return replace(chat, questions=(*chat.questions, QuestionRow(write.asked, pending=True)))
        case ResolveQuestion():
            return replace(chat, questions=_answered(chat.questions, write))
        case AddGrant():
            return replace(chat, grants=_granted(chat.grants, write.grant))
        case DropGrants():
            kept = (grant for grant in chat.grants if grant.directory in (ANYWHERE, write.directory))
            return replace(chat, grants=tuple(kept))
        case PutQueue():
            return replace(chat, queue=write.queue)
        case PutSession() | RememberRequest():
            raise AssertionError("handled by the caller")
        case _:
            assert_never(write)


def _granted(grants: Sequence[Grant], grant: Grant) -> tuple[Grant, ...]:
    same = [(each.tool, each.pattern) == (grant.tool, grant.pattern) for each in grants]
    if any(same):
        return tuple(grant if is_same else each for each, is_same in zip(grants, same, strict=True))
    return (*grants, grant)


def _resolved(approvals: Sequence[ApprovalRow], write: ResolveApproval) -> tuple[ApprovalRow, ...]:
    pending = [row for row in approvals if row.pending and row.request.approval_id == write.approval_id]
    if not pending:
        raise Conflict("not pending")
    answer = replace(pending[0], pending=False, decision=write.decision, note=write.note)
    return tuple(answer if row is pending[0] else row for row in approvals)


def _answered(questions: Sequence[QuestionRow], write: ResolveQuestion) -> tuple[QuestionRow, ...]:
    pending = [row for row in questions if row.pending and row.asked.question_id == write.question_id]
    if not pending:
        raise Conflict("not pending")
    answer = replace(pending[0], pending=False, answer=write.answer)
    return tuple(answer if row is pending[0] else row for row in questions)


def spending(chat: Chat) -> list[Spending]:
    """What the chat used, by model, day and kind."""
    sums: dict[tuple[str, str, CallKind], Spending] = {}
    for row, at in zip(chat.usage, chat.counted_at, strict=True):
        key = (row.model, at[:10], row.kind)
        info = chat.row.info
        old = sums.get(key, Spending(info.id, info.title, *key, 0, Usage(), None, 0, 0))
        sums[key] = replace(
            old,
            requests=old.requests + 1,
            usage=old.usage.plus(row.usage),
            cost=old.cost if row.cost is None else (old.cost or 0.0) + row.cost,
            unknown=old.unknown + (row.usage.uncached is None or row.usage.output is None),
            unpriced=old.unpriced + (row.cost is None),
        )
    return list(sums.values())
