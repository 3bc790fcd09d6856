"""One Chromium and one server of each kind per worker; a browser profile of its own per test.

Tests here run in one event loop per worker, since the browser lives in it. A test that kills its server or needs other
settings starts one with `running_server`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext

from tests.support.browser import Tab, chromium, open_context, open_tab
from tests.support.fake import FakeApi, fake_api, moves_of
from tests.support.server import Server, running_server

OpenTab = Callable[..., Awaitable[Tab]]
Serve = Callable[..., Awaitable[Server]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is in this directory: it drives a browser, in the worker's own loop."""
    for item in items:
        if item.path.parent.name == "browser":
            item.add_marker(pytest.mark.browser)
            if pytest_asyncio.is_async_test(item):
                item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The worker's Chromium."""
    async with chromium() as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_fake() -> AsyncIterator[FakeApi]:
    """The worker's fake API; tests take `fake`, which is the same after a reset."""
    async with fake_api() as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_server(shared_fake: FakeApi, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """The worker's server; tests take `server`, which is the same, and at rest at the end of each."""
    home = tmp_path_factory.mktemp("server")
    async with running_server(home, shared_fake, environment={"SEARXNG_URL": shared_fake.base_url}) as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def demo_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """The worker's server without any endpoint: the demo model answers, at reading speed."""
    async with running_server(tmp_path_factory.mktemp("demo")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def fake(shared_fake: FakeApi, request: pytest.FixtureRequest) -> AsyncIterator[FakeApi]:
    """The fake API as if just started. Without a script its demo model answers, as fast as possible."""
    async with shared_fake.for_test(moves_of(request)) as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="session")
async def server(fake: FakeApi, shared_server: Server) -> AsyncIterator[Server]:
    """A real endpoint, which is the fake API, and a search service, which is the fake API's. Do not restart it.

    No turn of this test is left to take what the next one tells the fake API to say.
    """
    yield shared_server
    await shared_server.rest()


@pytest_asyncio.fixture(loop_scope="session")
async def serve(fake: FakeApi, tmp_path: Path) -> AsyncIterator[Serve]:
    """Starts servers of the test's own, with the fake API as their endpoint: `await serve(config=...)`.

    Arguments are those of `running_server`; `demo=True` leaves the endpoint out.
    """
    async with AsyncExitStack() as running:

        async def serve_it(*options: str, demo: bool = False, **more: Any) -> Server:
            home = tmp_path / "server"
            return await running.enter_async_context(running_server(home, None if demo else fake, *options, **more))

        yield serve_it


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser, serve: Serve) -> AsyncIterator[OpenTab]:
    """Opens tabs: `await open_page(server, "/#/c/...")`.

    Servers of `serve` outlive them. They share a browser profile; `options` of Playwright's `new_context` (or
    `elsewhere=True`) make another one. At the end no tab may have seen an error, a policy violation or a foreign
    request.
    """
    tabs: list[Tab] = []
    profiles: list[BrowserContext] = []

    async def open_it(server: Server, path: str = "/", *, elsewhere: bool = False, **options: Any) -> Tab:
        if elsewhere or options or not profiles:
            profiles.append(await open_context(browser, **options))
        tabs.append(await open_tab(profiles[-1], server, path))
        return tabs[-1]

    yield open_it
    for profile in profiles:
        await profile.close()
    for tab in tabs:
        tab.check()


@pytest_asyncio.fixture(loop_scope="session")
async def tab(server: Server, open_page: OpenTab) -> Tab:
    """A tab on the worker's server, at a new chat."""
    return await open_page(server)
