"""The gate in front of everything: which requests are let in, and who sends them.

`Gate` runs before any route, and for a WebSocket before the upgrade. It refuses what cannot come from a page of
this server, and finds out who is asking. `RequireUser` goes around each route that needs somebody.
"""

from typing import Final

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from openprogram.core.errors import Unauthorised
from openprogram.core.protocol.codec import encode_frame
from openprogram.core.protocol.frames import UserInfo
from openprogram.server.access import Access
from openprogram.server.metrics import Metrics
from openprogram.server.ws_actions.dispatch import error_frame

OWNER: Final = UserInfo(id="local", name="You")
"""Whoever holds the token. Accounts will add others."""

PROBES: Final = frozenset({"/healthz", "/readyz"})
"""Asked by supervisors under whatever name they know this machine by."""

_SINGLE: Final = ("host", "origin", "authorization")


class Gate:
    """Checks `Host` and `Origin`, then sets `scope["user"]` to a `UserInfo` or None."""

    def __init__(self, app: ASGIApp, access: Access, metrics: Metrics) -> None:
        self._app = app
        self._access = access
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on or refuse."""
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            refusal = self._refusal(headers, scope["path"])
            if refusal is not None:
                await refusal(scope, receive, send)
                return
            scope["user"] = identify(self._access, headers)
        await self._app(scope, receive, send)

    def _refusal(self, headers: Headers, path: str) -> Response | None:
        for name in _SINGLE:
            if len(headers.getlist(name)) > 1:
                return self._refuse(400, "repeated_header", f"the request has more than one {name} header")
        host = headers.get("host")
        if host is None:
            return self._refuse(400, "no_host", "the request has no Host header")
        if not self._access.host_allowed(host) and path not in PROBES:
            name = host[:200]
            return self._refuse(
                403,
                "foreign_host",
                f"this server does not answer to the name {name!r}",
                f"start it with --allow-host {name.partition(':')[0]} or with --public-url if it should",
            )
        origin = headers.get("origin")
        if origin is not None and not self._access.origin_allowed(origin):
            return self._refuse(
                403,
                "foreign_origin",
                f"pages of {origin[:200]!r} may not talk to this server",
                "start it with --public-url or --allow-host if they should",
            )
        return None

    def _refuse(self, status: int, reason: str, message: str, hint: str | None = None) -> Response:
        self._metrics.refused[reason] += 1
        return error_response(status, Unauthorised(message, hint=hint))


class RequireUser:
    """Lets only requests with a credential through; the others get 401."""

    def __init__(self, app: ASGIApp, access: Access, metrics: Metrics) -> None:
        self._app = app
        self._access = access
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on or refuse."""
        if scope["user"] is not None:
            await self._app(scope, receive, send)
            return
        self._metrics.refused["unauthorised"] += 1
        response = error_response(401, self._explain(HTTPConnection(scope)))
        response.headers["www-authenticate"] = "Bearer"
        await response(scope, receive, send)

    def _explain(self, request: HTTPConnection) -> Unauthorised:
        if _bearer(request.headers) is not None:
            return Unauthorised("the token is wrong", hint="the server prints the right one when it starts")
        if has_cookie(self._access, request):
            return Unauthorised(
                "a request without an Origin header needs a Bearer token",
                hint="send Authorization: Bearer TOKEN",
            )
        return Unauthorised("a credential is missing", hint="open / and sign in, or send Authorization: Bearer TOKEN")


def identify(access: Access, headers: Headers) -> UserInfo | None:
    """Who sends this: a right Bearer token, or the cookie on a request that shows its `Origin`."""
    token = _bearer(headers)
    if token is not None:
        return OWNER if access.token_matches(token) else None
    if "origin" not in headers:
        return None
    return OWNER if has_cookie(access, HTTPConnection({"type": "http", "headers": headers.raw})) else None


def has_cookie(access: Access, request: HTTPConnection) -> bool:
    """Whether the browser has signed in."""
    value = request.cookies.get(access.cookie_name)
    return value is not None and access.cookie_matches(value)


def user_of(request: HTTPConnection) -> UserInfo:
    """The user of a request that went through `RequireUser`."""
    user = request.user
    if not isinstance(user, UserInfo):
        raise TypeError("this route is not behind RequireUser")
    return user


def error_response(status: int, error: Unauthorised) -> Response:
    """A refusal as the error frame that a client knows."""
    return Response(encode_frame(error_frame(error)), status, media_type="application/json")


def _bearer(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
