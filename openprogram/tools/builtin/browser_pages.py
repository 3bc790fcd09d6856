"""The browser: one Chromium for all chats behind the guarded proxy, one context with one page for each chat.

Imports Playwright, so it is imported when a page is first used.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Final

import structlog
from playwright.async_api import Browser, CDPSession, Error, Playwright, async_playwright

from openprogram.core.errors import ToolFailure
from openprogram.net.addresses import AddressPolicy
from openprogram.net.proxy import GuardedProxy
from openprogram.tools.builtin.browser_config import BrowserConfig
from openprogram.tools.builtin.browser_seat import HEIGHT, WIDTH, Seat, first_line

_log = structlog.get_logger(__name__)

_ACTION_MS: Final = 15_000
_FLAGS: Final = (
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)


class Pages:
    """The chats' pages: `async with Pages(config) as pages`; leaving the block ends the browser with all of it."""

    def __init__(self, config: BrowserConfig) -> None:
        self._config = config
        self._stack = AsyncExitStack()
        self._running: _Running | None = None
        self._seats: dict[str, Seat] = {}
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def seat(self, session_id: str) -> AsyncIterator[Seat]:
        """The chat's place, for one call. Raises `ToolFailure` where no browser starts."""
        seat = await self._seat(session_id)
        async with seat.lock:
            try:
                yield seat
            finally:
                seat.used_at = time.monotonic()

    def has(self, session_id: str) -> bool:
        """Whether the chat has a page."""
        return session_id in self._seats

    async def close(self, session_id: str) -> bool:
        """Close the chat's page with its cookies; the browser ends with the last one. Returns whether there was one."""
        async with self._lock:
            seat = self._seats.pop(session_id, None)
            if seat is not None:
                await _closed(seat)
            if not self._seats:
                await self._end()
            return seat is not None

    async def close_idle(self) -> None:
        """Close what nobody has used for a while, and a browser that nobody has a page in."""
        now = time.monotonic()
        for session_id, seat in tuple(self._seats.items()):
            if now - seat.used_at >= self._config.idle_s and not seat.lock.locked():
                await self.close(session_id)
        async with self._lock:
            if not self._seats:
                await self._end()

    async def aclose(self) -> None:
        """End the browser."""
        async with self._lock:
            self._seats.clear()
            await self._end()

    async def _seat(self, session_id: str) -> Seat:
        async with self._lock:
            seat = self._seats.get(session_id)
            if seat is None or not seat.is_open():
                if seat is not None:
                    await _closed(seat)
                seat = self._seats[session_id] = await self._new_seat()
            return seat

    async def _new_seat(self) -> Seat:
        """A context in the browser that runs; one that has died meanwhile is replaced."""
        if self._running is not None:
            try:
                return await _opened(self._running)
            except Error as error:
                _log.warning("browser_lost", problem=first_line(error))
                self._seats.clear()
                await self._end()
        seat = None
        try:
            self._running = await self._start()
            seat = await _opened(self._running)
        except (Error, OSError) as error:
            raise ToolFailure(f"The browser does not start: {first_line(error)}.") from error
        finally:
            if seat is None:  # it failed, or the call was cancelled
                await self._end()
        return seat

    async def _start(self) -> "_Running":
        allow = tuple(ip_network(text) for text in self._config.allow)
        proxy = await self._stack.enter_async_context(GuardedProxy(AddressPolicy(allow), self._config.resolve))
        playwright = await self._driver()
        browser = await _launch(playwright, self._config, proxy.url)
        self._stack.push_async_callback(browser.close)
        return _Running(proxy, browser, await browser.new_browser_cdp_session())

    async def _driver(self) -> Playwright:
        """Playwright's own process. Its start cannot be given up halfway, or it would stay: a cancelled call waits."""
        starting = asyncio.ensure_future(self._stack.enter_async_context(async_playwright()))
        try:
            return await asyncio.shield(starting)
        finally:
            await asyncio.wait({starting})

    async def _end(self) -> None:
        self._running, stack, self._stack = None, self._stack, AsyncExitStack()
        await stack.aclose()


@dataclass(frozen=True, slots=True)
class _Running:
    proxy: GuardedProxy
    browser: Browser
    chromium: CDPSession


async def _launch(playwright: Playwright, config: BrowserConfig, proxy: str) -> Browser:
    # `<-loopback>` takes loopback off the list of what goes around the proxy: it is judged like every address.
    sandbox = () if os.geteuid() else ("--no-sandbox",)  # Chromium has none for root
    return await playwright.chromium.launch(
        executable_path=config.chromium,
        args=[*_FLAGS, *sandbox],
        proxy={"server": proxy, "bypass": "<-loopback>"},
        handle_sigint=False,
        handle_sigterm=False,
        handle_sighup=False,
    )


async def _opened(running: _Running) -> Seat:
    context = await running.browser.new_context(
        accept_downloads=False, service_workers="block", viewport={"width": WIDTH, "height": HEIGHT}
    )
    context.set_default_timeout(_ACTION_MS)
    seat = None
    try:
        made = Seat(context, running.proxy, running.chromium)
        await context.new_page()
        seat = made
    finally:
        if seat is None:
            await context.close()
    return seat


async def _closed(seat: Seat) -> None:
    try:
        await seat.context.close()
    except Error as error:
        _log.info("page_gone", problem=first_line(error))  # with a browser that died
