"""One run of the agent in one chat: its task, its supervision, and the ports that it hands to the loop."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

import structlog

from openprogram.agent.environment import Environment, Errand
from openprogram.agent.loop import run as run_agent
from openprogram.agent.stop import StopSignal
from openprogram.core.errors import StorageError
from openprogram.core.events import ErrorInfo, Event, TurnFinished
from openprogram.core.messages import QueuedMessage
from openprogram.core.surface import PutSurface, Surface
from openprogram.sessions.emitter import Emitter

_log = structlog.get_logger(__name__)

RETRY_S: Final = 2.0
_RETRY_MOST_S: Final = 60.0

Repair = Callable[[ErrorInfo], Awaitable[None]]
"""Ends what a failed run left open, from what is in the log."""


class Run:
    """The live part of a chat: from the first turn that has input until none waits.

    `turn_id` is the turn that runs or is about to begin: it is stored as begun with the message that it answers.
    `ending` says that it takes no further messages, `between` that its turn is over and it looks for what waits.
    """

    def __init__(self, session_id: str, emitter: Emitter, turn_id: str) -> None:
        self.session_id = session_id
        self.emitter = emitter
        self.turn_id = turn_id
        self.stop = StopSignal()
        self.emit = RunEmit(self)
        self.finished = asyncio.Event()
        self.steered = False
        self.forced_epoch: int | None = None
        """The epoch of the surface that the user wants to end."""
        self.between = False
        self._looked = asyncio.Event()
        self._done_for = False

    @property
    def ending(self) -> bool:
        """Whether a message sent now has to start a run of its own."""
        return self._done_for or self.stop.requested

    async def settled(self) -> None:
        """Wait until it is over; where it is `between` turns, or until it has begun another one."""
        await (self.finished if self.ending or not self.between else self._looked).wait()

    def begins(self, turn_id: str) -> None:
        """Another turn is stored as begun."""
        self.turn_id = turn_id
        self.between = False
        self._looked.set()

    def close(self) -> None:
        """Take no further messages: the queue was found empty."""
        self._done_for = True

    def queue_changed(self, queue: Iterable[QueuedMessage]) -> None:
        """Another queue is stored: a message in it may want to be delivered at the next safe point."""
        self.steered = any(waiting.mode == "steer" for waiting in queue)

    def observe(self, event: Event) -> None:
        """See an event of this run before it is stored."""
        if isinstance(event, TurnFinished):
            self.between = True
            self._looked.clear()
            self._done_for = event.reason in ("stopped", "error", "interrupted")

    async def supervise(self, env: Environment, errand: Errand, repair: Repair) -> ErrorInfo | None:
        """Run the agent to its end. Whatever happens, the chat is not left running without a run (design law 10).

        Never raises but for cancellation, which leaves the turn open for the next start-up. Returns what went wrong
        where `repair` could not close the turn, because the store is still away: `close_later` does.
        """
        try:
            error = await self._guarded(self._run(env, errand))
            if error is None or await self._guarded(repair(error)) is None:
                return None
            _log.error("turn_left_open", session_id=self.session_id)
            return error
        finally:
            self._done_for = True
            self._looked.set()
            self.finished.set()

    async def close_later(self, error: ErrorInfo, repair: Repair) -> None:
        """Repair once the store takes it again, more and more seldom: no tab watches a run that is none (P10, R4).

        Never raises but for cancellation. An action on the chat, or the next start-up, may be faster.
        """
        wait_s = RETRY_S
        while True:
            await asyncio.sleep(wait_s)
            failed = await self._guarded(repair(error))
            if failed is None or failed.code != StorageError.code:
                return
            wait_s = min(2 * wait_s, _RETRY_MOST_S)

    async def _run(self, env: Environment, errand: Errand) -> None:
        """Agent and pump side by side: a store that fails cancels the agent, which would work for nobody."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.emitter.pump(), name=f"pump {self.session_id}")
            try:
                await run_agent(env, errand)
            finally:
                self._done_for = True
                await self.emitter.close()

    async def _guarded(self, work: Awaitable[None]) -> ErrorInfo | None:
        """The supervisor of a run: do work; returns how it failed, in words for the user, once that is logged."""
        error = None
        try:
            await work
        except* StorageError as lost:
            error = _storage_failure(lost)
            _log.error("run_lost_storage", session_id=self.session_id, error=error.message)
        except* Exception:
            error = ErrorInfo("internal", "The server made a mistake while it worked on this; its log says more.")
            _log.exception("run_crashed", session_id=self.session_id)
        return error


def _storage_failure(lost: BaseExceptionGroup[StorageError]) -> ErrorInfo:
    first: BaseException = lost
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    hint = first.hint if isinstance(first, StorageError) else None
    return ErrorInfo(StorageError.code, f"The chat could not be stored: {first}", hint=hint)


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

    def __init__(self, surface: Surface | None, run: Run) -> None:
        self._current = surface
        self._run = run

    @property
    def current(self) -> Surface | None:
        """What the endpoint was last shown."""
        return self._current

    @property
    def forced(self) -> bool:
        """Whether the user wants its epoch to end."""
        return self._current is not None and self._current.epoch == self._run.forced_epoch

    def accepted(self, surface: Surface) -> None:
        """Keep the surface that the endpoint has taken."""
        self._current = surface
        self._run.emitter.write(PutSurface(surface))


class RunInbox:
    """The `Inbox` port of a run."""

    def __init__(self, run: Run, take_next: Callable[[bool], Awaitable[bool]]) -> None:
        self._run = run
        self._take_next = take_next

    def take_steered(self) -> bool:
        """Whether a steered message waits."""
        return self._run.steered

    async def next_input(self, *, unanswered: bool) -> bool:
        """Move the next waiting message into the history."""
        return await self._take_next(unanswered)
