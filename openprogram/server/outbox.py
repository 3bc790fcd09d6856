"""What one tab is about to be sent: answers first, then what its subscriptions give, each in its turn.

One task writes (`write`). Nothing here waits for a slow tab but that task: answers are bounded by those who make them,
which wait for `room` before they begin, and by the reader, which waits until they are `thinned` before it takes the
next frame; subscriptions are bounded by themselves.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, NoReturn

from openprogram.core.protocol.codec import encode_frame
from openprogram.core.protocol.frames import ServerFrame
from openprogram.server.fanout import Source

MAX_ANSWER_BYTES: Final = 1_000_000
"""With more than this unsent, no further action is begun, but for a Stop."""

MAX_ANSWERS: Final = 2_000
"""With more unsent, nothing is read from the socket: what is answered at once (a ping, a bad frame) ends somewhere."""

BURST: Final = 50
"""Frames in a row before other tasks get a turn: sending to a fast tab does not suspend by itself."""


class Outbox:
    """Frames on their way to one tab."""

    def __init__(self) -> None:
        self.sources: dict[str | None, Source] = {}
        self._ready: dict[Source, None] = {}  # an ordered set: each source gets its turn
        self._answers: deque[str] = deque()
        self._answer_bytes = 0
        self._idle: asyncio.Future[None] | None = None
        self._room, self._few = asyncio.Event(), asyncio.Event()
        self._room.set()
        self._few.set()
        self._ended = False

    def wake(self, source: Source) -> None:
        """This source has something to send."""
        self._ready[source] = None
        self._go_on()

    @property
    def idle(self) -> bool:
        """Whether no answer waits."""
        return not self._answers

    def answer(self, frame: ServerFrame) -> None:
        """Queue a frame that belongs to no subscription; nothing once this has ended."""
        if self._ended:
            return
        text = encode_frame(frame).decode()
        self._answers.append(text)
        self._answer_bytes += len(text)
        if self._answer_bytes > MAX_ANSWER_BYTES:
            self._room.clear()
        if len(self._answers) > MAX_ANSWERS:
            self._few.clear()
        self._go_on()

    async def room(self) -> None:
        """Wait until the tab has taken its answers."""
        await self._room.wait()

    async def thinned(self) -> None:
        """Wait until few answers are unsent."""
        await self._few.wait()

    def attach(self, key: str | None, source: Source) -> None:
        """Send what this source gives, in place of the source that had this key."""
        self.detach(key)
        self.sources[key] = source
        self.wake(source)

    def detach(self, key: str | None) -> None:
        """Send nothing more of this source."""
        if (source := self.sources.pop(key, None)) is not None:
            source.close()

    def check(self) -> None:
        """Have all sources look for what the bus may have lost."""
        for source in self.sources.values():
            source.check()

    def end(self) -> None:
        """Take no more answers: nobody will read them. Those who wait for room go on."""
        self._ended = True
        self._room.set()
        self._few.set()

    def close(self) -> None:
        """Let go of all sources."""
        for key in list(self.sources):
            self.detach(key)

    async def write(self, send: Callable[[str], Awaitable[None]]) -> NoReturn:
        """Send for ever. Raises what `send` and the sources raise."""
        loop = asyncio.get_running_loop()
        while True:
            if self._answers:
                await self._send_answers(send)
            elif self._ready:
                source = next(iter(self._ready))
                del self._ready[source]
                await self._send_from(source, send)
                if source.pending:
                    self._ready[source] = None
            else:
                self._idle = loop.create_future()
                await self._idle

    def _go_on(self) -> None:
        idle, self._idle = self._idle, None
        if idle is not None and not idle.done():
            idle.set_result(None)

    async def _send_answers(self, send: Callable[[str], Awaitable[None]]) -> None:
        while self._answers:
            text = self._answers.popleft()
            self._answer_bytes -= len(text)
            await send(text)
        self._room.set()
        self._few.set()

    async def _send_from(self, source: Source, send: Callable[[str], Awaitable[None]]) -> None:
        frames = source.take() or await source.read()
        for count, frame in enumerate(frames, 1):
            if self._answers:
                await self._send_answers(send)
            if source.closed:
                return
            await send(frame.text)
            if count % BURST == 0:
                await asyncio.sleep(0)
