"""Turns that nobody works on: at start-up, or when their chat is next touched, they are closed, go on where all their
questions have an answer, or wait on for a person."""

from typing import assert_never

import structlog

from openprogram.core.errors import DatabaseCorrupt
from openprogram.core.storage import SessionRow
from openprogram.sessions.basis import read_basis
from openprogram.sessions.closing import asked_by, close_turn, unfinished_turn
from openprogram.sessions.hub import Hub
from openprogram.sessions.recover import standing
from openprogram.sessions.runs import launch, prepare_run

_log = structlog.get_logger(__name__)


async def recover_all(hub: Hub) -> int:
    """Close the unfinished turns of an earlier process; returns how many. Waiting ones stay open, and those that have
    their answers go on (P9).

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
        elif row.info.id not in hub.runs:
            _log.info("turn_waits_for_answer", session_id=row.info.id, turn_id=row.turn_id)
    return closed


async def settle(hub: Hub, row: SessionRow) -> SessionRow:
    """The row after a turn that has no run any more was closed, or was given one again where all its questions have
    their answers (P9). One that waits for a person is left alone.

    The caller holds the chat's lock, or is alone.
    """
    if row.turn_id is None or row.info.id in hub.runs:
        return row
    turn = await unfinished_turn(hub, row)
    how = standing(turn, await asked_by(hub, row, turn))
    match how:
        case "waits":
            return row
        case "answered" if not row.info.deleted:
            basis = await read_basis(hub, row.user_id, row.info.id)
            launch(hub, await prepare_run(hub, basis, row.info.leaf_id, turn))
            _log.info("turn_goes_on", session_id=row.info.id, turn_id=row.turn_id)
            return row
        case "answered" | "cut":
            await close_turn(hub, row.info.id, "interrupted")
            return await hub.row(row.user_id, row.info.id)
        case _:
            assert_never(how)
