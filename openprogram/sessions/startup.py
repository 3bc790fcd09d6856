"""At start-up: every turn that a crash cut short is closed, but for those that only waited for a person."""

import structlog

from openprogram.core.events import TurnReason
from openprogram.core.protocol.codec import decode_event
from openprogram.core.storage import SessionRow
from openprogram.sessions.fold import UnfinishedTurn, fold
from openprogram.sessions.hub import Hub
from openprogram.sessions.recover import close, waits_for_answer

_log = structlog.get_logger(__name__)


async def recover_all(hub: Hub) -> int:
    """Close the unfinished turns of an earlier process; returns how many. Waiting ones stay open (P9)."""
    closed = 0
    for row in await hub.ports.store.unfinished():
        turn = await unfinished_turn(hub, row)
        approvals = await hub.ports.store.approvals(row.info.id)
        if waits_for_answer(turn, approvals):
            _log.info("turn_waits_for_answer", session_id=row.info.id, turn_id=row.turn_id)
            continue
        await close_turn(hub, row.info.id, "interrupted")
        closed += 1
    return closed


async def close_turn(hub: Hub, session_id: str, reason: TurnReason) -> None:
    """End a chat's unfinished turn from what its log says; nothing where there is none."""
    row = await hub.ports.store.session(session_id)
    if row is None or row.turn_id is None:
        return
    turn = await unfinished_turn(hub, row)
    approvals = await hub.ports.store.approvals(session_id)
    events = close(turn, row.turn_id, approvals, now=hub.now(), reason=reason)
    await hub.journal.commit(session_id, row.user_id, events)
    _log.info("turn_closed", session_id=session_id, turn_id=row.turn_id, reason=reason)


async def unfinished_turn(hub: Hub, row: SessionRow) -> UnfinishedTurn:
    """Fold the log from the turn's first event on."""
    seq = (row.turn_seq or 1) - 1
    events = []
    while page := await hub.ports.store.events(row.info.id, seq):
        events += [decode_event(stored.payload) for stored in page]
        seq = page[-1].seq
    return fold(events)
