"""Sending an answer: on schedule, past its holds, and with its fault."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from openprogram.fakeapi.dialects.base import Dialect, Exchange, Frame
from openprogram.fakeapi.faults import Fault
from openprogram.fakeapi.log import RequestRecord, Stream, StreamState
from openprogram.fakeapi.state import FakeState

_BATCH: Final = 64
"""Events that are written at once when they are all due."""
_ENDINGS: Final = ("cut", "drop", "stall", "stream_error")


@dataclass(frozen=True, slots=True)
class Delivery:
    """An exchange that is ready to be sent. `begun` is called when its first byte leaves, `broken` with the
    number of deltas that were sent if it has begun and does not come to its end."""

    exchange: Exchange
    dialect: Dialect
    request_id: str
    stream: bool
    begun: Callable[[], None]
    broken: Callable[[int], None]


class AnswerResponse(Response):
    """Sends one answer as a stream or as a whole, and notices when the client goes away."""

    def __init__(self, state: FakeState, record: RequestRecord, delivery: Delivery) -> None:
        media_type = "text/event-stream; charset=utf-8" if delivery.stream else "application/json"
        super().__init__(
            media_type=media_type,
            headers={
                "cache-control": "no-cache",
                "request-id": delivery.request_id,
                "x-request-id": delivery.request_id,
            },
        )
        del self.headers["content-length"]
        self._state = state
        self._record = record
        self._delivery = delivery

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it. Ends early when the client closes the connection or the fake API is reset."""
        streams = self._state.streams
        stream = streams.begin(self._record)
        player = _Player(self._state, self._delivery, stream, send, self.raw_headers)
        async with asyncio.TaskGroup() as group:
            play = group.create_task(player.play())
            watch = group.create_task(_disconnected(receive))
            stream.task = play
            await asyncio.wait({play, watch}, return_when=asyncio.FIRST_COMPLETED)
            gone = not play.done()
            play.cancel()
            watch.cancel()
        if player.started and player.outcome != "finished":
            self._delivery.broken(stream.deltas)
        streams.end(stream, "closed_by_client" if gone else player.outcome)


async def _disconnected(receive: Receive) -> None:
    """Return when the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


class _Player:
    """One answer on its way. `outcome` says how it ended."""

    def __init__(
        self,
        state: FakeState,
        delivery: Delivery,
        stream: Stream,
        send: Send,
        headers: list[tuple[bytes, bytes]],
    ) -> None:
        self._state = state
        self._holds = state.holds
        self._delivery = delivery
        self._stream = stream
        self._send = send
        self._headers = headers
        self.started = False
        self.outcome: StreamState = "broken_off"

    async def play(self) -> None:
        """Send everything, or as much as the fault allows."""
        fault = self._delivery.exchange.answer.fault
        if fault is not None and fault.kind == "slow":
            await asyncio.sleep(fault.delay)
        if not self._delivery.stream:
            await self._play_whole(fault)
            return
        frames = self._delivery.dialect.frames(self._delivery.exchange)
        async for batch in self._due(self._spoiled(frames, fault)):
            await self._write(batch)
        if fault is None or fault.kind in ("slow", "bad_json"):
            self.outcome = "finished"
        if fault is not None and fault.kind == "drop":
            # Returning without an end makes the server drop the connection in mid-body.
            return
        if fault is not None and fault.kind == "stall":
            await asyncio.Event().wait()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _play_whole(self, fault: Fault | None) -> None:
        answer = self._delivery.exchange.answer
        chunks = (chunk for block in answer.blocks for chunk in block.chunks)
        for hold in (answer.hold, *(chunk.hold for chunk in chunks)):
            if hold is not None:
                await self._wait_at(hold)
        body = self._delivery.dialect.whole(self._delivery.exchange)
        if fault is not None and fault.kind == "stall":
            await asyncio.Event().wait()
        if fault is not None and fault.kind in _ENDINGS:
            await self._write(body[: len(body) // 2])
            return
        if fault is not None and fault.kind == "bad_json":
            body = body[: len(body) // 2]
        await self._write(body)
        self.outcome = "finished"
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    def _spoiled(self, frames: Iterator[Frame], fault: Fault | None) -> Iterator[Frame]:
        """The frames with the fault in its place: after so many deltas, or after the last one."""
        if fault is None or fault.kind == "slow":
            yield from frames
            return
        total = sum(len(block.chunks) for block in self._delivery.exchange.answer.blocks)
        strike = min(fault.after, total)
        deltas = 0
        struck = False
        for index, frame in enumerate(frames):
            due = deltas == strike and index > 0 and (frame.delta or deltas > 0 or total == 0)
            if due and not struck:
                struck = True
                if fault.kind == "bad_json":
                    yield Frame(self._delivery.dialect.broken_frame())
                if fault.kind == "stream_error":
                    yield Frame(self._error_frame())
                if fault.kind in _ENDINGS:
                    return
            deltas += frame.delta
            yield frame

    def _error_frame(self) -> bytes:
        dialect = self._delivery.dialect
        violation = dialect.fault("overloaded", self._delivery.exchange.model)
        return dialect.error_frame(violation, self._delivery.request_id)

    async def _due(self, frames: Iterator[Frame]) -> AsyncIterator[bytes]:
        """Bytes as they become due. The schedule is absolute, so that a late write delays no later
        one; what is due at the same time is written at once. A hold moves the schedule."""
        rate = self._delivery.exchange.answer.rate
        interval = 1.0 / rate if rate > 0 else 0.0
        clock = asyncio.get_running_loop().time
        due = clock()
        waiting: list[bytes] = []
        for frame in frames:
            if frame.hold is not None and not self._holds.is_released(frame.hold):
                if waiting:
                    yield b"".join(waiting)
                    waiting.clear()
                await self._wait_at(frame.hold)
                due = clock()
            if frame.delta:
                delay = due - clock()
                due += interval
                if delay > 0:
                    if waiting:
                        yield b"".join(waiting)
                        waiting.clear()
                    await asyncio.sleep(delay)
                self._stream.deltas += 1
            waiting.append(frame.data)
            if len(waiting) >= _BATCH:
                yield b"".join(waiting)
                waiting.clear()
                await asyncio.sleep(0)
        if waiting:
            yield b"".join(waiting)

    async def _wait_at(self, hold: str) -> None:
        self._stream.held = hold
        self._state.signal.notify()
        await self._holds.wait(hold)
        self._stream.held = None

    async def _write(self, data: bytes) -> None:
        if not self.started:
            self.started = True
            self._delivery.begun()
            await self._send({"type": "http.response.start", "status": 200, "headers": self._headers})
        await self._send({"type": "http.response.body", "body": data, "more_body": True})
