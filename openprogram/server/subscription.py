"""One reader's place in one chat's log: each later event once, in order, whatever the bus does (P2, P3, P11).

A subscription has two sources. While the bus is contiguous, its frames are buffered and passed on as they are.
Whenever it is not (frames lost, buffer full, just subscribed) the subscription is *behind*: it reads the log after
its cursor, or, too far behind for that, takes a snapshot. Only the cursor decides what is next, so no order of
commits, losses, reconnects and slow reads can repeat or skip an event.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from openprogram.core.protocol.codec import encode_event_frame, encode_frame
from openprogram.core.protocol.frames import Snapshot
from openprogram.core.storage import StoredEvent
from openprogram.server.service import Log


@dataclass(frozen=True, slots=True)
class Limits:
    """Who is further `behind` gets a snapshot (P3). What is `buffered` in memory for one reader of one chat is dropped
    at its limit, and read from the log when the reader gets there (P11).
    """

    behind_events: int = 2_000
    behind_bytes: int = 2_000_000
    buffered_events: int = 500
    buffered_bytes: int = 1_000_000


class Frame(NamedTuple):
    """A frame ready to be sent, and the seq that a reader has reached with it (0: unnumbered)."""

    seq: int
    text: str


class Subscription:
    """A reader's cursor in one chat. While it is `pending`, `take` gives what comes next, or else `read` does.

    `wake` is called with the subscription whenever there may be something.
    """

    def __init__(
        self,
        session_id: str,
        after_seq: int,
        *,
        log: Log,
        snapshot: Callable[[], Awaitable[Snapshot]],
        wake: Callable[["Subscription"], None],
        detach: Callable[["Subscription"], None],
        limits: Limits,
    ) -> None:
        self.session_id = session_id
        self.closed = False
        self._log = log
        self._take_snapshot = snapshot
        self._wake = wake
        self._detach = detach
        self._limits = limits
        self._cursor = after_seq  # the last seq that was passed on
        self._tail = after_seq  # the last seq that is buffered, or else passed on
        self._buffer: list[Frame] = []
        self._buffered_bytes = 0
        self._behind = True  # the log may hold more than was buffered
        self._needs_snapshot = False
        self._checked_at = after_seq

    @property
    def pending(self) -> bool:
        """Whether there may be something to give."""
        return bool(self._buffer) or self._behind

    def require_snapshot(self) -> None:
        """Start from a snapshot, not from the cursor: asked for, or the cursor is beyond the log."""
        self._needs_snapshot = True
        self._fall_behind()

    def offer(self, first_seq: int, last_seq: int, frames: Sequence[Frame], size: int) -> None:
        """News from the bus: events up to `last_seq` are stored; `frames` are they, or empty if not carried."""
        if self._needs_snapshot:
            self._behind = True  # the cursor means nothing yet
        elif last_seq <= self._tail:
            return
        elif not frames or first_seq != self._tail + 1:
            self._behind = True
        elif not self._fits(len(frames), size):
            self._fall_behind()
        else:
            self._buffer.extend(frames)
            self._buffered_bytes += size
            self._tail = last_seq
        self._wake(self)

    def check(self) -> None:
        """Look into the log if nothing came since the last check: the bus may have lost the newest event."""
        if self._checked_at == self._tail:
            self._behind = True
            self._wake(self)
        self._checked_at = self._tail

    def take(self) -> Sequence[Frame]:
        """The frames that the bus has brought and that follow the cursor."""
        taken = self._buffer
        if taken:
            self._buffer, self._buffered_bytes = [], 0
            self._cursor = self._tail
        return taken

    async def read(self) -> Sequence[Frame]:
        """With nothing to take: what follows the cursor in the log. May be called again after a `StorageError`."""
        if not self._behind:
            return ()
        self._behind = False  # what the bus cannot append from here on sets it again
        read = False
        try:
            frames = await self._read()
            read = True
        finally:
            self._behind = self._behind or not read
        if frames:
            self._advance(frames[-1].seq)
        return frames

    def close(self) -> None:
        """No more news. What was taken and not yet sent is not to be sent."""
        self.closed = True
        self._buffer.clear()
        self._behind = False
        self._detach(self)
        self._wake(self)

    def _fits(self, count: int, size: int) -> bool:
        return (
            len(self._buffer) + count <= self._limits.buffered_events
            and self._buffered_bytes + size <= self._limits.buffered_bytes
        )

    def _fall_behind(self) -> None:
        self._buffer.clear()
        self._buffered_bytes = 0
        self._tail = self._cursor
        self._behind = True

    def _advance(self, seq: int) -> None:
        """Move the cursor to `seq`, past what the bus delivered twice in the meantime."""
        self._cursor = seq
        self._buffer = [frame for frame in self._buffer if frame.seq > seq]
        self._buffered_bytes = sum(len(frame.text) for frame in self._buffer)
        self._tail = self._buffer[-1].seq if self._buffer else seq

    async def _read(self) -> Sequence[Frame]:
        if not self._needs_snapshot:
            backlog = await self._log.backlog(self.session_id, self._cursor)
            if backlog.events == 0:
                return ()
            if backlog.events <= self._limits.behind_events and backlog.bytes <= self._limits.behind_bytes:
                events = await self._log.events(self.session_id, self._cursor, self._limits.behind_events)
                if _contiguous(self._cursor, events):
                    return [Frame(event.seq, encode_event_frame(event).decode()) for event in events]
        snapshot = await self._take_snapshot()
        self._needs_snapshot = False
        return (Frame(snapshot.seq, encode_frame(snapshot).decode()),)


def _contiguous(cursor: int, events: Sequence[StoredEvent]) -> bool:
    """Whether the events follow the cursor without a gap. A run that was joined across it does not."""
    for event in events:
        if event.from_seq != cursor + 1:
            return False
        cursor = event.seq
    return True
