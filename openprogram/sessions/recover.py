"""After a crash: what an unfinished turn still owes, and whether it may simply wait on (spec P9, R2).

Pure over the turn's events; `openprogram.sessions.startup` applies it.
"""

from collections.abc import Collection, Iterable

from openprogram.core.events import (
    ApprovalResolved,
    ErrorInfo,
    Event,
    LoadedChanged,
    MessageAdded,
    TurnFinished,
    TurnReason,
)
from openprogram.core.ids import new_id
from openprogram.core.messages import Message, TextBlock, ToolResultBlock
from openprogram.core.storage import ApprovalRow
from openprogram.core.tooling import LoadedSet
from openprogram.sessions.fold import UnfinishedTurn

_INTERRUPTED = (
    "Interrupted: the server stopped while this call ran, so its effect is unknown. "
    "Check what it did before relying on it or repeating it."
)
_NOT_STARTED = "Not run: the turn ended before this call began."
_NOT_ALLOWED = "Not run: the turn ended while this call waited for the user's approval."


def waits_for_answer(turn: UnfinishedTurn, approvals: Iterable[ApprovalRow]) -> bool:
    """Whether the turn only waited for a person: every call that had begun is finished or has a pending question."""
    pending = {row.request.call_id for row in approvals if row.pending}
    if turn.answer is None or not pending:
        return False
    return turn.started - turn.finished.keys() <= pending


def close(
    turn: UnfinishedTurn,
    turn_id: str,
    approvals: Iterable[ApprovalRow],
    loaded: LoadedSet,
    *,
    now: str,
    reason: TurnReason,
    error: ErrorInfo | None = None,
) -> tuple[Event, ...]:
    """End the turn: keep what was shown, answer every call, withdraw open questions, load what was asked for.

    `loaded` is the chat's loaded set; it grows.
    """
    pending = [row.request for row in approvals if row.pending]
    events: list[Event] = [ApprovalResolved(asked.approval_id, None) for asked in pending]
    if turn.step is not None and turn.partial:
        partial = Message(
            id=turn.step.message_id,
            parent_id=turn.step.parent_id,
            role="assistant",
            blocks=turn.partial,
            created_at=now,
            turn_id=turn_id,
            status="interrupted",
            model=turn.step.model,
        )
        events.append(MessageAdded(partial))
    if turn.answer is not None:
        results = Message(
            id=new_id("m"),
            parent_id=turn.answer.id,
            role="tool",
            blocks=_results(turn.answer, turn, {asked.call_id for asked in pending}),
            created_at=now,
            turn_id=turn_id,
        )
        discovered = (turn.discovered.get(call.call_id, ()) for call in turn.answer.calls)
        added = loaded.add(tuple(name for names in discovered for name in names))
        if added:
            events.append(LoadedChanged(loaded.names, added))
        events.append(MessageAdded(results))
    events.append(TurnFinished(turn_id, reason, error))
    return tuple(events)


def _results(answer: Message, turn: UnfinishedTurn, pending: Collection[str]) -> tuple[ToolResultBlock, ...]:
    calls = [call.call_id for call in answer.calls]
    return tuple(turn.finished.get(call_id) or _unfinished(turn, call_id, pending) for call_id in calls)


def _unfinished(turn: UnfinishedTurn, call_id: str, pending: Collection[str]) -> ToolResultBlock:
    if call_id in turn.started and call_id not in pending:
        return ToolResultBlock(call_id, "interrupted", (TextBlock(_INTERRUPTED),))
    text = _NOT_ALLOWED if call_id in turn.started else _NOT_STARTED
    return ToolResultBlock(call_id, "interrupted", (TextBlock(text),), duration_ms=0)
