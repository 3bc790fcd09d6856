"""Events of a chat as server-sent events, for scripts: the frames of the WebSocket, `id` being the seq.

`Last-Event-ID` (or `?after_seq=`) resumes; without either the stream begins with the log.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from openprogram.core.errors import BadField, OpenProgramError
from openprogram.core.protocol.codec import encode_frame
from openprogram.server.auth import user_of
from openprogram.server.edge import Edge
from openprogram.server.http import STATUS
from openprogram.server.subscription import Subscription
from openprogram.server.ws_actions.dispatch import error_frame

PING: Final = ": ping\n\n"


class SessionEvents:
    """`GET /api/sessions/{session_id}/events`."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge

    async def __call__(self, request: Request) -> Response:
        """Subscribe, then stream until either side goes."""
        wake = asyncio.Event()
        try:
            subscription, _ = await self._edge.fanout.subscribe(
                user_of(request).id,
                request.path_params["session_id"],
                _after_seq(request),
                snapshot=request.query_params.get("snapshot") in ("1", "true"),
                wake=lambda _: wake.set(),
            )
        except OpenProgramError as error:
            status = STATUS.get(error.code, 400)
            return Response(encode_frame(error_frame(error)), status, media_type="application/json")
        return _EventStream(subscription, wake, self._edge)


class _EventStream(StreamingResponse):
    """A response that lives as long as its subscription, and the reverse."""

    def __init__(self, subscription: Subscription, wake: asyncio.Event, edge: Edge) -> None:
        self._subscription = subscription
        self._wake = wake
        self._edge = edge
        super().__init__(self._chunks(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream."""
        self._edge.metrics.streams += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._edge.metrics.streams -= 1
            self._subscription.close()

    async def _chunks(self) -> AsyncIterator[str]:
        while not self._subscription.closed:
            while self._subscription.pending:
                frames = self._subscription.take() or await self._subscription.read()
                self._edge.metrics.frames += len(frames)
                if frames:
                    yield "".join(f"id: {frame.seq}\ndata: {frame.text}\n\n" for frame in frames)
            try:
                async with asyncio.timeout(self._edge.heartbeat_s):
                    await self._wake.wait()
            except TimeoutError:
                self._subscription.check()
                yield PING
            self._wake.clear()


def _after_seq(request: Request) -> int:
    text = request.headers.get("last-event-id") or request.query_params.get("after_seq") or "0"
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise BadField(f"after_seq: {text[:40]!r} is not a seq", field="after_seq")
    return int(text)
