"""A small real implementation of what the server needs: a log in memory, buses good and bad, a service over them.

The rules are those of the store and of `SessionService` (gapless seq, owners, idempotency, typed errors), so that the
server can be tested without the layers below it.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from openprogram.core.errors import IdConflict, OpenProgramError, UnknownPreset, UnknownSession
from openprogram.core.events import Event, MessageAdded, Notice, SessionInfo
from openprogram.core.ids import new_id
from openprogram.core.intent import ChipEffect, Effective, ToolIntent
from openprogram.core.jsonio import encode
from openprogram.core.messages import Message, TextBlock
from openprogram.core.ports import BusCallback
from openprogram.core.protocol import VERSION
from openprogram.core.protocol.actions import (
    Action,
    Chat,
    CreateSession,
    ListSessions,
    LoadMessages,
    SetToolsProfile,
    ToggleWebSearch,
)
from openprogram.core.protocol.codec import encode_event_frame
from openprogram.core.protocol.frames import (
    Ack,
    AnyAck,
    ChatAck,
    Hello,
    IntentAck,
    MessagesAck,
    SessionAck,
    SessionsAck,
    Snapshot,
    UserInfo,
)
from openprogram.core.protocol.state import SessionState
from openprogram.core.storage import Backlog, SessionRow, StoredEvent
from openprogram.core.topics import session_topic
from openprogram.core.usage import Usage

AT = "2026-01-01T00:00:00.000Z"


async def _at_once() -> None:
    """The pause that is none."""


@dataclass
class MemoryLog:
    """Events by session. `pause` is awaited before and after each read, so that a test can put things in between."""

    owners: dict[str, str] = field(default_factory=dict)
    chats: defaultdict[str, list[StoredEvent]] = field(default_factory=lambda: defaultdict(list))
    pause: Callable[[], Awaitable[None]] = _at_once
    reads: int = 0
    failure: OpenProgramError | None = None

    def append(self, session_id: str, *events: Event) -> list[StoredEvent]:
        """Store events under the next seqs."""
        log = self.chats[session_id]
        stored = []
        for event in events:
            seq = log[-1].seq + 1 if log else 1
            stored.append(StoredEvent(session_id, seq, seq, AT, encode(event)))
            log.append(stored[-1])
        return stored

    def join(self, session_id: str, first: int, last: int) -> None:
        """Compact: replace the rows within `first` to `last` by one that covers them."""
        log = self.chats[session_id]
        inside = [event for event in log if first <= event.from_seq and event.seq <= last]
        if len(inside) > 1:
            joined = replace(inside[-1], from_seq=inside[0].from_seq)
            at = log.index(inside[0])
            log[at : at + len(inside)] = [joined]

    def last_seq(self, session_id: str) -> int:
        """The newest seq; 0 if there is none."""
        return self.chats[session_id][-1].seq if self.chats[session_id] else 0

    async def session(self, session_id: str) -> SessionRow | None:
        await self.pause()
        if session_id not in self.owners:
            return None
        info = SessionInfo(session_id, "chat", AT, AT)
        return SessionRow(info, self.owners[session_id], self.last_seq(session_id))

    async def events(self, session_id: str, after_seq: int, limit: int = 500) -> Sequence[StoredEvent]:
        self.reads += 1
        await self.pause()
        found = [event for event in self.chats[session_id] if event.seq > after_seq][:limit]
        await self.pause()
        return found

    async def backlog(self, session_id: str, after_seq: int) -> Backlog:
        self.reads += 1
        await self.pause()
        if self.failure is not None:
            raise self.failure
        found = [event for event in self.chats[session_id] if event.seq > after_seq]
        backlog = Backlog(len(found), sum(len(event.payload) for event in found))
        await self.pause()
        return backlog


class LocalBus:
    """Delivers at once, in order."""

    def __init__(self) -> None:
        self.callbacks: defaultdict[str, list[BusCallback]] = defaultdict(list)
        self.left: Callable[[], object] = list
        """Called after each unsubscription."""

    def publish(self, topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        for callback in list(self.callbacks[topic]):
            callback(topic, first_seq, last_seq, payload)

    def subscribe(self, topic: str, callback: BusCallback) -> Callable[[], None]:
        self.callbacks[topic].append(callback)

        def unsubscribe() -> None:
            self.callbacks[topic].remove(callback)
            self.left()

        return unsubscribe

    async def aclose(self) -> None:
        self.callbacks.clear()


class LossyBus(LocalBus):
    """Keeps publications back until the test decides: deliver (in any order, repeatedly), strip or lose them."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[tuple[str, int, int, bytes]] = []

    def publish(self, topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        self.held.append((topic, first_seq, last_seq, payload))

    def deliver(self, index: int, *, keep: bool = False, strip: bool = False) -> None:
        """Pass one on; `keep` leaves it to be passed on again, `strip` takes its frames out."""
        topic, first, last, payload = self.held[index] if keep else self.held.pop(index)
        super().publish(topic, first, last, b"" if strip else payload)


def publish(bus: LocalBus, stored: Sequence[StoredEvent]) -> None:
    """Publish what was stored, as `openprogram.sessions` does."""
    payload = b"\n".join(encode_event_frame(event) for event in stored)
    bus.publish(session_topic(stored[0].session_id), stored[0].from_seq, stored[-1].seq, payload)


class StandInService:
    """Serves the actions that the server's tests need, over a `MemoryLog`."""

    def __init__(self, log: MemoryLog, bus: LocalBus) -> None:
        self.log = log
        self.bus = bus
        self.performed: list[Action] = []
        self.snapshots = 0
        self.failing: dict[str, Exception] = {}
        self.gate: asyncio.Event | None = None
        self._acks: dict[tuple[str, str], tuple[Action, AnyAck]] = {}

    async def hello(self, user: UserInfo) -> Hello:
        return Hello(
            version=VERSION,
            server="0",
            boot_id="e_1",
            user=user,
            models=(),
            default_model=None,
            presets=(),
            workspace="/tmp",
        )

    async def authorise(self, user_id: str, session_id: str) -> None:
        if self.log.owners.get(session_id) != user_id:
            raise UnknownSession(f"there is no chat {session_id!r}", field="session_id")

    async def snapshot(self, user_id: str, session_id: str) -> Snapshot:
        await self.authorise(user_id, session_id)
        self.snapshots += 1
        await self.log.pause()
        state = SessionState(
            session=SessionInfo(session_id, "chat", AT, AT),
            messages=(),
            siblings={},
            more=False,
            status="idle",
            turn_id=None,
            partial=None,
            intent=ToolIntent(),
            revision=0,
            effective=Effective(web_search=ChipEffect("off")),
            permission_mode="ask",
            queue=(),
            approvals=(),
            questions=(),
            usage=Usage(),
            cost=None,
        )
        snapshot = Snapshot(session_id=session_id, seq=self.log.last_seq(session_id), state=state)
        await self.log.pause()
        return snapshot

    async def perform(self, user_id: str, action: Action) -> AnyAck:
        if (error := self.failing.get(action.action)) is not None:
            raise error
        if self.gate is not None:
            await self.gate.wait()
        known = self._acks.get((user_id, action.id))
        if known is not None:
            if known[0] != action:
                raise IdConflict("this id was used for something else", field="id")
            return known[1]
        ack = await self._do(user_id, action)
        self.performed.append(action)
        self._acks[user_id, action.id] = (action, ack)
        return ack

    def emit(self, session_id: str, *events: Event) -> list[StoredEvent]:
        """Commit and publish, as a run does."""
        stored = self.log.append(session_id, *events)
        publish(self.bus, stored)
        return stored

    def notices(self, session_id: str, count: int, size: int = 10) -> None:
        """Commit and publish so many events, each by itself."""
        for _ in range(count):
            self.emit(session_id, Notice("note", "x" * size))

    async def _do(self, user_id: str, action: Action) -> AnyAck:
        match action:
            case CreateSession():
                return SessionAck(id=action.id, session_id=self.create(user_id))
            case ListSessions():
                infos = tuple(
                    SessionInfo(sid, "chat", AT, AT) for sid, who in self.log.owners.items() if who == user_id
                )
                return SessionsAck(id=action.id, sessions=infos, more=False)
            case Chat(session_id=session_id):
                session_id = session_id or self.create(user_id)
                await self.authorise(user_id, session_id)
                message = Message(new_id("m"), None, "user", (TextBlock(action.text),), AT)
                self.emit(session_id, MessageAdded(message))
                return ChatAck(id=action.id, session_id=session_id, message_id=message.id)
            case LoadMessages():
                await self.authorise(user_id, action.session_id)
                return MessagesAck(id=action.id, session_id=action.session_id, messages=(), siblings={}, more=False)
            case SetToolsProfile(toolset=str(name)) if name not in ("full", "research"):
                raise UnknownPreset(f"there is no preset {name!r}", field="toolset", hint="full, research")
            case SetToolsProfile() | ToggleWebSearch():
                await self.authorise(user_id, action.session_id)
                return IntentAck(id=action.id, session_id=action.session_id, revision=1, applies="now")
            case _ if (session_id := getattr(action, "session_id", None)) is not None:
                await self.authorise(user_id, session_id)
                return SessionAck(id=action.id, session_id=session_id)
            case _:
                return Ack(id=action.id)

    def create(self, user_id: str) -> str:
        """A new chat."""
        session_id = new_id("s")
        self.log.owners[session_id] = user_id
        return session_id
