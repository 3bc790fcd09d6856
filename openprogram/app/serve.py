"""The server process: bind, compose, listen, and go down in order at a signal."""

import asyncio
import contextlib
import gc
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp

import openprogram
from openprogram.app.settings import Settings
from openprogram.core.errors import ConfigError
from openprogram.core.ports import Bus
from openprogram.server.access import is_wildcard, make_access
from openprogram.server.app import create_app
from openprogram.server.edge import Edge
from openprogram.server.fanout import Fanout
from openprogram.server.service import Log, Service

STATIC: Final = Path(openprogram.__file__).parent / "web" / "static"
WS_MAX_BYTES: Final = 16_000_000
SHUTDOWN_S: Final = 5
SWITCH_INTERVAL_S: Final = 0.0005
"""How long a database thread may keep the interpreter lock while the event loop waits for it. Python's default of 5 ms
is what the first word of an answer would come later by."""
NEW_OBJECTS: Final = 10_000
"""So many objects are made before the interpreter looks for circles among them. At its own 700, a hundred chats that
stream have it look thirty times a second, each time through what is on its way to the tabs."""
USER_TIMEOUT_MS: Final = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the composition root has built and the server needs."""

    service: Service
    log: Log
    bus: Bus


Compose = Callable[[Settings], AbstractAsyncContextManager[Parts]]


async def serve(settings: Settings, compose: Compose, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. `announce` gets the address when it can be opened.

    Raises `ConfigError` if the address cannot be listened on, and what `compose` raises.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.set_threshold(NEW_OBJECTS)
    with contextlib.closing(bind(settings.host, settings.port)) as listener:
        port: int = listener.getsockname()[1]
        access = make_access(
            token=settings.token,
            host=settings.host,
            port=port,
            allow_hosts=settings.allow_hosts,
            public_url=settings.public_url,
        )
        async with compose(settings) as parts:
            fanout = Fanout(log=parts.log, bus=parts.bus, service=parts.service)
            server: Server
            edge = Edge(
                service=parts.service,
                fanout=fanout,
                access=access,
                static=STATIC,
                ready=lambda: server.started and not server.should_exit,
            )
            server = Server(
                uvicorn_config(create_app(edge)),
                on_start=lambda: announce(address(settings, port)),
                on_stop=fanout.close,
            )
            await server.serve(sockets=[listener])


class Server(uvicorn.Server):
    """uvicorn, with its ends reported. A first signal stops it in order, a second at once."""

    def __init__(self, config: uvicorn.Config, *, on_start: Callable[[], None], on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start
        self._on_stop = on_stop

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Only ask to stop: uvicorn's own handler would raise the signal again before the store is closed."""
        loop = asyncio.get_running_loop()
        signals = (signal.SIGINT, signal.SIGTERM)
        for number in signals:
            loop.add_signal_handler(number, self._stop)
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let event streams end, then close."""
        self._on_stop()
        await super().shutdown(sockets)

    def _stop(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


def uvicorn_config(app: ASGIApp) -> uvicorn.Config:
    """How the application is served; the same in tests and benchmarks."""
    return uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="websockets-sansio",
        ws_max_size=WS_MAX_BYTES,
        ws_per_message_deflate=False,
        ws_ping_interval=20.0,
        ws_ping_timeout=60.0,
        backlog=2048,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_S,
    )


def bind(host: str, port: int) -> socket.socket:
    """A bound socket that does not listen yet. Raises `ConfigError` in the words of the person who started this."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host.strip("[]") or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _cannot_listen(host, port, error) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            # A tab whose machine is gone, or that reads nothing at all, is dropped after a minute. It comes back.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, USER_TIMEOUT_MS)
        listener.bind(where)
    except OSError as error:
        listener.close()
        raise _cannot_listen(host, port, error) from error
    return listener


def _cannot_listen(host: str, port: int, error: OSError) -> ConfigError:
    return ConfigError(
        f"cannot listen on {host} port {port}: {error.strerror or error}",
        field="port",
        hint="another program may have this port (another openprogram?); choose another one with --port",
    )


def address(settings: Settings, port: int) -> str:
    """What to open in a browser. The token is in it only if nobody chose it, and so nobody knows it."""
    if settings.public_url is not None:
        base = settings.public_url.rstrip("/")
    else:
        name = "127.0.0.1" if is_wildcard(settings.host) else settings.host.strip("[]")
        base = f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
    return f"{base}/" if settings.token_given else f"{base}/?token={settings.token}"
