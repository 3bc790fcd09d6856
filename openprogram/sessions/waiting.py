"""What a run waits for a person to say: each thing once, and not while an answer is on its way into the store."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from openprogram.agent.stop import StopSignal
from openprogram.core.events import Event
from openprogram.core.ports import Emit

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Open(Generic[T]):
    """A call that waits for a person. `settled` is not set while an answer is on its way into the store."""

    answer: "asyncio.Future[T]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    settled: asyncio.Event | None = None
    answered: bool = False

    def give(self, answer: T) -> None:
        """The answer is stored: let the call go on, unless it was stopped meanwhile."""
        self.answered = True
        if not self.answer.done():
            self.answer.set_result(answer)


class Waiting(Generic[T]):
    """The open ends of one run, by id."""

    def __init__(self, emit: Emit, stop: StopSignal) -> None:
        self._emit = emit
        self._stop = stop
        self._open: dict[str, Open[T]] = {}

    async def ask(self, key: str, asked: Event, moot: Event) -> T:
        """Tell everyone by `asked` and wait for the answer; a stop before it is told by `moot`."""
        waits = self._open[key] = Open[T]()
        self._emit(asked)
        try:
            return await waits.answer
        except asyncio.CancelledError:
            if self._stop.requested:  # a shutdown leaves it open instead
                await self._withdraw(waits, moot)
            raise
        finally:
            del self._open[key]

    async def _withdraw(self, waits: Open[T], moot: Event) -> None:
        """Its turn ends: it is moot, unless an answer was first."""
        if waits.settled is not None:
            await waits.settled.wait()
        if not waits.answered:
            self._emit(moot)

    @contextmanager
    def answering(self, key: str) -> Iterator[Open[T] | None]:
        """Hold while an answer is being stored: so long a stop does not withdraw what it answers.

        Yields what waits, or None if it does not any more. The caller holds the chat's lock.
        """
        waits = self._open.get(key)
        if waits is None:
            yield None
            return
        waits.settled = asyncio.Event()
        try:
            yield waits
        finally:
            waits.settled.set()
            waits.settled = None
