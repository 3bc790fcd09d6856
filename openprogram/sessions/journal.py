"""Appending to a chat's log: events and the rows they project to in one commit, then the bus (design law 8)."""

from collections.abc import Sequence

import structlog

from openprogram.core.asking import ApprovalRequested, ApprovalResolved, QuestionAnswered, QuestionAsked
from openprogram.core.events import Event, MessageAdded, SessionChanged, TurnAccepted, TurnFinished, TurnStarted
from openprogram.core.ports import Bus, Store
from openprogram.core.protocol.codec import encode_event_frame
from openprogram.core.storage import StoredEvent, Write
from openprogram.core.topics import session_topic
from openprogram.sessions.project import has_rows, project
from openprogram.sessions.sidebar import Sidebar

_log = structlog.get_logger(__name__)

_ASKED = (ApprovalRequested, ApprovalResolved, QuestionAsked, QuestionAnswered)
_SIDEBAR = (MessageAdded, TurnAccepted, TurnStarted, TurnFinished, *_ASKED, SessionChanged)


class Journal:
    """The only way into the log."""

    def __init__(self, store: Store, bus: Bus, sidebar: Sidebar) -> None:
        self._store = store
        self._bus = bus
        self._sidebar = sidebar

    async def commit(
        self, session_id: str, user_id: str, events: Sequence[Event], *more: Write
    ) -> tuple[StoredEvent, ...]:
        """Store events with their projections and `more`, then publish. Raises `StorageError` and has done nothing."""
        writes = (*project(events, user_id), *more) if more or any(map(has_rows, events)) else ()
        stored = await self._store.commit(session_id, events, writes)
        if stored:
            payload = b"\n".join(map(encode_event_frame, stored))
            self._bus.publish(session_topic(session_id), stored[0].from_seq, stored[-1].seq, payload)
        if writes and any(isinstance(event, _SIDEBAR) for event in events):  # each of these has a row
            self._sidebar.session_changed(session_id, user_id)
        return stored
