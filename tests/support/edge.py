"""The server's edge on a real socket, in this process, over the stand-in service of `tests.support.chats`.

    async with serving() as edge, edge.client() as client:
        await client.send("ping")

For what the whole program does there is `tests.support.server`.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from openprogram.app.serve import bind, uvicorn_config
from openprogram.core.ports import Bus
from openprogram.server.access import make_access
from openprogram.server.app import create_app
from openprogram.server.edge import Edge
from openprogram.server.fanout import Fanout
from openprogram.server.service import Log, Service
from openprogram.server.subscription import Limits
from tests.support.chats import LocalBus, MemoryLog, StandInService
from tests.support.ws import WAIT_S, Client

TOKEN: Final = "the-token"
USER: Final = "local"
BEARER: Final[Mapping[str, str]] = {"Authorization": f"Bearer {TOKEN}"}
NOWHERE: Final = Path("/nonexistent")


@dataclass
class Reached:
    """A running edge."""

    edge: Edge
    port: int

    @property
    def url(self) -> str:
        """Base URL without a trailing slash; also the `Origin` of its pages."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def fanout(self) -> Fanout:
        """The subscriptions of all tabs."""
        return self.edge.fanout

    def socket(
        self, *, origin: str | None = None, headers: Mapping[str, str] = BEARER, subprotocol: str = "openprogram.v1"
    ) -> connect:
        """A WebSocket, to be entered."""
        return connect(
            f"ws://127.0.0.1:{self.port}/ws",
            origin=None if origin is None else Origin(origin),
            additional_headers=headers,
            subprotocols=[Subprotocol(subprotocol)],
            compression=None,
            max_size=None,
            proxy=None,
            open_timeout=WAIT_S,
            ping_interval=None,
        )

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """A WebSocket that keeps all frames, after its `hello`."""
        async with self.socket() as socket, reading(socket) as client:
            client.hello = await client.frame("hello")
            yield client

    @asynccontextmanager
    async def http(self, **headers: str) -> AsyncIterator[aiohttp.ClientSession]:
        """An HTTP client that follows no redirect and keeps no cookie."""
        async with aiohttp.ClientSession(
            self.url, headers=headers, cookie_jar=aiohttp.DummyCookieJar(), raise_for_status=False
        ) as session:
            yield session

    async def raw(self, *lines: str, path: str = "/ws") -> tuple[int, str]:
        """Send a request head as it is; returns the status and the whole answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = "".join(f"{line}\r\n" for line in (f"GET {path} HTTP/1.1", *lines, "Connection: Upgrade, close"))
        writer.write(f"{head}\r\n".encode("latin-1"))
        try:
            async with asyncio.timeout(WAIT_S):
                answer = (await reader.read(65536)).decode("latin-1")
        finally:
            writer.close()
            await writer.wait_closed()
        return int(answer.split()[1]), answer


@dataclass
class Served(Reached):
    """A running edge and the stand-in behind it."""

    log: MemoryLog
    bus: LocalBus
    service: StandInService


@asynccontextmanager
async def reading(socket: ClientConnection) -> AsyncIterator[Client]:
    """A client that collects what the socket brings."""
    client = Client(socket)
    reader = asyncio.create_task(client.read(), name="test client")
    try:
        yield client
    finally:
        await socket.close()
        await reader


class _Server(uvicorn.Server):
    """uvicorn that leaves the test runner's signals alone and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@asynccontextmanager
async def serving(**options: Any) -> AsyncIterator[Served]:
    """Serve the stand-in on a free port until the block ends. `options` are those of `reached`."""
    log, bus = MemoryLog(), LocalBus()
    service = StandInService(log, bus)
    async with reached(service, log, bus, **options) as found:
        yield Served(found.edge, found.port, log, bus, service)


@asynccontextmanager
async def reached(
    service: Service,
    log: Log,
    bus: Bus,
    *,
    static: Path = NOWHERE,
    heartbeat_s: float = 3600.0,
    limits: Limits | None = None,
    ready: bool = True,
    **access: Any,
) -> AsyncIterator[Reached]:
    """Serve on a free port until the block ends. `access` goes to `make_access`."""
    with contextlib.closing(bind("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        edge = Edge(
            service=service,
            fanout=Fanout(log=log, bus=bus, service=service, limits=limits or Limits()),
            access=make_access(token=TOKEN, host="127.0.0.1", port=port, **access),
            static=static,
            ready=lambda: ready,
            heartbeat_s=heartbeat_s,
        )
        server = _Server(uvicorn_config(create_app(edge)))
        running = asyncio.create_task(server.serve(sockets=[listener]), name="edge")
        try:
            async with asyncio.timeout(WAIT_S):
                await server.listening.wait()
            yield Reached(edge, port)
        finally:
            edge.fanout.close()
            server.should_exit = True
            await running


def edge_without_server() -> Edge:
    """An edge to make an application of that is not served."""
    log, bus = MemoryLog(), LocalBus()
    service = StandInService(log, bus)
    return Edge(
        service=service,
        fanout=Fanout(log=log, bus=bus, service=service),
        access=make_access(token=TOKEN, host="127.0.0.1", port=8790),
        static=NOWHERE,
    )
