"""Real HTTP servers on loopback for tests."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Loopback:
    """A running server: its address, and what it was asked, in order."""

    port: int = 0
    requests: list[web.Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def loopback(handler: Handler, *, host: str = "127.0.0.1") -> AsyncIterator[Loopback]:
    """Serve every path with `handler` until the block ends."""
    server = Loopback()

    async def record(request: web.Request) -> web.StreamResponse:
        server.requests.append(request)
        server.bodies.append(await request.read())
        return await handler(request)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", record)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        place = web.TCPSite(runner, host, 0)
        await place.start()
        server.port = runner.addresses[0][1]
        yield server
    finally:
        await runner.cleanup()
