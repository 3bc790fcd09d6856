"""Ending turns: those that nobody works on are closed at start-up or when the chat is next touched, unless they wait
for a person; the user stops any."""

import structlog

from openprogram.core.errors import DatabaseCorrupt
from openprogram.core.events import ErrorInfo, ErrorRaised, TurnReason
from openprogram.core.loaded import LoadedSet
from openprogram.core.storage import SessionRow
from openprogram.sessions.fold import UnfinishedTurn, fold
from openprogram.sessions.hub import Hub
from openprogram.sessions.log import turn_events
from openprogram.sessions.recover import Asked, close, waits_for_answer

_log = structlog.get_logger(__name__)


async def recover_all(hub: Hub) -> int:
    """Close the unfinished turns of an earlier process; returns how many. Waiting ones stay open (P9).

    A chat whose log is damaged is left as it is, and logged: the others are served.
    """
    closed = 0
    for row in await hub.ports.store.unfinished():
        try:
            settled = await settle(hub, row)
        except DatabaseCorrupt as error:
            _log.error("turn_unreadable", session_id=row.info.id, turn_id=row.turn_id, error=error.message)
            continue
        if settled.turn_id is None:
            closed += 1
        else:
            _log.info("turn_waits_for_answer", session_id=row.info.id, turn_id=row.turn_id)
    return closed


async def settle(hub: Hub, row: SessionRow) -> SessionRow:
    """The row after a turn that has no run any more and does not wait for a person was closed.

    The caller holds the chat's lock, or is alone.
    """
    if row.turn_id is None or row.info.id in hub.runs:
        return row
    if waits_for_answer(await unfinished_turn(hub, row), await asked_by(hub, row)):
        return row
    await close_turn(hub, row.info.id, "interrupted")
    return await hub.row(row.user_id, row.info.id)


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
    asked = await asked_by(hub, row)
    events = close(turn, row.turn_id, asked, LoadedSet(row.loaded), now=hub.now(), reason=reason, error=error)
    await hub.journal.commit(session_id, row.user_id, events)
    _log.info("turn_closed", session_id=session_id, turn_id=row.turn_id, reason=reason)


async def asked_by(hub: Hub, row: SessionRow) -> Asked:
    """What the chat's unfinished turn has asked its person."""
    session_id = row.info.id
    questions = await hub.ports.store.questions(session_id, pending=False)
    return Asked(
        await hub.ports.store.approvals(session_id),
        tuple(question for question in questions if question.pending),
        tuple(each for each in questions if not each.pending and each.asked.turn_id == row.turn_id),
    )


async def unfinished_turn(hub: Hub, row: SessionRow) -> UnfinishedTurn:
    """What the chat's unfinished turn came to."""
    return fold(await turn_events(hub.ports.store, row))
