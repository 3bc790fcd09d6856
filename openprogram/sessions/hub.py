"""What all of a server's chats share: ports, defaults, one lock and at most one run per chat."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

from openprogram.agent.environment import History, Progress
from openprogram.core.chats import Chats
from openprogram.core.clock import Clock, iso_time
from openprogram.core.errors import UnknownSession
from openprogram.core.events import PermissionMode
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonValue
from openprogram.core.news import NewsOf, no_news
from openprogram.core.ports import Bus, ModelCatalog, Store
from openprogram.core.prompt import ModelInfo, ModelParams
from openprogram.core.storage import SessionRow
from openprogram.core.tooling import AgentProfile, Snapshot
from openprogram.permissions.modes import ModeRule, refused_by_mode
from openprogram.sessions.authority import LiveAuthority
from openprogram.sessions.emitter import TICK_S
from openprogram.sessions.journal import Journal
from openprogram.sessions.live import Live
from openprogram.sessions.meter import Meter
from openprogram.sessions.projects import Projects
from openprogram.sessions.refusals import Refusals
from openprogram.sessions.sidebar import Sidebar
from openprogram.sessions.ticker import Ticker
from openprogram.tokens.calibration import Calibration
from openprogram.tokens.counts import TokenCounts
from openprogram.tools.leaving import LeftBehind
from openprogram.tools.resolutions import Resolutions
from openprogram.tools.search.finder import Finder

REMEMBERED_CHATS = 200
"""Of so many chats the last request's segments are kept in memory, to tell what the next one changes."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a chat has where it says nothing itself."""

    workspace: Path
    profile: AgentProfile
    intent: ToolIntent = ToolIntent()  # noqa: RUF009 - frozen
    permission_mode: PermissionMode = "ask"
    params: ModelParams = ModelParams()  # noqa: RUF009 - frozen
    platform: str = "linux"
    max_steps: int = 200
    home: Path | None = None
    """The server's own data, which no chat may work in; None where that is nowhere on this disk."""
    secrets: tuple[str, ...] = ()
    """Keys and the like that the configuration holds: they are taken out of what is exported."""


SettingChanged = Callable[[str, str, JsonValue], None]


async def _nothing() -> None:
    """Nothing to tidy."""


@dataclass(frozen=True, slots=True)
class Ports:
    """What the chats are handed by the composition root. `snapshot` reads the live registry."""

    store: Store
    bus: Bus
    models: ModelCatalog
    snapshot: Callable[[], Snapshot]
    finder: Finder
    tokens: TokenCounts
    clock: Clock
    monotonic: Callable[[], float]
    news: NewsOf = no_news
    """What happened beside a chat's turns that its model should hear of."""
    setting_changed: SettingChanged = lambda _user, _key, _value: None
    """Called with `(user_id, key, value)` after a setting was stored."""
    mode_rule: ModeRule = refused_by_mode
    """Which tools a permission mode refuses outright."""
    tidy: Callable[[], Awaitable[object]] = _nothing
    """Called with each sweep: clears away what only the composition root knows of."""


Link = Callable[["Hub", SessionRow, History], Chats]
"""Makes a run's way to the user's other chats."""


class Hub:
    """Shared state of all chats in this process. Everything durable is in the store."""

    def __init__(
        self, ports: Ports, defaults: Defaults, boot_id: str, tasks: asyncio.TaskGroup, link: "Link | None" = None
    ) -> None:
        self.link = link
        self.tasks = tasks
        self.ports = ports
        self.defaults = defaults
        self.boot_id = boot_id
        self.ticker = Ticker(TICK_S)
        self.sidebar = Sidebar(ports.store, ports.bus, self.ticker)
        self.calibration = Calibration(ports.store)
        self.resolutions = Resolutions()
        self.refusals = Refusals(ports.store, ports.clock)
        self.meter = Meter(
            ports.tokens,
            self.calibration,
            lambda user_id: self.sidebar.hint(user_id, "registry_changed"),
            ports.monotonic,
        )
        self.journal = Journal(ports.store, ports.bus, self.sidebar)
        self.projects = Projects(defaults.workspace)
        self.progress: OrderedDict[str, Progress] = OrderedDict()
        self.runs: dict[str, Live] = {}
        self.authorities: WeakValueDictionary[str, LiveAuthority] = WeakValueDictionary()
        """Of chats that have a run, or are about to: told of intents from the moment at which the run has read one."""
        self.correcting: set[str] = set()
        """Chats whose directory did not answer at once: what was told of them is told again if it was wrong."""
        self.default_model: ModelInfo | None = None
        """The model of chats that name none, as far as it is known."""
        self.closing = False
        self.left = LeftBehind()
        self._run_tasks: set[asyncio.Task[None]] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, session_id: str) -> asyncio.Lock:
        """Guards read-then-commit sequences of one chat. Intent changes do not take it: they compare and set (P1)."""
        return self._lock(session_id)

    def intent_lock(self, session_id: str) -> asyncio.Lock:
        """Lets intent changes of this process queue up instead of beating each other's compare-and-set."""
        return self._lock(f"{session_id} intent")

    def _lock(self, key: str) -> asyncio.Lock:
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock

    def spawn_run(self, work: Coroutine[None, None, None], name: str) -> None:
        """Start a run's task under this hub."""
        task = self.tasks.create_task(work, name=name)
        self._run_tasks.add(task)
        task.add_done_callback(self._run_tasks.discard)

    def cut_runs(self) -> None:
        """Take no more input and cancel every run where it stands; the next start-up closes or resumes its turn."""
        self.closing = True
        for task in self._run_tasks:
            task.cancel()

    def now(self) -> str:
        """The time as the protocol writes it."""
        return iso_time(self.ports.clock())

    async def row(self, user_id: str, session_id: str) -> SessionRow:
        """The user's chat. Raises `UnknownSession` also for someone else's."""
        row = await self.ports.store.session(session_id)
        if row is None or row.user_id != user_id:
            raise unknown(session_id)
        return row


def unknown(session_id: str) -> UnknownSession:
    """The user has no chat of this id."""
    return UnknownSession(
        f"there is no chat {session_id[:100]!r}", field="session_id", hint="list_sessions shows your chats"
    )
