"""Plain HTTP for scripts and supervisors: the actions as POST, and the probes. Event streams are in `sse`."""

import uuid
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from openprogram.core.errors import BadField, BadFrame, OpenProgramError, TooLarge
from openprogram.core.jsonio import decode_object, encode
from openprogram.core.protocol.actions import Subscribe, Unsubscribe
from openprogram.core.protocol.codec import MAX_FRAME_BYTES, encode_frame
from openprogram.core.protocol.frames import ErrorFrame, ServerFrame, SubscribeAck
from openprogram.server.auth import user_of
from openprogram.server.edge import Edge
from openprogram.server.ws_actions.base import Context
from openprogram.server.ws_actions.dispatch import answer, error_frame

STATUS: Final = {
    "unauthorised": 401,
    "unknown_action": 404,
    "unknown_session": 404,
    "id_conflict": 409,
    "busy": 409,
    "too_large": 413,
    "limit_exceeded": 429,
    "internal": 500,
    "no_endpoint": 503,
    "storage_failed": 503,
}
"""HTTP status by error code; what is not named here is 400."""


class NoSubscriptions:
    """The link of an HTTP request: it carries one answer and no events."""

    async def subscribe(self, action: Subscribe) -> SubscribeAck:
        """Refuse, and say where events are to be had."""
        raise _not_here("subscribe")

    def unsubscribe(self, action: Unsubscribe) -> None:
        """Refuse."""
        raise _not_here("unsubscribe")


def _not_here(name: str) -> BadFrame:
    return BadFrame(f"{name} needs a WebSocket", field="action", hint="GET /api/sessions/{id}/events streams events")


class Api:
    """Endpoints that need an `Edge`."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge

    async def action(self, request: Request) -> Response:
        """`POST /api/actions/{action}`: a frame as body, `action` and `id` optional; answers as the WebSocket."""
        context = Context(
            user=user_of(request),
            link=NoSubscriptions(),
            service=self._edge.service,
            metrics=self._edge.metrics,
        )
        try:
            frame = await _frame(request)
        except ClientDisconnect:
            return Response(status_code=400)
        except OpenProgramError as error:
            return _json(error_frame(error))
        return _json(await answer(context, frame))

    async def healthz(self, request: Request) -> Response:
        """The process answers."""
        return PlainTextResponse("ok")

    async def readyz(self, request: Request) -> Response:
        """The process can do its work."""
        ready = self._edge.ready()
        return PlainTextResponse("ready" if ready else "not ready", 200 if ready else 503)

    async def metrics(self, request: Request) -> Response:
        """Prometheus text."""
        from openprogram.server.prometheus import render  # noqa: PLC0415  (see there)

        metrics, fanout = self._edge.metrics, self._edge.fanout
        metrics.subscriptions, metrics.topics = fanout.readers, fanout.topics
        return Response(render(metrics), media_type="text/plain; version=1.0.0; charset=utf-8")


async def _frame(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FRAME_BYTES:
            raise TooLarge(f"the body has more than {MAX_FRAME_BYTES:,} bytes")
    value = decode_object(bytes(body or b"{}"))
    name = request.path_params["action"]
    if value.setdefault("action", name) != name:
        raise BadField("action: differs from the one in the address", field="action")
    value.setdefault("id", uuid.uuid4().hex)
    return encode(value)


def _json(frame: ServerFrame) -> Response:
    status = STATUS.get(frame.code, 400) if isinstance(frame, ErrorFrame) else 200
    return Response(encode_frame(frame), status, media_type="application/json")
