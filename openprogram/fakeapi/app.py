"""The ASGI application: providers' endpoints, canned search, control surface, and a guard before all."""

from __future__ import annotations

from ipaddress import ip_address

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from openprogram.fakeapi.control import control_routes
from openprogram.fakeapi.endpoints import provider_routes
from openprogram.fakeapi.search import search
from openprogram.fakeapi.state import FakeState


def create_app(state: FakeState, *, control: bool = True) -> ASGIApp:
    """The application. Without `control` nobody can script answers: so it runs behind a real chat."""
    routes = [Route("/", _about), *provider_routes(state), Route("/search", search)]
    if control:
        routes.extend(control_routes(state))
    return LoopbackGuard(Starlette(routes=routes))


async def _about(request: Request) -> Response:
    return JSONResponse({"service": "openprogram fake API", "documentation": "docs/fake-api.md"})


class LoopbackGuard:
    """Refuses what a web page in the user's browser could send: a foreign Host (DNS rebinding) and any
    Origin. There is no key to protect here, but a scripted answer could name a command to run."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let programs on this machine through, and nobody else."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if "origin" in headers or not is_loopback(headers.get("host", "")):
                refusal = JSONResponse(
                    {"error": "The fake API answers programs on this machine only, not web pages."}, 403
                )
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def is_loopback(host: str) -> bool:
    """Whether a Host header names this machine: localhost or a loopback address, with any port."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
