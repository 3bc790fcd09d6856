"""A chat's place in the browser, and when what an act has set off is over. Imports Playwright.

An act's effects come by events that are later than its end: a window that it opens, a page that a script goes to. So
after an act Chromium itself is asked which windows the chat has, and each is waited for until Playwright tells of it.
"""

import asyncio
import time
from typing import Final

from playwright.async_api import BrowserContext, CDPSession, Error, Page, Request
from playwright.async_api import TimeoutError as Slow

from openprogram.net.proxy import GuardedProxy

WIDTH: Final = 1280
HEIGHT: Final = 800
"""Pixels of a window."""

_ARRIVAL_S: Final = 15.0  # for a window or page that was asked for
_LOADING_S: Final = 3.0  # for what a page loads; one that never comes to rest is shown as it is
_QUIET_S: Final = 0.5


class Seat:
    """A chat's windows, which reach the network through `proxy`. `lock` lets its calls take turns.

    `chromium` is a session with the browser itself; `used_at` is a reading of the monotonic clock.
    """

    def __init__(self, context: BrowserContext, proxy: GuardedProxy, chromium: CDPSession) -> None:
        self.context = context
        self.proxy = proxy
        self.used_at = time.monotonic()
        self.lock = asyncio.Lock()
        self._chromium = chromium
        self._home: str | None = None
        self._windows: dict[Page, str] = {}
        self._given_up: set[str] = set()
        self._loading: set[Request] = set()
        self._arriving: dict[Request, Page] = {}
        self._news = asyncio.Event()
        # Lambdas, for Playwright marks the objects of bound methods.
        context.on("page", lambda page: self._opened(page))  # noqa: PLW0108
        context.on("request", lambda request: self._asked(request))  # noqa: PLW0108
        context.on("response", lambda response: self._answered(response.request))
        context.on("requestfinished", lambda request: self._over(request))  # noqa: PLW0108
        context.on("requestfailed", lambda request: self._over(request))  # noqa: PLW0108

    @property
    def page(self) -> Page:
        """What the chat sees: its newest window that is still open. Raises `Error` where none is."""
        if not self.is_open():
            raise Error("the page has been closed")
        return self.context.pages[-1]

    def is_open(self) -> bool:
        """Whether there is a window."""
        return bool(self.context.pages)

    def begin(self) -> None:
        """Something is about to be done: what was under way before is not what `rest` waits for."""
        self._loading.clear()
        self._arriving.clear()

    async def rest(self) -> bool:
        """Wait for what was set off since `begin`: windows, pages, and what those load. Returns whether it is over;
        else a window or a page has been asked for and its server does not answer."""
        began = time.monotonic()
        while True:
            self._news.clear()
            coming = await self._coming()
            arriving = bool(coming or [page for page in self._arriving.values() if not page.is_closed()])
            left = (_ARRIVAL_S if arriving else _LOADING_S) - (time.monotonic() - began)
            if left <= 0:
                self._given_up |= coming
                break
            if arriving or self._loading:
                await _heard(self._news, left)
            elif not await _heard(self._news, min(left, _QUIET_S)) and await self._nothing_more(left):
                break
        try:
            await self.page.wait_for_load_state("domcontentloaded", timeout=_LOADING_S * 1000)
        except Slow:
            return not arriving
        return not arriving

    async def _nothing_more(self, within_s: float) -> bool:
        """Let the page do what it has begun, however slow the machine is: a script goes on after its answers came."""
        try:
            async with asyncio.timeout(within_s):
                await self.page.evaluate("() => new Promise((done) => setTimeout(done))")
        except (Error, TimeoutError):
            return False  # the page has gone meanwhile, or is busy
        return not self._news.is_set() and not await self._coming()

    async def _coming(self) -> set[str]:
        """The windows that Chromium has and Playwright has not told of yet, by Chromium's ids."""
        for page in self.context.pages:
            if page not in self._windows:
                await self._identify(page)
        targets = (await self._chromium.send("Target.getTargets"))["targetInfos"]
        ours = {
            target["targetId"]
            for target in targets
            if target["type"] == "page"
            and target.get("browserContextId") == self._home
            and "subtype" not in target  # a page rendered in advance, which may never be shown
        }
        return ours - set(self._windows.values()) - self._given_up

    async def _identify(self, page: Page) -> None:
        try:
            session = await self.context.new_cdp_session(page)
            target = (await session.send("Target.getTargetInfo"))["targetInfo"]
            await session.detach()
        except Error:
            if not page.is_closed():
                raise
            return
        self._windows[page] = target["targetId"]
        self._home = target["browserContextId"]

    def _opened(self, page: Page) -> None:
        page.on("close", lambda _: self._news.set())
        self._news.set()

    def _asked(self, request: Request) -> None:
        self._loading.add(request)
        if request.is_navigation_request():
            try:
                frame = request.frame
            except Error:
                return  # a window that is still to come
            if frame.parent_frame is None:
                self._arriving[request] = frame.page
        self._news.set()

    def _answered(self, request: Request) -> None:
        self._arriving.pop(request, None)
        self._news.set()

    def _over(self, request: Request) -> None:
        self._loading.discard(request)
        self._answered(request)


async def _heard(news: asyncio.Event, within_s: float) -> bool:
    try:
        async with asyncio.timeout(within_s):
            await news.wait()
    except TimeoutError:
        return False
    return True


def first_line(error: Exception) -> str:
    """What went wrong, without Playwright's call log."""
    text = str(error).strip().split("\n", 1)[0]
    return text.removeprefix("Page.").rstrip(".") or type(error).__name__
