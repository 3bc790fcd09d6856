"""A client of the WebSocket for tests: sends actions and awaits their acks, waits for events, keeps every frame.

`tests.support.server.Server.client` connects one.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

import orjson
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosedError

WAIT_S: Final = 60.0
"""How long anything may take before the test fails: generous, for nothing here measures time and machines are busy."""

Frame = dict[str, Any]


class Refused(Exception):
    """The server answered an action with an `error` frame."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(f"{frame['code']}: {frame['message']}")
        self.frame = frame
        self.code: str = frame["code"]


class Client:
    """One WebSocket. Every frame that arrives is kept in `frames`; the waiting methods look through them in order."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.hello: Frame = {}
        self.frames: list[Frame] = []
        self.closed = False
        self._news = asyncio.Condition()
        self._seen: dict[str, int] = {}

    async def read(self) -> None:
        """Collect frames until the socket closes. Run as a task by `Server.client`."""
        with suppress(ConnectionClosedError):  # some tests are about a server that goes away
            async for text in self.socket:
                async with self._news:
                    self.frames.append(orjson.loads(text))
                    self._news.notify_all()
        async with self._news:
            self.closed = True
            self._news.notify_all()

    async def send(self, action: str, /, **fields: Any) -> Frame:
        """Send an action and return its ack (or pong). Raises `Refused` on an `error` frame. `id` may be given."""
        sent = await self.post(action, **fields)
        return await self.answer(sent)

    async def post(self, action: str, /, **fields: Any) -> str:
        """Send an action without waiting; returns its id, for `answer`."""
        frame = {"action": action, "id": f"c_{uuid.uuid4().hex}", **fields}
        await self.send_raw(orjson.dumps(frame).decode())
        return str(frame["id"])

    async def send_raw(self, text: str) -> None:
        """Send any text frame."""
        await self.socket.send(text)

    async def answer(self, action_id: str) -> Frame:
        """The answer to the action with this id: the newest where the id was sent more than once."""
        start = self._seen.get(action_id, 0)
        index = await self._find(
            start, f"an answer to {action_id}", lambda frame: frame["type"] != "event" and frame.get("id") == action_id
        )
        self._seen[action_id] = index + 1
        if self.frames[index]["type"] == "error":
            raise Refused(self.frames[index])
        return self.frames[index]

    async def until_answered(self, number: int) -> None:
        """Wait until so many answers have come, whatever they are to."""
        start = 0
        for _ in range(number):
            start = 1 + await self._find(start, "an answer", lambda frame: frame["type"] in ("ack", "pong", "error"))

    async def subscribe(self, session_id: str | None, after_seq: int = 0, *, snapshot: bool = False) -> Frame:
        """Ask for a chat's events; returns the ack."""
        return await self.send("subscribe", session_id=session_id, after_seq=after_seq, snapshot=snapshot)

    async def frame(self, kind: str, /, **fields: Any) -> Frame:
        """The next frame of this type with these fields that `frame` has not returned yet."""
        key = f"frame {kind}"
        wanted = {"type": kind, **fields}
        index = await self._find(self._seen.get(key, 0), f"{wanted}", lambda frame: _matches(frame, wanted))
        self._seen[key] = index + 1
        return self.frames[index]

    async def hint(self, session_id: str, /, **fields: Any) -> Frame:
        """The first hint whose description of this chat has these fields."""

        def right(frame: Frame) -> bool:
            session = frame.get("session") if frame["type"] == "hint" else None
            return session is not None and session["id"] == session_id and fields.items() <= session.items()

        session: Frame = self.frames[await self._find(0, f"hint {fields}", right)]["session"]
        return session

    async def event(self, kind: str, session_id: str | None = None, /, **fields: Any) -> Frame:
        """The next event of this type with these fields that `event` has not returned yet: the frame's `event`.

        Each type in each chat has a place of its own: waiting for `turn_finished` skips no `text_delta`.
        """
        key = f"event {kind} {session_id}"
        wanted = {"type": kind, **fields}

        def right(frame: Frame) -> bool:
            return (
                frame["type"] == "event"
                and (session_id is None or frame["session_id"] == session_id)
                and _matches(frame["event"], wanted)
            )

        index = await self._find(self._seen.get(key, 0), f"event {wanted}", right)
        self._seen[key] = index + 1
        event: Frame = self.frames[index]["event"]
        return event

    async def events(self, session_id: str) -> AsyncIterator[Frame]:
        """The event frames of a chat from the first that arrived, then live; ends when the socket closes."""
        index = 0
        while True:
            for frame in self.frames[index:]:
                if frame["type"] == "event" and frame["session_id"] == session_id:
                    yield frame
                index += 1
            if self.closed:
                return
            async with self._news, asyncio.timeout(WAIT_S):
                await self._news.wait_for(partial(self._more_than, index))

    async def until(self, session_id: str, seq: int, start: int = 0) -> list[Frame]:
        """Wait until the event `seq` of a chat has come; returns its event frames from frame number `start` on."""

        def right(frame: Frame) -> bool:
            return frame["type"] == "event" and frame["session_id"] == session_id and bool(frame["seq"] >= seq)

        index = await self._find(start, f"event {seq} of {session_id}", right)
        frames = self.frames[start : index + 1]
        return [frame for frame in frames if frame["type"] == "event" and frame["session_id"] == session_id]

    def received(self, session_id: str, kind: str | None = None) -> list[Frame]:
        """The events of a chat that have arrived, of one type or all."""
        return [
            frame["event"]
            for frame in self.frames
            if frame["type"] == "event" and frame["session_id"] == session_id and kind in (None, frame["event"]["type"])
        ]

    def text(self, session_id: str, message_id: str | None = None) -> str:
        """The streamed text that has arrived: of one message, or of all."""
        deltas = self.received(session_id, "text_delta")
        return "".join(delta["text"] for delta in deltas if message_id in (None, delta["message_id"]))

    def _more_than(self, count: int) -> bool:
        return len(self.frames) > count or self.closed

    async def _find(self, start: int, what: str, right: Callable[[Frame], bool]) -> int:
        index = start

        def found() -> bool:
            nonlocal index
            while index < len(self.frames):
                if right(self.frames[index]):
                    return True
                index += 1
            return self.closed

        try:
            async with self._news, asyncio.timeout(WAIT_S):
                await self._news.wait_for(found)
        except TimeoutError:
            raise AssertionError(f"{what} did not come within {WAIT_S:g} s; last: {self.frames[-3:]}") from None
        assert index < len(self.frames), f"the socket closed before {what} came; last: {self.frames[-3:]}"
        return index


def _matches(frame: Frame, wanted: Frame) -> bool:
    return all(key in frame and frame[key] == value for key, value in wanted.items())
