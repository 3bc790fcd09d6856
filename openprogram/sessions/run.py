"""One run of the agent in one chat: its task, its supervision, and the ports that it hands to the loop."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from openprogram.agent.environment import Environment, Resumed
from openprogram.agent.loop import run as run_agent
from openprogram.agent.stop import StopSignal
from openprogram.core.errors import StorageError
from openprogram.core.events import Event, TurnFinished
from openprogram.core.prompt import Surface
from openprogram.core.storage import PutSurface
from openprogram.sessions.emitter import Emitter

_log = structlog.get_logger(__name__)


class Run:
    """The live part of a chat: from the first turn that has input until none waits.

    `ending` says that it takes no further messages; `finished` is set when its task is over.
    """

    def __init__(self, session_id: str, emitter: Emitter) -> None:
        self.session_id = session_id
        self.emitter = emitter
        self.stop = StopSignal()
        self.emit = RunEmit(self)
        self.finished = asyncio.Event()
        self.steered = False
        self._done_for = False

    @property
    def ending(self) -> bool:
        """Whether a message sent now has to start a run of its own."""
        return self._done_for or self.stop.requested

    def close(self) -> None:
        """Take no further messages: the queue was found empty."""
        self._done_for = True

    def observe(self, event: Event) -> None:
        """See an event of this run before it is stored."""
        if isinstance(event, TurnFinished):
            self._done_for = event.reason in ("stopped", "error", "interrupted")

    async def supervise(
        self, env: Environment, *, resumed: Resumed | None, repair: Callable[[], Awaitable[None]]
    ) -> None:
        """Run the agent to its end. Whatever happens, the chat is not left running without a run (design law 10).

        `repair` closes the turn from what is in the log.
        """
        pump = asyncio.create_task(self.emitter.pump(), name=f"pump {self.session_id}")
        try:
            await run_agent(env, resumed)
        except StorageError as error:
            _log.error("run_lost_storage", session_id=self.session_id, error=error.message)
        except Exception:
            _log.exception("run_crashed", session_id=self.session_id)
            await self.emitter.flush()
            await repair()
        finally:
            self._done_for = True
            pump.cancel()
            self.finished.set()


class RunEmit:
    """The `Emit` port of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __call__(self, *events: Event) -> None:
        """Hand over events that belong together."""
        for event in events:
            self._run.observe(event)
        self._run.emitter(*events)

    async def flush(self) -> None:
        """Wait until all is stored."""
        await self._run.emitter.flush()


class RunSurfaces:
    """The `Surfaces` port of a run: the store's row, written as soon as an endpoint accepts."""

    def __init__(self, surface: Surface | None, emitter: Emitter) -> None:
        self._current = surface
        self._emitter = emitter

    @property
    def current(self) -> Surface | None:
        """What the endpoint was last shown."""
        return self._current

    def accepted(self, surface: Surface) -> None:
        """Keep the surface that the endpoint has taken."""
        self._current = surface
        self._emitter.write(PutSurface(surface))


class RunInbox:
    """The `Inbox` port of a run."""

    def __init__(self, run: Run, take_next: Callable[[bool], Awaitable[bool]]) -> None:
        self._run = run
        self._take_next = take_next

    def take_steered(self) -> bool:
        """Whether a steered message waits."""
        steered, self._run.steered = self._run.steered, False
        return steered

    async def next_input(self, *, unanswered: bool) -> bool:
        """Move the next waiting message into the history."""
        return await self._take_next(unanswered)
