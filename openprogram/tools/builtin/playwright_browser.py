"""`playwright_browser`: use web pages in a real browser, by their accessibility tree."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import CallPreview, Effect, ToolContext, ToolLimits, ToolOutput, ToolSpec
from openprogram.tools.builtin.browser_config import Action, BrowserCall, BrowserConfig
from openprogram.tools.decorator import tool

if TYPE_CHECKING:
    from openprogram.tools.builtin.browser_pages import Pages
    from openprogram.tools.builtin.browser_seat import Seat

_CHECK_S: Final = 30.0
_ONLY_LOOK: Final = ("open", "snapshot", "screenshot", "back", "close")


class Browsers:
    """The server's browser, not started before it is needed: `async with Browsers(config) as browsers`."""

    def __init__(self, config: BrowserConfig) -> None:
        self.config = config
        self._pages: Pages | None = None

    def pages(self) -> "Pages":
        """The chats' pages. The first call imports Playwright."""
        if self._pages is None:
            from openprogram.tools.builtin.browser_pages import Pages  # noqa: PLC0415 - optional, and 0.5 s

            self._pages = Pages(self.config)
        return self._pages

    async def close_idle_for_ever(self) -> None:
        """Close pages that nobody uses, until cancelled."""
        while True:
            await asyncio.sleep(min(_CHECK_S, self.config.idle_s))
            if self._pages is not None:
                await self._pages.close_idle()

    async def aclose(self) -> None:
        """End the browser, if it runs."""
        if self._pages is not None:
            await self._pages.aclose()


@asynccontextmanager
async def browsing(config: BrowserConfig) -> AsyncIterator[Browsers]:
    """A browser for the tools until the block ends."""
    browsers = Browsers(config)
    sweeper = asyncio.create_task(browsers.close_idle_for_ever(), name="idle pages")
    try:
        yield browsers
    finally:
        sweeper.cancel()
        await asyncio.wait({sweeper})
        await browsers.aclose()


def playwright_browser_tool(browsers: Browsers) -> ToolSpec:
    """The tool over one server's browser. What may change something at a site asks; opening and looking do not."""

    async def judge(arguments: JsonObject, context: ToolContext) -> Effect | None:
        call = BrowserCall.of(arguments)
        if call.action in _ONLY_LOOK:
            return None
        async with _seated(browsers, call, context) as seat:
            from openprogram.tools.builtin import browser_consent  # noqa: PLC0415 - with Playwright

            return await browser_consent.effect(call, seat)

    async def preview(arguments: JsonObject, context: ToolContext) -> CallPreview:
        call = BrowserCall.of(arguments)
        async with _seated(browsers, call, context) as seat:
            from openprogram.tools.builtin import browser_consent  # noqa: PLC0415 - with Playwright

            return await browser_consent.preview(call, seat)

    @tool(
        permission="network",
        presets=("browser",),
        limits=ToolLimits(timeout_s=60.0),
        version="2",
        preview=preview,
        judge=judge,
    )
    async def playwright_browser(
        context: ToolContext,
        action: Action,
        url: str = "",
        ref: str = "",
        text: str = "",
        submit: bool = False,
    ) -> ToolOutput:
        """Use web pages in a real browser: navigate, click, fill in forms, take screenshots. Most actions answer with
        the page's accessibility tree, where [ref=...] names what can be clicked or typed into.

        Args:
            action: What to do; close also forgets the cookies
            url: Address to open, http or https
            ref: Element of the newest tree, to click or type into
            text: What to type; it replaces what is there
            submit: Press Enter after typing
        """
        if action == "close":
            was_open = await browsers.pages().close(context.session_id)
            return ToolOutput.text("Closed." if was_open else "No page was open.")
        call = BrowserCall(action, url, ref, text, submit)
        async with _seated(browsers, call, context) as seat:
            from openprogram.tools.builtin.browser_acts import act  # noqa: PLC0415 - with Playwright

            return await act(call, seat)

    return playwright_browser


@asynccontextmanager
async def _seated(browsers: Browsers, call: BrowserCall, context: ToolContext) -> AsyncIterator["Seat"]:
    """The chat's place in the browser, for one call. Raises `ToolFailure` where there is no page to do this with."""
    pages = browsers.pages()
    if call.action != "open" and not pages.has(context.session_id):
        raise ToolFailure("No page is open in this chat; open one first.")
    async with pages.seat(context.session_id) as seat:
        yield seat
