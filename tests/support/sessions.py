"""Chats over a real store on a real file and a real bus, with a scripted model and tools that wait for the test.

`opened` is a server's inside, with its codec; leaving the block is a shutdown. `crashed` is what `kill -9` leaves."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from typing_extensions import override

from openprogram.bus.local import LocalBus
from openprogram.core.asking import ApprovalRequested
from openprogram.core.errors import NoEndpoint, StorageError
from openprogram.core.events import Event, MessageAdded, PermissionMode, TurnFinished
from openprogram.core.ids import new_id
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import encode
from openprogram.core.messages import Message, QueuedMessage
from openprogram.core.ports import Provider
from openprogram.core.prompt import ModelInfo
from openprogram.core.protocol.codec import decode_action, decode_event
from openprogram.core.protocol.frames import AnyAck, ChatAck, IntentAck, MessagesAck, SessionsAck, Snapshot
from openprogram.core.storage import Remembered, SessionRow, StoredEvent, Write
from openprogram.core.tooling import AgentProfile, Preset
from openprogram.core.topics import session_topic
from openprogram.permissions.modes import ModeRule, refused_by_mode
from openprogram.sessions.hub import Defaults, Ports, SettingChanged
from openprogram.sessions.service import SessionService, session_service
from openprogram.store.sqlite.store import SqliteStore
from openprogram.tokens.counts import TokenCounts
from openprogram.tools.registry import Registry
from openprogram.tools.search.finder import Finder
from tests.support.agent import NOON, FakeTool, counted_here
from tests.support.script import MODEL, Gate, Script, ScriptedProvider

E = TypeVar("E")
USER = "u_ada"
EVERYTHING = AgentProfile(intent=ToolIntent(toolset="full"))


class TriedStore(SqliteStore):
    """The real store, with hooks before commits and reads that may wait or fail, and reads that fail when told to."""

    before_commit: Callable[[Sequence[Event], Sequence[Write]], Awaitable[None]] | None = None
    before_row: Callable[[], Awaitable[None]] | None = None
    after_queue: Callable[[], Awaitable[None]] | None = None
    reads_fail: bool = False

    @override
    async def commit(
        self, session_id: str, events: Sequence[Event], writes: Sequence[Write] = ()
    ) -> tuple[StoredEvent, ...]:
        if self.before_commit is not None:
            await self.before_commit(events, writes)
        return await super().commit(session_id, events, writes)

    @override
    async def session(self, session_id: str) -> SessionRow | None:
        if self.reads_fail:
            raise StorageError("the disk is gone")
        if self.before_row is not None:
            await self.before_row()
        return await super().session(session_id)

    @override
    async def queue(self, session_id: str) -> tuple[QueuedMessage, ...]:
        found = await super().queue(session_id)
        if self.after_queue is not None:
            await self.after_queue()
        return found

    @override
    async def remembered(self, user_id: str, client_id: str) -> Remembered | None:
        await asyncio.sleep(0)  # twins must not depend on how fast this is
        return await super().remembered(user_id, client_id)


class Catalog:
    """One model, and `others` that a test adds, behind the scripted provider."""

    def __init__(self, provider: Provider) -> None:
        self.provider, self.model, self.gone, self.others = provider, MODEL, False, tuple[ModelInfo, ...]()
        self.hangs: Gate | None = None  # where the endpoint stands while it is asked for its models

    async def models(self) -> tuple[ModelInfo, ...]:
        return (self.model, *self.others)

    async def default_id(self) -> str | None:
        return self.model.id

    def about(self, model_id: str) -> ModelInfo | None:
        return next((model for model in (self.model, *self.others) if model.id == model_id), None)

    async def resolve(self, model_id: str | None) -> tuple[ModelInfo, Provider]:
        if self.hangs is not None:
            await self.hangs.wait()
        if self.gone or (found := self.about(model_id or self.model.id)) is None:
            raise NoEndpoint(f"there is no model {model_id}", hint=f"choose {self.model.id}")
        return found, self.provider


class Chats:
    """The service with what stands around it."""

    def __init__(
        self,
        service: SessionService,
        store: TriedStore,
        bus: LocalBus,
        registry: Registry,
        provider: ScriptedProvider,
        catalog: Catalog,
    ) -> None:
        self.service = service
        self.store, self.bus = store, bus
        self.registry, self.provider, self.catalog = registry, provider, catalog

    async def do(self, action: str, *, user: str = USER, id: str | None = None, **fields: Any) -> AnyAck:
        """Perform an action as a client sends it. Ids are fresh, in a stored database too, unless given."""
        frame = {"action": action, "id": id or new_id("c"), **fields}
        return await self.service.perform(user, decode_action(encode(frame)))

    async def say(self, text: str, session_id: str | None = None, **fields: Any) -> ChatAck:
        """Send a message."""
        return cast(ChatAck, await self.do("chat", session_id=session_id, text=text, **fields))

    async def said(self, text: str, session_id: str | None = None, **fields: Any) -> str:
        """Send a message and wait for the end of the turn; returns the chat."""
        turns = 0 if session_id is None else len(await self.of(session_id, TurnFinished))
        ack = await self.say(text, session_id, **fields)
        await self.until(ack.session_id, TurnFinished, turns + 1)
        await self.rest(ack.session_id)
        return ack.session_id

    async def patch(self, action: str, session_id: str, **fields: Any) -> IntentAck:
        """Change the intent."""
        return cast(IntentAck, await self.do(action, session_id=session_id, **fields))

    async def draft(self, **fields: Any) -> str:
        """Make a chat without messages."""
        return cast(ChatAck, await self.do("create_session", **fields)).session_id

    async def events(self, session_id: str, after: int = 0) -> list[Event]:
        """The chat's log."""
        return [decode_event(stored.payload) for stored in await self.log(session_id, after)]

    async def log(self, session_id: str, after: int = 0) -> list[StoredEvent]:
        """The chat's log as it stands in the store."""
        found: list[StoredEvent] = []
        while page := await self.store.events(session_id, found[-1].seq if found else after):
            found += page
        return found

    async def of(self, session_id: str, kind: type[E]) -> list[E]:
        """The events of one kind."""
        return [event for event in await self.events(session_id) if isinstance(event, kind)]

    async def until(self, session_id: str, kind: type[E], number: int = 1) -> E:
        """Wait until the n-th event of this kind is stored."""
        changed = asyncio.Event()
        unsubscribe = self.bus.subscribe(session_topic(session_id), lambda *_publication: changed.set())
        try:
            while True:
                changed.clear()
                found = await self.of(session_id, kind)
                if len(found) >= number:
                    return found[number - 1]
                await changed.wait()
        finally:
            unsubscribe()

    async def rest(self, session_id: str) -> None:
        """Wait until no run is left in the chat."""
        live = self.service._hub.runs.get(session_id)
        if live is not None:
            await live.run.finished.wait()

    async def row(self, session_id: str) -> SessionRow:
        """The chat's row."""
        row = await self.store.session(session_id)
        assert row is not None
        return row

    async def branch(self, session_id: str) -> tuple[Message, ...]:
        """The active branch."""
        return cast(MessagesAck, await self.do("load_messages", session_id=session_id, limit=500)).messages

    async def texts(self, session_id: str) -> list[str]:
        """The active branch as `role: text`, without notices."""
        return [f"{m.role}: {m.text}" for m in await self.branch(session_id) if m.role != "notice"]

    async def snapshot(self, session_id: str, user: str = USER) -> Snapshot:
        """What a subscriber gets."""
        return await self.service.snapshot(user, session_id)

    async def sidebar(self, **fields: Any) -> list[str]:
        """Ids of the visible chats."""
        return [info.id for info in cast(SessionsAck, await self.do("list_sessions", **fields)).sessions]

    async def asked(self, session_id: str, number: int = 1) -> ApprovalRequested:
        """Wait for the n-th question to the person."""
        return await self.until(session_id, ApprovalRequested, number)

    async def answers(self, session_id: str, number: int) -> Message:
        """Wait for the n-th answer of the model."""
        while True:
            found = [added.message for added in await self.of(session_id, MessageAdded)]
            answers = [message for message in found if message.role == "assistant"]
            if len(answers) >= number:
                return answers[number - 1]
            await self.until(session_id, MessageAdded, len(found) + 1)


