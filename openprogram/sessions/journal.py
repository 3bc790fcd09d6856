"""Appending to a chat's log: events and the rows they project to in one commit, then the bus (design law 8)."""

from collections.abc import Sequence

import structlog

from openprogram.core.errors import StorageError
from openprogram.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    MessageAdded,
    SessionChanged,
    TurnFinished,
    TurnStarted,
)
from openprogram.core.ports import Bus, Store
from openprogram.core.protocol.codec import encode_event_frame, encode_frame
from openprogram.core.protocol.frames import HintFrame, HintKind
from openprogram.core.storage import StoredEvent, Write
from openprogram.core.topics import session_topic, user_topic
from openprogram.sessions.project import project

_log = structlog.get_logger(__name__)

_SIDEBAR = (MessageAdded, TurnStarted, TurnFinished, ApprovalRequested, ApprovalResolved, SessionChanged)


class Journal:
    """The only way into the log."""

    def __init__(self, store: Store, bus: Bus) -> None:
        self._store = store
        self._bus = bus

    async def commit(
        self, session_id: str, user_id: str, events: Sequence[Event], *more: Write
    ) -> tuple[StoredEvent, ...]:
        """Store events with their projections and `more`, then publish. Raises `StorageError` and has done nothing."""
        writes = (*project(events, user_id), *more)
        stored = await self._store.commit(session_id, events, writes)
        if stored:
            payload = b"\n".join(encode_event_frame(event) for event in stored)
            self._bus.publish(session_topic(session_id), stored[0].from_seq, stored[-1].seq, payload)
        if writes and any(isinstance(event, _SIDEBAR) for event in events):  # each of these has a row
            await self._hint_session(session_id, user_id)
        return stored

    def hint(self, user_id: str, kind: HintKind) -> None:
        """Tell a user's sidebars to look again."""
        self._bus.publish(user_topic(user_id), 0, 0, encode_frame(HintFrame(hint=kind)))

    async def _hint_session(self, session_id: str, user_id: str) -> None:
        try:
            row = await self._store.session(session_id)
        except StorageError as error:  # the events are stored; a lost hint costs latency, never data (law 8)
            _log.warning("hint_lost", session_id=session_id, error=error.message)
            return
        if row is not None and (row.info.visible or row.info.deleted):
            frame = HintFrame(hint="session_changed", session=row.info)
            self._bus.publish(user_topic(user_id), 0, 0, encode_frame(frame))
