"""News for the sidebars: the newest description of each chat that changed, never an older one after it."""

import asyncio

import structlog

from openprogram.core.errors import StorageError
from openprogram.core.events import ErrorInfo
from openprogram.core.ports import Bus, Store
from openprogram.core.protocol.codec import encode_frame
from openprogram.core.protocol.frames import ErrorFrame, HintFrame, HintKind
from openprogram.core.topics import user_topic
from openprogram.sessions.ticker import Ticker

_log = structlog.get_logger(__name__)


class Sidebar:
    """Publishes hints apart from the commits that cause them, one chat after the other (`serve`).

    What changes before the next tick is read at that tick, out of the way of the turn that it begins: many changes of
    a chat are one hint. Losing one costs latency, never data (design law 8).
    """

    def __init__(self, store: Store, bus: Bus, ticker: Ticker) -> None:
        self._store = store
        self._bus = bus
        self._ticker = ticker
        self._changed: dict[str, str] = {}
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def session_changed(self, session_id: str, user_id: str) -> None:
        """The chat's row is another one now. Never blocks."""
        if not self._changed:
            self._ticker.call_next(self._wake.set)
        self._changed[session_id] = user_id
        self._idle.clear()

    def hint(self, user_id: str, kind: HintKind) -> None:
        """Tell a user's tabs to look again."""
        self._bus.publish(user_topic(user_id), 0, 0, encode_frame(HintFrame(hint=kind)))

    def failed(self, user_id: str, error: ErrorInfo) -> None:
        """Tell a user's tabs what no log can hold: the store is away."""
        frame = ErrorFrame(code=error.code, message=error.message, hint=error.hint)
        self._bus.publish(user_topic(user_id), 0, 0, encode_frame(frame))

    async def told(self) -> None:
        """Wait until every change so far was published, while `serve` runs."""
        await self._idle.wait()

    async def serve(self) -> None:
        """Publish what changes, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._changed:
                session_id = next(iter(self._changed))
                await self._publish(session_id, self._changed.pop(session_id))
            self._idle.set()

    async def _publish(self, session_id: str, user_id: str) -> None:
        try:
            row = await self._store.session(session_id)
        except StorageError as error:
            _log.warning("hint_lost", session_id=session_id, error=error.message)
            return
        if row is not None and (row.info.visible or row.info.deleted):
            frame = HintFrame(hint="session_changed", session=row.info)
            self._bus.publish(user_topic(user_id), 0, 0, encode_frame(frame))
