"""Answering approvals and questions: once, from any tab, before or after a restart."""

from openprogram.core.asking import (
    Answer,
    ApprovalRequested,
    ApprovalResolved,
    Question,
    QuestionAnswer,
    QuestionAnswered,
)
from openprogram.core.errors import BadField, Busy, Conflict
from openprogram.core.events import Event, ToolCallFinished
from openprogram.core.messages import TextBlock, ToolResultBlock
from openprogram.core.protocol.control import AnswerApproval, AnswerQuestion
from openprogram.core.protocol.frames import SessionAck
from openprogram.core.storage import ANYWHERE, AddGrant, Grant
from openprogram.sessions.hub import Hub
from openprogram.sessions.live import Live
from openprogram.sessions.request import Request
from openprogram.sessions.startup import settle
from openprogram.tools.approval import refusal


async def answer_approval(hub: Hub, request: Request, action: AnswerApproval) -> SessionAck:
    """Store the answer, then let the call go on. A second answer is an error that says so."""
    await hub.row(request.user_id, action.session_id)
    async with hub.lock(action.session_id):
        row = await settle(hub, await hub.row(request.user_id, action.session_id))
        found = await hub.ports.store.approval(action.approval_id)
        if found is None or found[0] != action.session_id:
            raise BadField(f"there is no approval {action.approval_id[:100]!r} in this chat", field="approval_id")
        if not found[1].pending:
            raise _answered()
        asked, live = found[1].request, hub.runs.get(action.session_id)
        allowed = _grants(action, asked, str(hub.projects.workspace_of(row.info)))
        if live is None:
            return await _answer_waiting_turn(hub, request, action, asked, allowed)
        return await _answer_run(hub, request, action, allowed, live)


async def _answer_run(
    hub: Hub, request: Request, action: AnswerApproval, allowed: tuple[Grant, ...], live: Live
) -> SessionAck:
    """The call waits in this process."""
    answer = Answer(action.decision, action.note)
    with live.broker.answering(action.approval_id) as question:
        if question is None:
            raise _answered()
        ack = await _store(hub, request, action, allowed)
        for grant in allowed:
            live.authority.granted(grant)
        question.give(answer)
    return ack


async def _answer_waiting_turn(
    hub: Hub, request: Request, action: AnswerApproval, asked: ApprovalRequested, allowed: tuple[Grant, ...]
) -> SessionAck:
    """The turn waits since before a restart; it goes on when this was its last question (P9).

    A denial is the call's result at once: what mode and switches say by then cannot turn it into a call.
    """
    if hub.closing:
        raise _closing()
    denied: tuple[Event, ...] = ()
    if action.decision == "deny":
        text = refusal(Answer(action.decision, action.note))
        result = ToolResultBlock(asked.call_id, "denied", (TextBlock(text),), duration_ms=0)
        denied = (ToolCallFinished(asked.call_id, "denied", result, 0),)
    ack = await _store(hub, request, action, allowed, *denied, held=asked.call_id)
    await settle(hub, await hub.row(request.user_id, action.session_id))
    return ack


async def answer_question(hub: Hub, request: Request, action: AnswerQuestion) -> SessionAck:
    """Store the answer, then let the call go on, in this process or in the turn that waits since before a restart."""
    await hub.row(request.user_id, action.session_id)
    async with hub.lock(action.session_id):
        await settle(hub, await hub.row(request.user_id, action.session_id))
        rows = await hub.ports.store.questions(action.session_id, pending=False)
        row = next((row for row in rows if row.asked.question_id == action.question_id), None)
        if row is None:
            raise BadField(f"there is no question {action.question_id[:100]!r} in this chat", field="question_id")
        if not row.pending:
            raise _question_answered()
        answer = fitting(row.asked.question, action)
        live = hub.runs.get(action.session_id)
        if live is None:
            if hub.closing:
                raise _closing()
            ack = await _store_answer(hub, request, action, answer, held=row.asked.call_id)
            await settle(hub, await hub.row(request.user_id, action.session_id))
            return ack
        with live.questions.answering(action.question_id) as waits:
            if waits is None:
                raise _question_answered()
            ack = await _store_answer(hub, request, action, answer)
            waits.give(answer)
        return ack


def fitting(question: Question, action: AnswerQuestion) -> QuestionAnswer:
    """The answer, its labels in the order of the choices. Raises `BadField` where it does not fit the question."""
    labels = [choice.label for choice in question.choices]
    strange = [label for label in action.chosen if label not in labels]
    if strange:
        raise BadField(f"{strange[0][:100]!r} is not among the choices", field="chosen", hint="take labels as they are")
    chosen = tuple(label for label in labels if label in action.chosen)
    if len(chosen) > 1 and not question.multiple:
        raise BadField("this question takes one choice", field="chosen")
    text = action.text.strip() if action.text is not None else ""
    if text and not question.free_text:
        raise BadField("this question takes its choices only", field="text")
    return QuestionAnswer(chosen, text or None)


async def _store_answer(
    hub: Hub, request: Request, action: AnswerQuestion, answer: QuestionAnswer, held: str | None = None
) -> SessionAck:
    ack = SessionAck(id=action.id, session_id=action.session_id)
    answered = QuestionAnswered(action.question_id, answer, held)
    try:
        await hub.journal.commit(action.session_id, request.user_id, (answered,), request.remember(ack))
    except Conflict as error:
        if await hub.ports.store.remembered(request.user_id, request.client_id) is not None:
            raise
        raise _question_answered() from error
    return ack


async def _store(
    hub: Hub,
    request: Request,
    action: AnswerApproval,
    allowed: tuple[Grant, ...],
    *more: Event,
    held: str | None = None,
) -> SessionAck:
    grants = map(AddGrant, allowed)
    ack = SessionAck(id=action.id, session_id=action.session_id)
    resolved = ApprovalResolved(action.approval_id, action.decision, action.note, held)
    try:
        await hub.journal.commit(action.session_id, request.user_id, (resolved, *more), *grants, request.remember(ack))
    except Conflict as error:
        if await hub.ports.store.remembered(request.user_id, request.client_id) is not None:
            raise
        raise _answered() from error
    return ack


def _grants(action: AnswerApproval, asked: ApprovalRequested, directory: str) -> tuple[Grant, ...]:
    """What the answer allows for the whole chat, which works in `directory`.

    A call is allowed once only where nothing narrow can be told of it, or where it was asked in another directory.
    """
    if action.decision != "session" or not asked.pattern or asked.directory not in (ANYWHERE, directory):
        return ()
    return (Grant(asked.tool, asked.pattern, asked.directory),)


def _closing() -> Busy:
    return Busy("the server is shutting down", hint="answer again in a moment")


def _question_answered() -> BadField:
    return BadField(
        "this question is answered already, or its turn has ended", field="question_id", hint="see the chat"
    )


def _answered() -> BadField:
    return BadField(
        "this approval is answered already, or its turn has ended", field="approval_id", hint="see the chat"
    )
