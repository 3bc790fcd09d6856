"""After a crash: what an unfinished turn still owes, and whether it may simply wait on (spec P9, R2).

Pure over the turn's events; `openprogram.sessions.startup` applies it.
"""

from dataclasses import dataclass
from typing import Literal

from openprogram.core.asking import ApprovalResolved, QuestionAnswered, QuestionRow
from openprogram.core.events import ErrorInfo, Event, LoadedChanged, MessageAdded, TurnFinished, TurnReason
from openprogram.core.ids import new_id
from openprogram.core.loaded import LoadedSet
from openprogram.core.messages import Message, TextBlock, ToolResultBlock, ToolUseBlock
from openprogram.core.storage import ApprovalRow
from openprogram.sessions.fold import UnfinishedTurn
from openprogram.tools.builtin.ask_user import ask_user, told

_INTERRUPTED = (
    "Interrupted: the server stopped while this call ran, so its effect is unknown. "
    "Check what it did before relying on it or repeating it."
)
_NOT_STARTED = "Not run: the turn ended before this call began."
_CUT_SHORT = "[the server stopped just then]"
_NOT_ANSWERED = "Not answered: the turn ended while this question waited for the user."
_NOT_ALLOWED = "Not run: the turn ended while this call waited for the user's approval."


@dataclass(frozen=True, slots=True)
class Asked:
    """What a turn has asked a person about the calls of its last answer: approvals and questions without an answer, and
    questions that have one."""

    approvals: tuple[ApprovalRow, ...] = ()
    questions: tuple[QuestionRow, ...] = ()
    answered: tuple[QuestionRow, ...] = ()

    @property
    def calls(self) -> frozenset[str]:
        """The calls that wait."""
        asked = (row.request.call_id for row in self.approvals)
        return frozenset((*asked, *(row.asked.call_id for row in self.questions)))

    @property
    def moot(self) -> tuple[Event, ...]:
        """What is told when nobody need answer any more."""
        asked = (ApprovalResolved(row.request.approval_id, None) for row in self.approvals)
        return (*asked, *(QuestionAnswered(row.asked.question_id, None) for row in self.questions))


Standing = Literal["waits", "answered", "cut"]
"""An unfinished turn without a run only waited for a person and still does, has all its answers and may go on, or was
cut short while it did something."""


def standing(turn: UnfinishedTurn, asked: Asked) -> Standing:
    """How the turn stands. It only waited where every call that had begun is finished, waits for an answer, is held
    until the turn goes on, or does nothing but hand its answer on."""
    if turn.answer is None:
        return "cut"
    began, pending = turn.started - turn.finished.keys(), asked.calls
    hands_on = {call.call_id for call in turn.answer.calls if call.name == ask_user.name}
    waited = pending | turn.held | (began & hands_on & {row.asked.call_id for row in asked.answered})
    if not waited or not began <= waited:
        return "cut"
    return "waits" if pending else "answered"


def close(
    turn: UnfinishedTurn,
    turn_id: str,
    asked: Asked,
    loaded: LoadedSet,
    *,
    now: str,
    reason: TurnReason,
    error: ErrorInfo | None = None,
) -> tuple[Event, ...]:
    """End the turn: keep what was shown, answer every call, withdraw open questions, load what was asked for.

    `loaded` is the chat's loaded set; it grows.
    """
    events: list[Event] = [*asked.moot]
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
            blocks=_results(turn.answer, turn, asked),
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


def _results(answer: Message, turn: UnfinishedTurn, asked: Asked) -> tuple[ToolResultBlock, ...]:
    return tuple(turn.finished.get(call.call_id) or _unfinished(turn, call, asked) for call in answer.calls)


def _unfinished(turn: UnfinishedTurn, call: ToolUseBlock, asked: Asked) -> ToolResultBlock:
    call_id = call.call_id
    for row in asked.answered:
        if row.asked.call_id == call_id and row.answer is not None:
            rest = _CUT_SHORT if call.name == ask_user.name else _INTERRUPTED
            return ToolResultBlock(call_id, "interrupted", (TextBlock(f"{told(row.answer)}\n{rest}"),))
    if call_id in turn.started and call_id not in asked.calls | turn.held:
        return ToolResultBlock(call_id, "interrupted", (TextBlock(_INTERRUPTED),))
    text = _NOT_ALLOWED if call_id in asked.calls else _NOT_STARTED
    if any(row.asked.call_id == call_id for row in asked.questions):
        text = _NOT_ANSWERED
    return ToolResultBlock(call_id, "interrupted", (TextBlock(text),), duration_ms=0)
