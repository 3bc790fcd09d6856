"""An endpoint that answers with exactly the bytes that a test wants, for what no well-behaved server would send."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class StubEndpoint:
    """Its address, the requests that came, and how many connections they came over."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.requests: list[web.Request] = []
        self.connections: set[object] = set()


@asynccontextmanager
async def stub_endpoint(handler: Handler) -> AsyncIterator[StubEndpoint]:
    """Serve every path on loopback by `handler`."""

    async def serve(request: web.Request) -> web.StreamResponse:
        await request.read()
        stub.requests.append(request)
        stub.connections.add(request.transport)
        return await handler(request)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", serve)
    runner = web.AppRunner(application, handle_signals=False, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        stub = StubEndpoint(f"http://127.0.0.1:{port}")
        yield stub
    finally:
        await runner.cleanup()


def sends(body: bytes, *, status: int = 200, content_type: str = "text/event-stream", **headers: str) -> Handler:
    """A handler that sends one body."""

    async def handler(_: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(body=body, status=status, headers={"Content-Type": content_type, **named})

    return handler


def sends_and_stays(body: bytes, leave: Callable[[], Awaitable[object]]) -> Handler:
    """A handler that sends a body, and does not end the response until `leave` returns."""

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(body)
        await leave()
        return response

    return handler
