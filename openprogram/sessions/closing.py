"""Ending a turn that nobody works on any more, from what its log says; the user stops any."""

import structlog

from openprogram.core.events import ErrorInfo, ErrorRaised, TurnReason
from openprogram.core.loaded import LoadedSet
from openprogram.core.storage import SessionRow
from openprogram.sessions.fold import UnfinishedTurn, fold
from openprogram.sessions.hub import Hub
from openprogram.sessions.log import turn_events
from openprogram.sessions.recover import Asked, close

_log = structlog.get_logger(__name__)


async def stop_turn(hub: Hub, session_id: str) -> None:
    """Stop the chat's run; without one, close the turn that waits (P7)."""
    if not _stop_run(hub, session_id):
        async with hub.lock(session_id):  # a run may have begun meanwhile, by an answer
            if not _stop_run(hub, session_id):
                await close_turn(hub, session_id, "stopped")


def _stop_run(hub: Hub, session_id: str) -> bool:
    live = hub.runs.get(session_id)
    if live is not None:
        live.run.stop.request()
    return live is not None


async def close_turn(hub: Hub, session_id: str, reason: TurnReason, error: ErrorInfo | None = None) -> None:
    """End a chat's unfinished turn from what its log says. Where there is none, only `error` is told."""
    row = await hub.ports.store.session(session_id)
    if row is None:
        return
    if row.turn_id is None:
        if error is not None:
            await hub.journal.commit(session_id, row.user_id, (ErrorRaised(error),))
        return
    turn = await unfinished_turn(hub, row)
    asked = await asked_by(hub, row, turn)
    events = close(turn, row.turn_id, asked, LoadedSet(row.loaded), now=hub.now(), reason=reason, error=error)
    await hub.journal.commit(session_id, row.user_id, events)
    _log.info("turn_closed", session_id=session_id, turn_id=row.turn_id, reason=reason)


async def asked_by(hub: Hub, row: SessionRow, turn: UnfinishedTurn) -> Asked:
    """What the chat's unfinished turn has asked its person."""
    session_id = row.info.id
    questions = await hub.ports.store.questions(session_id, pending=False)
    return Asked(
        await hub.ports.store.approvals(session_id),
        tuple(question for question in questions if question.pending),
        tuple(each for each in questions if not each.pending and each.asked.question_id in turn.asked),
    )


async def unfinished_turn(hub: Hub, row: SessionRow) -> UnfinishedTurn:
    """What the chat's unfinished turn came to."""
    return fold(await turn_events(hub.ports.store, row))
