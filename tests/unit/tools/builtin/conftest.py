"""Fixtures of the tests of the browser: a site, a server that pages may not reach, and the tool."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from openprogram.core.tooling import ToolSpec
from openprogram.tools.builtin.browser_config import BrowserConfig
from openprogram.tools.builtin.playwright_browser import Browsers, browsing, playwright_browser_tool
from tests.support.loopback import Loopback, loopback
from tests.support.sites import Site
from tests.unit.net.test_guarded import Names


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    made = Site()
    async with loopback(made, host="127.0.0.2") as server:
        made.server = server
        yield made


@pytest.fixture
async def inside() -> AsyncIterator[Loopback]:
    """A server that nobody outside may reach."""

    async def secret(_request: web.Request) -> web.StreamResponse:
        return web.Response(text="secret", headers={"Access-Control-Allow-Origin": "*"})

    async with loopback(secret) as server:
        yield server


@pytest.fixture
async def browsers(inside: Loopback) -> AsyncIterator[Browsers]:
    names = Names(**{"site.test": ("127.0.0.2",), "inside.test": ("127.0.0.1",), "meta.test": ("169.254.169.254",)})
    names.hosts |= {
        "other.test": ("127.0.0.2",),
        "127.0.0.1": ("127.0.0.1",),
        "localhost": ("127.0.0.1",),
        "10.0.0.1": ("10.0.0.1",),
    }
    async with browsing(BrowserConfig(allow=("127.0.0.2/32",), resolve=names)) as made:
        yield made


@pytest.fixture
def browser(browsers: Browsers) -> ToolSpec:
    return playwright_browser_tool(browsers)