@asynccontextmanager
async def opened(
    folder: Path,
    *scripts: Script,
    tools: Sequence[FakeTool] = (),
    presets: Sequence[Preset] = (),
    profile: AgentProfile = EVERYTHING,
    mode: PermissionMode = "auto",
    registry: Registry | None = None,
    max_steps: int = 200,
    monotonic: Callable[[], float] = lambda: NOON,
    clock: Callable[[], float] = lambda: NOON,
    setting_changed: SettingChanged = lambda _user_id, _key, _value: None,
    mode_rule: ModeRule = refused_by_mode,
) -> AsyncIterator[Chats]:
    """Serve the chats of `folder`. The default profile offers every tool of the test."""
    if registry is None:
        registry = Registry(presets)
        registry.put("builtin", [tool.spec for tool in tools])
    made = registry
    provider = ScriptedProvider(*scripts)
    catalog = Catalog(provider)
    store = cast(TriedStore, await TriedStore.open(folder / "chats.db", lambda: NOON))
    bus = LocalBus()
    ports = Ports(
        store=store,
        bus=bus,
        models=catalog,
        snapshot=lambda: made.snapshot,
        finder=Finder(),
        tokens=TokenCounts(store, counted_here),
        clock=clock,
        monotonic=monotonic,
        setting_changed=setting_changed,
        mode_rule=mode_rule,
    )
    defaults = Defaults(workspace=Path("/tmp"), profile=profile, permission_mode=mode, max_steps=max_steps)
    try:
        async with session_service(ports, defaults, "e_boot") as service:
            yield Chats(service, store, bus, registry, provider, catalog)
    finally:
        await store.aclose()
        await bus.aclose()


def crashed(folder: Path, copy: Path) -> Path:
    """The database as a `kill -9` at this moment leaves it, in another folder."""
    copy.mkdir()
    for file in folder.glob("chats.db*"):
        shutil.copy(file, copy / file.name)
    return copy


class Held:
    """Holds the first commit whose events or writes include one of `kind`; the test opens the gate."""

    def __init__(self, store: TriedStore, *kinds: type[Any]) -> None:
        self.gate = Gate()
        self._kinds, self._store = kinds, store
        self._wanted: Callable[[Sequence[Event]], bool] = lambda _events: True
        store.before_commit = self._hold

    def only(self, wanted: Callable[[Sequence[Event]], bool]) -> None:
        """Hold only a commit whose events are also `wanted`."""
        self._wanted = wanted

    async def _hold(self, events: Sequence[Event], writes: Sequence[Write]) -> None:
        if any(isinstance(one, self._kinds) for one in (*events, *writes)) and self._wanted(events):
            self._store.before_commit = None
            await self.gate.wait()


def failing(store: TriedStore, *kinds: type[Any]) -> None:
    """From now on every commit with one of `kinds` (any, where none are named) is refused."""

    async def refuse(events: Sequence[Event], writes: Sequence[Write]) -> None:
        if not kinds or any(isinstance(one, kinds) for one in (*events, *writes)):
            raise StorageError("the disk is full", hint="free some space")

    store.before_commit = refuse
