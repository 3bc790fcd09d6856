"""From a run's events to the log: pieces of text are joined, everything else keeps its order (spec protocol.md P4)."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

from openprogram.core.errors import StorageError
from openprogram.core.events import Event, ReasoningDelta, TextDelta, ToolCallDelta, ToolOutputDelta
from openprogram.core.storage import Write

COALESCE_S = 0.016
"""Text of a block that comes sooner than this after the block's last flush waits and is joined."""

Delta = TextDelta | ReasoningDelta | ToolCallDelta | ToolOutputDelta


@dataclass(slots=True)
class _Block:
    """One block that is being written: when it was last flushed, and what came since."""

    flushed_at: float
    last: Delta
    waiting: list[str] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None


class Emitter:
    """The `Emit` port of one run. `commit` stores events and publishes them; `pump` calls it, one commit at a time.

    Whatever was handed over while a commit was under way goes into the next one together.
    """

    def __init__(self, commit: Callable[[Sequence[Event], Sequence[Write]], Awaitable[object]]) -> None:
        self._commit = commit
        self._loop = asyncio.get_running_loop()
        self._blocks: dict[Hashable, _Block] = {}
        self._outbox: list[Event] = []
        self._writes: list[Write] = []
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._failure: StorageError | None = None

    def __call__(self, *events: Event) -> None:
        """Hand over events that belong together; never blocks."""
        for event in events:
            if isinstance(event, Delta):
                self._delta(event)
            else:
                self._flush_blocks()
                self._push(event)

    async def flush(self) -> None:
        """Wait until everything handed over is stored. Raises `StorageError` once the store has failed."""
        self._flush_blocks()
        await self._idle.wait()
        if self._failure is not None:
            raise self._failure

    async def pump(self) -> None:
        """Store what is handed over, for ever; ends when the store fails, and every `flush` then raises."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            events, self._outbox = self._outbox, []
            writes, self._writes = self._writes, []
            try:
                if events or writes:
                    await self._commit(events, writes)
            except StorageError as error:
                self._failure = error
                self._idle.set()
                return
            if not self._outbox and not self._writes:
                self._idle.set()

    def write(self, write: Write) -> None:
        """Hand over a write that no event mirrors; it is stored no later than the next event."""
        if self._failure is None:
            self._writes.append(write)
            self._idle.clear()
            self._wake.set()

    def _push(self, event: Event) -> None:
        if self._failure is not None:
            return
        self._outbox.append(event)
        self._idle.clear()
        self._wake.set()

    def _delta(self, delta: Delta) -> None:
        key = _key(delta)
        block = self._blocks.get(key)
        now = self._loop.time()
        if block is None:
            self._blocks[key] = _Block(now, delta)
            self._push(delta)
        elif not block.waiting and now - block.flushed_at >= COALESCE_S:
            block.flushed_at = now
            self._push(delta)
        else:
            block.waiting.append(delta.text)
            block.last = delta
            if block.timer is None:
                block.timer = self._loop.call_at(block.flushed_at + COALESCE_S, self._flush_block, block)

    def _flush_block(self, block: _Block) -> None:
        if block.timer is not None:
            block.timer.cancel()
            block.timer = None
        if block.waiting:
            joined = replace(block.last, text="".join(block.waiting))
            block.waiting.clear()
            block.flushed_at = self._loop.time()
            self._push(joined)

    def _flush_blocks(self) -> None:
        for block in self._blocks.values():
            self._flush_block(block)
        self._blocks.clear()


def _key(delta: Delta) -> Hashable:
    if isinstance(delta, ToolOutputDelta):
        return delta.call_id
    return type(delta), delta.message_id, delta.block
