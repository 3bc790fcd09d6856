"""What can be chosen is what there is, however late an endpoint tells its models."""

import asyncio

from aiohttp import web
from playwright.async_api import Browser, WebSocketRoute, expect

from tests.browser.conftest import Serve
from tests.support.browser import open_context, open_tab
from tests.support.loopback import loopback
from tests.support.server import Server

CONFIG = """
[endpoints.late]
api = "openai-chat"
base_url = "{url}/v1"
key = "k"
"""


class Line:
    """The page's line to its server: the subscription to hints, and all after it, is on the way until it is let on."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self._open = False
        self._kept: list[tuple[WebSocketRoute, str]] = []

    def __call__(self, page: WebSocketRoute) -> None:
        server = page.connect_to_server()
        page.on_message(lambda text: self._take(server, str(text)))

    def let_on(self) -> None:
        """Let through what was kept, and what comes."""
        self._open = True
        for server, text in self._kept:
            server.send(text)

    def _take(self, server: WebSocketRoute, text: str) -> None:
        hints = '"subscribe"' in text and '"session_id":null' in text
        if self._open or not (hints or self._kept):
            server.send(text)
        else:
            self._kept.append((server, text))
            self.begun.set()


async def listed(server: Server, model: str) -> None:
    """Wait until the server knows this model."""
    async with server.client() as client:
        while model not in [known["id"] for known in (await client.send("list_models"))["models"]]:
            continue


async def test_a_model_that_is_told_while_the_page_connects_is_shown(browser: Browser, serve: Serve) -> None:
    told, line = asyncio.Event(), Line()

    async def endpoint(_request: web.Request) -> web.StreamResponse:
        await told.wait()
        return web.json_response({"object": "list", "data": [{"id": "late-model", "object": "model"}]})

    async with loopback(endpoint) as late:
        server = await serve(demo=True, config=CONFIG.format(url=late.url))
        context = await open_context(browser)
        await context.route_web_socket("**/ws", line)
        opening = asyncio.create_task(open_tab(context, server))
        await line.begun.wait()  # the page has its hello, in which there is no such model
        told.set()
        await listed(server, "late/late-model")
        line.let_on()
        tab = await opening
        await expect(tab.page.get_by_test_id("model-picker")).to_have_accessible_name("Model: late-model")
        await context.close()
        tab.check()
