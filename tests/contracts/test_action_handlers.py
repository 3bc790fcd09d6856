"""Every action of the protocol has a handler in the server, and every address that needs one asks for a credential."""

from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute

from openprogram.core.protocol.codec import ACTIONS
from openprogram.server.app import create_app
from openprogram.server.auth import RequireUser
from openprogram.server.ws_actions import chat, inspect, sessions, settings, tools
from openprogram.server.ws_actions.dispatch import HANDLERS
from tests.support.edge import edge_without_server

# The whole list of what is served to anybody (protocol.md, Running it): probes, the sign-in page, static files.
EXEMPT = {"/healthz", "/readyz", "/", ""}


def test_every_action_has_exactly_one_handler() -> None:
    assert set(HANDLERS) == set(ACTIONS.values())
    assert sum(len(module.HANDLERS) for module in (chat, inspect, sessions, settings, tools)) == len(HANDLERS)


def test_only_the_exempt_addresses_are_served_without_a_credential() -> None:
    routes = create_app(edge_without_server()).routes
    assert {path(route) for route in routes if not _is_guarded(route)} == EXEMPT
    assert {path(route) for route in routes if _is_guarded(route)} == {"/metrics", "/api", "/ws"}


def path(route: BaseRoute) -> str:
    assert isinstance(route, Route | WebSocketRoute | Mount)
    return route.path


def _is_guarded(route: BaseRoute) -> bool:
    assert isinstance(route, Route | WebSocketRoute | Mount)
    return isinstance(route.app, RequireUser)
