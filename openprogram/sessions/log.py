"""Reading a stretch of a chat's log as typed events."""

from pydantic import ValidationError

from openprogram.core.errors import DatabaseCorrupt
from openprogram.core.events import Event
from openprogram.core.ports import Store
from openprogram.core.protocol.codec import decode_event
from openprogram.core.storage import SessionRow, StoredEvent


async def timed_turn_events(store: Store, row: SessionRow) -> tuple[tuple[str, Event], ...]:
    """As `turn_events`, each event with its time."""
    seq = (row.turn_seq or 1) - 1
    events: list[tuple[str, Event]] = []
    while seq < row.last_seq and (page := await store.events(row.info.id, seq)):
        events += [(stored.at, _decoded(stored)) for stored in page if stored.seq <= row.last_seq]
        seq = page[-1].seq
    return tuple(events)


async def turn_events(store: Store, row: SessionRow) -> tuple[Event, ...]:
    """The events of the chat's unfinished turn, up to the row's last seq. Raises `DatabaseCorrupt`."""
    return tuple(event for _, event in await timed_turn_events(store, row))


def _decoded(stored: StoredEvent) -> Event:
    try:
        return decode_event(stored.payload)
    except ValidationError as error:
        raise DatabaseCorrupt(
            f"event {stored.seq} of chat {stored.session_id} cannot be read: {error}",
            hint="The row was damaged or changed by hand. Restore a backup, or delete the chat.",
        ) from error
