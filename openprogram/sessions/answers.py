"""Answering approvals: once, from any tab, before or after a restart."""

from openprogram.agent.environment import Resumed
from openprogram.core.errors import BadField, Busy, Conflict
from openprogram.core.events import ApprovalRequested, ApprovalResolved, Event, ToolCallFinished
from openprogram.core.messages import TextBlock, ToolResultBlock
from openprogram.core.ports import Answer
from openprogram.core.protocol.actions import AnswerApproval
from openprogram.core.protocol.frames import SessionAck
from openprogram.core.storage import AddGrant, Grant
from openprogram.sessions.hub import Hub
from openprogram.sessions.live import Live
from openprogram.sessions.request import Request
from openprogram.sessions.runs import launch, prepare_run
from openprogram.sessions.startup import settle, unfinished_turn
from openprogram.tools.approval import refusal


async def answer_approval(hub: Hub, request: Request, action: AnswerApproval) -> SessionAck:
    """Store the answer, then let the call go on. A second answer is an error that says so."""
    await hub.row(request.user_id, action.session_id)
    async with hub.lock(action.session_id):
        await settle(hub, await hub.row(request.user_id, action.session_id))
        found = await hub.ports.store.approval(action.approval_id)
        if found is None or found[0] != action.session_id:
            raise BadField(f"there is no approval {action.approval_id[:100]!r} in this chat", field="approval_id")
        if not found[1].pending:
            raise _answered()
        live = hub.runs.get(action.session_id)
        if live is None:
            return await _answer_waiting_turn(hub, request, action, found[1].request)
        return await _answer_run(hub, request, action, found[1].request, live)


async def _answer_run(
    hub: Hub, request: Request, action: AnswerApproval, asked: ApprovalRequested, live: Live
) -> SessionAck:
    """The call waits in this process."""
    answer = Answer(action.decision, action.note)
    with live.broker.answering(action.approval_id) as question:
        if question is None:
            raise _answered()
        ack = await _store(hub, request, action, asked)
        for grant in _grants(action, asked):
            live.authority.granted(grant)
        question.give(answer)
    return ack


async def _answer_waiting_turn(
    hub: Hub, request: Request, action: AnswerApproval, asked: ApprovalRequested
) -> SessionAck:
    """The turn waits since before a restart; it goes on when this was its last question (P9).

    A denial is the call's result at once: what mode and switches say by then cannot turn it into a call.
    """
    if hub.closing:
        raise Busy("the server is shutting down", hint="answer again in a moment")
    denied: tuple[Event, ...] = ()
    if action.decision == "deny":
        text = refusal(Answer(action.decision, action.note))
        result = ToolResultBlock(asked.call_id, "denied", (TextBlock(text),), duration_ms=0)
        denied = (ToolCallFinished(asked.call_id, "denied", result, 0),)
    ack = await _store(hub, request, action, asked, *denied)
    row = await hub.row(request.user_id, action.session_id)
    if row.turn_id is not None and not await hub.ports.store.approvals(action.session_id):
        turn = await unfinished_turn(hub, row)
        resumed = Resumed(row.turn_id, turn.steps, turn.finished, turn.fingerprint, turn.discovered)
        launch(hub, await prepare_run(hub, row, row.info.leaf_id, resumed))
    return ack


async def _store(
    hub: Hub, request: Request, action: AnswerApproval, asked: ApprovalRequested, *more: Event
) -> SessionAck:
    grants = (AddGrant(grant) for grant in _grants(action, asked))
    ack = SessionAck(id=action.id, session_id=action.session_id)
    resolved = ApprovalResolved(action.approval_id, action.decision, action.note)
    try:
        await hub.journal.commit(action.session_id, request.user_id, (resolved, *more), *grants, request.remember(ack))
    except Conflict as error:
        if await hub.ports.store.remembered(request.user_id, request.client_id) is not None:
            raise
        raise _answered() from error
    return ack


def _grants(action: AnswerApproval, asked: ApprovalRequested) -> tuple[Grant, ...]:
    """What the answer allows for the whole chat; a call of which nothing narrow can be told is allowed once only."""
    return (Grant(asked.tool, asked.pattern),) if action.decision == "session" and asked.pattern else ()


def _answered() -> BadField:
    return BadField(
        "this approval is answered already, or its turn has ended", field="approval_id", hint="see the chat"
    )
