"""From a run's events to the log: pieces of text are joined, everything else keeps its order (spec protocol.md P4)."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from openprogram.core.errors import StorageError
from openprogram.core.events import Event, ReasoningDelta, TextDelta, ToolCallDelta, ToolOutputDelta
from openprogram.core.storage import Write
from openprogram.sessions.ticker import Ticker

TICK_S = 0.016
"""Text of a block that is not its first waits for the next tick, and what came until then is joined (P4). All chats
share the ticks, so what they stream at the same time goes into one group commit."""

Delta = TextDelta | ReasoningDelta | ToolCallDelta | ToolOutputDelta
_DELTAS = (TextDelta, ReasoningDelta, ToolCallDelta, ToolOutputDelta)
"""The same, for a check that is made for each of them."""


@dataclass(slots=True)
class _Block:
    """One block that is being written, and the text that came since it was last flushed."""

    last: Delta
    waiting: list[str] = field(default_factory=list)
    due: bool = False


@dataclass(slots=True)
class _Batch:
    """What goes into one commit. `done` is set, if anyone waits, when it is `stored` or never will be."""

    events: list[Event] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    stored: bool = False
    done: asyncio.Event | None = None

    def __bool__(self) -> bool:
        return bool(self.events or self.writes)

    async def over(self) -> None:
        """Wait until it is `stored`, or will never be."""
        if self.done is None:
            self.done = asyncio.Event()
        await self.done.wait()

    def end(self) -> None:
        """Let those go on who wait for it."""
        if self.done is not None:
            self.done.set()


class Emitter:
    """The `Emit` port of one run. `commit` stores events and publishes them; `pump` calls it, one commit at a time.

    Whatever was handed over while a commit was under way goes into the next one together.
    """

    def __init__(
        self, commit: Callable[[Sequence[Event], Sequence[Write]], Awaitable[object]], ticker: Ticker | None = None
    ) -> None:
        self._commit = commit
        self._ticker = ticker or Ticker(TICK_S)
        self._blocks: dict[Hashable, _Block] = {}
        self._next = _Batch()
        self._storing = _Batch()
        self._idle: asyncio.Future[None] | None = None
        self._ended = asyncio.Event()
        self._closing = False
        self._failure: StorageError | None = None

    def __call__(self, *events: Event) -> None:
        """Hand over events that belong together; never blocks."""
        for event in events:
            if isinstance(event, _DELTAS):
                self._delta(event)
            else:
                self._end_blocks()
                self._push(event)

    async def flush(self) -> None:
        """Wait until everything handed over so far is stored. Raises `StorageError` once the store has failed."""
        self._end_blocks()
        batch = self._next or self._storing
        if batch and not batch.stored and not self._ended.is_set():
            await batch.over()
        if self._failure is not None or (batch and not batch.stored):
            raise self._failure or StorageError("the chat's log takes no more events")

    async def close(self) -> None:
        """Store what was handed over, and end `pump`; returns when it has ended, for whatever reason."""
        self._end_blocks()
        self._closing = True
        self._go_on()
        await self._ended.wait()

    async def pump(self) -> None:
        """Store what is handed over until `close`. Raises `StorageError` if the store fails; each `flush` then too."""
        loop = asyncio.get_running_loop()
        try:
            while not self._closing or self._next:
                if self._next:
                    self._storing, self._next = self._next, _Batch()
                    await self._commit(self._storing.events, self._storing.writes)
                    self._storing.stored = True
                    self._storing.end()
                else:
                    self._idle = loop.create_future()
                    await self._idle
        except StorageError as error:
            self._failure = error
            raise
        finally:
            self._closing = True
            self._ended.set()
            self._storing.end()
            self._next.end()

    def write(self, write: Write) -> None:
        """Hand over a write that no event mirrors; it is stored no later than the next event."""
        if not self._ended.is_set():
            self._next.writes.append(write)
            self._go_on()

    def _push(self, event: Event) -> None:
        if not self._ended.is_set():
            self._next.events.append(event)
            self._go_on()

    def _go_on(self) -> None:
        idle, self._idle = self._idle, None
        if idle is not None and not idle.done():
            idle.set_result(None)

    def _delta(self, delta: Delta) -> None:
        key = _key(delta)
        block = self._blocks.get(key)
        if block is None:
            self._flush_blocks()  # an answer's blocks stand in the log in their order
            self._blocks[key] = _Block(delta)
            self._push(delta)
        else:
            block.waiting.append(delta.text)
            block.last = delta
            if not block.due:
                block.due = True
                self._ticker.call_next(partial(self._flush_due, block))

    def _flush_due(self, block: _Block) -> None:
        block.due = False
        self._flush_block(block)

    def _flush_block(self, block: _Block) -> None:
        if block.waiting:
            alone = len(block.waiting) == 1
            joined = block.last if alone else replace(block.last, text="".join(block.waiting))
            block.waiting.clear()
            self._push(joined)

    def _flush_blocks(self) -> None:
        for block in self._blocks.values():
            self._flush_block(block)

    def _end_blocks(self) -> None:
        self._flush_blocks()
        self._blocks.clear()


def _key(delta: Delta) -> Hashable:
    if isinstance(delta, ToolOutputDelta):
        return delta.call_id
    return type(delta), delta.message_id, delta.block
