"""Chromium, and a tab of it that shows a server of `tests.support.server`.

A tab watches what a person would never see: errors in the console, violations of the content security policy,
requests to anything but its own server. `Tab.check` fails the test for each of them that the test did not expect.
"""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import orjson
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Playwright,
    Request,
    async_playwright,
    expect,
)

from tests.support.server import Server
from tests.support.tree import ROOT
from tests.support.ws import WAIT_S

AXE: Final = ROOT / "webui/node_modules/axe-core/axe.min.js"
AUDIT: Final = """async () => {
    const hidden = () => document.querySelector('[style*="visibility: hidden"]') !== null;
    for (;;) {
        for (let calm = 0; calm < 3; calm = hidden() ? 0 : calm + 1) await new Promise(requestAnimationFrame);
        let moved = false;
        const watch = new MutationObserver((records) => {
            moved ||= hidden() || records.some((record) => (record.oldValue ?? "").includes("visibility: hidden"));
        });
        const watched = { subtree: true, childList: true, attributeFilter: ["style"], attributeOldValue: true };
        watch.observe(document.body, watched);
        const { violations } = await axe.run(document, { resultTypes: ["violations"] });
        watch.disconnect();
        if (moved) continue;
        return violations
            .filter((finding) => ["serious", "critical"].includes(finding.impact))
            .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary })));
    }
}"""
"""A row of the conversation is hidden until it is measured, and a hidden button counts as one without a name: the look
is taken again where a row was hidden meanwhile."""

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--font-render-hinting=none",
)
_TELL_VIOLATIONS: Final = """
addEventListener("securitypolicyviolation", (violation) =>
  console.error(`policy violation: ${violation.effectiveDirective} ${violation.blockedURI} ${violation.sample}`));
"""
LOST: Final = re.compile(r"WebSocket connection to .* failed|net::ERR_(CONNECTION_|CONTENT_LENGTH_|EMPTY_)")
"""What Chromium writes into the console when a server is away: for tests that take it away."""

expect.set_options(timeout=WAIT_S * 1000)


