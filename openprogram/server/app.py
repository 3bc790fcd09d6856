"""The ASGI application, made from what it is handed."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute

from openprogram.core.errors import BadFrame
from openprogram.core.protocol.codec import encode_frame
from openprogram.server.auth import Gate, RequireUser
from openprogram.server.connection import SocketEndpoint
from openprogram.server.edge import Edge
from openprogram.server.headers import SecurityHeaders
from openprogram.server.http import Api
from openprogram.server.sse import SessionEvents
from openprogram.server.static import Entrance, InterfaceFiles
from openprogram.server.ws_actions.dispatch import error_frame


def create_app(edge: Edge) -> Starlette:
    """All routes. Those without `signed_in` are the exemptions of the protocol: probes, sign-in, static files."""
    api = Api(edge)
    signed_in = [Middleware(RequireUser, access=edge.access, metrics=edge.metrics)]

    return Starlette(
        routes=[
            Route("/healthz", api.healthz),
            Route("/readyz", api.readyz),
            Route("/metrics", api.metrics, middleware=signed_in),
            Mount(
                "/api",
                routes=[
                    Route("/actions/{action}", api.action, methods=["POST"]),
                    Route("/sessions/{session_id}/events", SessionEvents(edge).__call__),
                ],
                middleware=signed_in,
            ),
            WebSocketRoute("/ws", SocketEndpoint(edge), middleware=signed_in),
            Route("/", Entrance(edge.access, edge.static).__call__),
            Mount("/", InterfaceFiles(edge.static)),
        ],
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(Gate, access=edge.access, metrics=edge.metrics),
        ],
        exception_handlers={HTTPException: _http_error},
    )


async def _http_error(request: Request, error: Exception) -> Response:
    """No such address or method: in the form that the asker understands."""
    if not isinstance(error, HTTPException):
        raise error
    if request.url.path.startswith("/api/"):
        frame = error_frame(BadFrame(f"{error.detail}: {request.method} {request.url.path[:200]}"))
        return Response(encode_frame(frame), error.status_code, error.headers, "application/json")
    return PlainTextResponse(error.detail, error.status_code, error.headers)
