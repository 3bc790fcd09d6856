"""Answering approvals: once, from any tab, before or after a restart."""

from openprogram.core.errors import BadField, Conflict
from openprogram.core.events import ApprovalResolved
from openprogram.core.ports import Answer
from openprogram.core.protocol.actions import AnswerApproval
from openprogram.core.protocol.frames import SessionAck
from openprogram.core.storage import AddGrant, Grant, Write
from openprogram.sessions.chat import resume_answered
from openprogram.sessions.hub import Hub
from openprogram.sessions.request import Request


async def answer_approval(hub: Hub, request: Request, action: AnswerApproval) -> SessionAck:
    """Store the answer, then let the call go on. A second answer is an error that says so."""
    await hub.row(request.user_id, action.session_id)
    found = await hub.ports.store.approval(action.approval_id)
    if found is None or found[0] != action.session_id:
        raise BadField(f"there is no approval {action.approval_id[:100]!r} in this chat", field="approval_id")
    asked = found[1].request
    if not found[1].pending:
        raise _answered()
    grant = Grant(asked.tool, asked.pattern) if action.decision == "session" else None
    writes: tuple[Write, ...] = () if grant is None else (AddGrant(grant),)
    ack = SessionAck(id=action.id, session_id=action.session_id)
    resolved = ApprovalResolved(action.approval_id, action.decision, action.note)
    async with hub.lock(action.session_id):
        try:
            await hub.journal.commit(action.session_id, request.user_id, (resolved,), *writes, request.remember(ack))
        except Conflict as error:
            if await hub.ports.store.remembered(request.user_id, request.client_id) is not None:
                raise
            raise _answered() from error
        live = hub.runs.get(action.session_id)
        if live is None:
            await resume_answered(hub, await hub.row(request.user_id, action.session_id))
            return ack
    if grant is not None:
        live.authority.granted(grant)
    live.broker.answered(action.approval_id, Answer(action.decision, action.note))
    return ack


def _answered() -> BadField:
    return BadField(
        "this approval is answered already, or its turn has ended", field="approval_id", hint="see the chat"
    )