def find_chromium() -> str:
    """The browser's path: `$CHROMIUM`, or one on the PATH. Fails the test where there is none."""
    wanted = os.environ.get("CHROMIUM")
    found = shutil.which(wanted) if wanted else next(filter(None, map(shutil.which, _NAMES)), None)
    assert found is not None, f"no Chromium ({wanted or ', '.join(_NAMES)}); scripts/chromium finds or installs one"
    return found


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A headless browser until the block ends."""
    async with async_playwright() as playwright:
        yield await launch(playwright)


async def launch(playwright: Playwright) -> Browser:
    """A headless browser; it ends with `playwright`."""
    path = find_chromium()
    return await playwright.chromium.launch(executable_path=path, args=list(_FLAGS), timeout=WAIT_S * 1000)


async def open_context(browser: Browser, **options: Any) -> BrowserContext:
    """A browser profile of its own: other cookies, other storage. `options` as of Playwright."""
    chosen = {"locale": "en-US", "viewport": {"width": 1100, "height": 760}, "reduced_motion": "reduce", **options}
    context = await browser.new_context(**chosen)
    context.set_default_timeout(WAIT_S * 1000)
    await context.add_init_script(_TELL_VIOLATIONS)
    return context


async def open_tab(context: BrowserContext, server: Server, path: str = "/") -> "Tab":
    """A new tab of this profile, signed in, at `path` (such as `/#/c/s_1`)."""
    tab = Tab(await context.new_page(), server)
    await tab.page.goto(server.sign_in_url)
    if path != "/":
        await tab.page.goto(server.url + path)
    await expect(tab.page.get_by_test_id("message-box")).to_be_visible()
    return tab


class Tab:
    """A page with names for what is on it. Locators are Playwright's: they wait and retry."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server
        self.complaints: list[str] = []
        self._expected: list[re.Pattern[str]] = []
        self._finished: set[str] = set()
        self._news = asyncio.Event()
        page.on("websocket", lambda socket: socket.on("framereceived", self._on_frame))
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        page.on("request", self._on_request)

    # -- what is on the page -----------------------------------------------------------------------------------

    @property
    def box(self) -> Locator:
        """The message box."""
        return self.page.get_by_role("textbox", name="Message", exact=True)

    @property
    def send_button(self) -> Locator:
        """Send: it is there when nothing runs."""
        return self.page.get_by_test_id("send")

    @property
    def stop_button(self) -> Locator:
        """Stop: it is there while an answer is being made."""
        return self.page.get_by_test_id("stop")

    @property
    def chip(self) -> Locator:
        """The web-search chip."""
        return self.page.get_by_test_id("search-chip")

    @property
    def answers(self) -> Locator:
        """The texts of answers, in order."""
        return self.page.get_by_test_id("answer")

    @property
    def sent(self) -> Locator:
        """The person's messages that the server has, in order."""
        return self.page.get_by_test_id("user-message")

    @property
    def cards(self) -> Locator:
        """Tool cards, in order."""
        return self.page.get_by_test_id("tool-card")

    @property
    def approval(self) -> Locator:
        """The card that asks."""
        return self.page.get_by_test_id("approval-card")

    @property
    def tools_panel(self) -> Locator:
        """What the Tools button opens."""
        return self.page.get_by_test_id("tools-panel")

    def tool_line(self, name: str) -> Locator:
        """One tool in the open panel."""
        return self.tools_panel.locator(f'[data-testid="tool-line"][data-tool="{name}"]')

    @property
    def transcript(self) -> Locator:
        """What scrolls."""
        return self.page.get_by_role("log")

    # -- what a person does ------------------------------------------------------------------------------------

    async def send(self, text: str) -> None:
        """Type a message and send it with Enter."""
        await self.box.fill(text)
        await self.box.press("Enter")
        await expect(self.box).to_have_value("")

    async def ask(self, text: str) -> None:
        """Send a message and wait until its turn is over and shown to be."""
        async with self.turn():
            await self.send(text)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """What is done in this block begins a turn: wait for its end afterwards."""
        before = set(self._finished)
        yield
        async with asyncio.timeout(WAIT_S):
            while self._finished <= before:
                self._news.clear()
                await self._news.wait()
        await self.painted()  # what was told is shown
        await self.idle()

    async def idle(self) -> None:
        """Wait until nothing runs."""
        await expect(self.send_button).to_be_visible()

    async def painted(self) -> None:
        """Wait until what has arrived so far is on the screen: two frames."""
        await self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    async def measured(self) -> None:
        """Wait until no row of the conversation is hidden any more: each is, until it is measured."""
        await expect(self.transcript.locator('[style*="visibility: hidden"]')).to_have_count(0)

    async def keep_offers(self) -> None:
        """What the page takes back after some seconds, such as a message with its Undo, stays: machines are busy.

        For tests that neither lose their server nor wait for anything else that takes the page some seconds.
        """
        await self.page.evaluate(
            """() => {
                 const later = window.setTimeout;
                 window.setTimeout = (act, ms = 0, ...more) => (ms < 3_000 ? later(act, ms, ...more) : 0);
               }"""
        )

    async def knows_chats(self) -> None:
        """Wait until the sidebar has the list of chats."""
        await expect(self.page.get_by_test_id("chat-list")).to_have_attribute("aria-busy", "false")

    async def wake(self) -> None:
        """Look for the server at once, as when the network comes back, and not only at the next attempt's time."""
        await self.page.evaluate('dispatchEvent(new Event("online"))')

    async def open_tools(self) -> None:
        """Open the tools panel and wait until it knows the tools."""
        await self.page.get_by_test_id("tools-button").click()
        await expect(self.page.get_by_test_id("tools-count")).to_be_visible()

    async def line(self) -> Locator:
        """This chat in the sidebar, which other chats on the server may be pinned above."""
        return self.page.locator(f'[data-testid="chat-line"][data-id="{await self.session_id()}"]')

    async def session_id(self) -> str:
        """The id of the chat that is shown, once its address has it."""
        await self.page.wait_for_url(re.compile(r"#/c/"))
        return self.page.url.partition("#/c/")[2]

    # -- what nobody should see --------------------------------------------------------------------------------

    def expect_complaints(self, pattern: re.Pattern[str]) -> None:
        """This test provokes console errors like these."""
        self._expected.append(pattern)

    def check(self) -> None:
        """Fail if the console, the content security policy or the network showed anything unexpected."""
        unexpected = [text for text in self.complaints if not any(wanted.search(text) for wanted in self._expected)]
        assert not unexpected, unexpected

    async def audit(self) -> None:
        """Fail if axe finds anything serious or critical in what is shown."""
        await self.page.evaluate(AXE.read_text("utf-8"))
        found: list[dict[str, Any]] = await self.page.evaluate(AUDIT)
        assert not found, found

    async def screenshot(self, path: Path) -> None:
        """A picture of what the window shows."""
        await self.page.screenshot(path=path, animations="disabled", caret="hide")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def _on_frame(self, payload: str | bytes) -> None:
        frame = orjson.loads(payload)
        told = frame["state"]["outcome"] if frame["type"] == "snapshot" else frame.get("event")
        if told is not None and told["type"] == "turn_finished":
            self._finished.add(told["turn_id"])
            self._news.set()

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.server.url}/", "data:", "blob:")):
            self.complaints.append(f"request to {request.url}")
