"""`playwright_browser` in a real Chromium: what it does, what it may not reach, and that nothing of it is left."""

import asyncio
import os
import signal
from base64 import b64decode
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from aiohttp import web
from PIL import Image

from openprogram.core.messages import ImageBlock
from openprogram.core.tooling import ToolSpec
from openprogram.tools.builtin import browser_acts
from openprogram.tools.builtin.browser_config import BrowserConfig, browser_availability, find_chromium
from openprogram.tools.builtin.playwright_browser import Browsers, browsing, playwright_browser_tool
from tests.support.loopback import Loopback
from tests.support.processes import wait_gone
from tests.support.sites import Site, chromiums, page, ref_of
from tests.support.tool_calls import Caller, display_of, text_of
from tests.support.ws import WAIT_S
from tests.unit.net.test_guarded import Names

pytestmark = pytest.mark.browser


@pytest.fixture
def call(tmp_path: Path) -> Caller:
    return Caller(tmp_path)


async def test_a_page_is_read_filled_in_and_sent(call: Caller, browser: ToolSpec, site: Site) -> None:
    text = text_of(await call(browser, action="open", url=site.url("/form")))
    assert text.startswith(f"URL: {site.url('/form')}\nTitle: Form\n\n")
    assert 'button "Send"' in text
    await call(browser, action="type", ref=ref_of(text, "textbox"), text="Ada")
    sent = await call(browser, action="click", ref=ref_of(text, 'button "Send"'))
    assert "Hello Ada" in text_of(sent)
    assert display_of(sent) == {"url": site.url("/done?who=Ada"), "title": ""}

    back = text_of(await call(browser, action="back"))
    typed = await call(browser, action="type", ref=ref_of(back, "textbox"), text="Grace", submit=True)
    assert "Hello Grace" in text_of(typed)
    await call(browser, action="back")
    again = text_of(await call(browser, action="snapshot"))
    assert "The second page" in text_of(await call(browser, action="click", ref=ref_of(again, "Second page")))


async def test_what_cannot_be_done_says_what_to_do(
    call: Caller, browser: ToolSpec, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No page is open" in await call.fails(browser, action="snapshot")
    assert "needs a url" in await call.fails(browser, action="open")
    text = text_of(await call(browser, action="open", url=site.url("/form")))
    for ref in ("", "the button", "e1 >> body", "css=body"):
        assert "needs a ref" in await call.fails(browser, action="click", ref=ref)
    assert "did not work" in await call.fails(browser, action="type", ref=ref_of(text, 'button "Send"'), text="x")
    assert "there is no host nowhere.test" in await call.fails(browser, action="open", url="http://nowhere.test/")
    assert "Hello" not in text_of(await call(browser, action="snapshot"))
    assert text_of(await call(browser, action="close")) == "Closed."
    assert text_of(await call(browser, action="close")) == "No page was open."


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://inside.test:{port}/",
        "http://meta.test/latest/meta-data",
        "http://10.0.0.1/",
        "file:///etc/passwd",
        "chrome://version",
        "data:text/html,hi",
        "javascript:alert(1)",
        "view-source:http://site.test/",
        "http://user:pass@site.test/",
    ],
)
async def test_nothing_but_public_addresses_is_opened(
    call: Caller, browser: ToolSpec, inside: Loopback, url: str
) -> None:  # R16
    await call.fails(browser, action="open", url=url.format(port=inside.port))
    assert inside.requests == []


async def test_a_page_gets_nothing_from_inside_by_any_way(
    call: Caller, browsers: Browsers, browser: ToolSpec, site: Site, inside: Loopback
) -> None:  # R16
    there = f"http://inside.test:{inside.port}"
    direct = f"127.0.0.1:{inside.port}"
    site.pages["/evil"] = lambda _: page(
        f"""<img src={there}/img><iframe src=http://{direct}/frame></iframe><link rel=stylesheet href={there}/css>
        <script src={there}/script></script><p id=told>waiting</p><script>
        const tried = [fetch("{there}/fetch"), fetch("http://localhost:{inside.port}/fetch", {{ mode: "no-cors" }}),
          fetch("/redirected"), new Promise((done, lost) => {{
            const socket = new WebSocket("ws://{direct}/ws"); socket.onopen = done; socket.onerror = lost; }})];
        navigator.sendBeacon("{there}/beacon", "x");
        Promise.allSettled(tried).then((all) => {{ told.textContent = "ends: " + all.map((one) =>
          one.status === "fulfilled" && one.value.type !== "opaque" ? one.value.status ?? "open" : "no").join(" "); }});
        </script>"""
    )
    site.pages["/redirected"] = lambda _: web.Response(status=302, headers={"Location": f"{there}/redirected"})
    await call(browser, action="open", url=site.url("/evil"))
    async with browsers.pages().seat(call.session_id) as seat:
        await seat.page.get_by_text("ends:").wait_for()
    assert "ends: no no no no" in text_of(await call(browser, action="snapshot"))
    assert inside.requests == []
    gone = await call(browser, action="open", url=site.url("/redirected"))
    assert "is not a public address" in text_of(gone)
    assert "secret" not in text_of(gone)
    assert inside.requests == []


async def test_each_chat_has_its_own_cookies_until_its_page_is_closed(
    call: Caller, browser: ToolSpec, site: Site
) -> None:  # R12
    other = replace(call, session_id="s_other")
    for caller, cookies in ((call, 0), (call, 1), (other, 0)):
        text = text_of(await caller(browser, action="open", url=site.url("/cookie")))
        assert f"cookies: {cookies}" in text
    await call(browser, action="close")
    assert "cookies: 0" in text_of(await call(browser, action="open", url=site.url("/cookie")))
    assert "cookies: 1" in text_of(await other(browser, action="open", url=site.url("/cookie")))


async def test_a_huge_page_is_shown_in_part(call: Caller, browser: ToolSpec, site: Site) -> None:  # R6
    site.pages["/huge"] = lambda _: page("".join(f"<p>paragraph {n}</p>" for n in range(3000)))
    text = text_of(await call(browser, action="open", url=site.url("/huge")))
    assert len(text) < browser_acts.SNAPSHOT_CHARS + 500
    assert "more characters of the tree are left out" in text


async def test_a_screenshot_is_a_picture_in_the_chat_and_writes_nothing(
    call: Caller, browser: ToolSpec, site: Site
) -> None:
    site.pages["/go"] = lambda _: page('<button onclick=\'window.open("/second", "", "width=9000")\'>Go</button>')
    text = text_of(await call(browser, action="open", url=site.url("/go")))
    await call(browser, action="click", ref=ref_of(text, "Go"))
    told, picture = (await call(browser, action="screenshot")).content
    assert site.url("/second") in told.text
    assert isinstance(picture, ImageBlock)
    with Image.open(BytesIO(b64decode(picture.data))) as image:
        assert image.size == (picture.width, picture.height) == (1280, 800)
    assert list(call.workspace.iterdir()) == []


async def test_a_link_to_a_new_window_is_followed_and_a_download_is_not(
    call: Caller, browser: ToolSpec, site: Site
) -> None:
    site.pages["/links"] = lambda _: page("<a href=/second target=_blank>New window</a><a href=/file>File</a>")
    site.pages["/file"] = lambda _: web.Response(
        body=b"x" * 100, headers={"Content-Disposition": "attachment; filename=evil.sh"}
    )
    text = text_of(await call(browser, action="open", url=site.url("/links")))
    await call(browser, action="click", ref=ref_of(text, "File"))
    assert list(call.workspace.iterdir()) == []
    text = text_of(await call(browser, action="snapshot"))
    assert "The second page" in text_of(await call(browser, action="click", ref=ref_of(text, "New window")))


async def test_a_browser_that_dies_is_replaced(call: Caller, browsers: Browsers, browser: ToolSpec, site: Site) -> None:
    await call(browser, action="open", url=site.url("/second"))
    async with browsers.pages().seat(call.session_id) as seat:
        [pid] = chromiums(seat.proxy.url, main=True)
        gone = asyncio.Event()
        seat.page.on("close", lambda _: gone.set())
    os.kill(pid, signal.SIGKILL)
    await asyncio.wait_for(gone.wait(), WAIT_S)
    assert "The second page" in text_of(await call(browser, action="open", url=site.url("/second")))


@pytest.mark.parametrize("how", ["idle", "closed", "shutdown"])
async def test_no_process_is_left(call: Caller, site: Site, how: str) -> None:
    config = BrowserConfig(
        allow=("127.0.0.2/32",),
        resolve=Names(**{"site.test": ("127.0.0.2",)}),
        idle_s=0.2 if how == "idle" else 600,
    )
    async with browsing(config) as browsers:
        browser = playwright_browser_tool(browsers)
        await call(browser, action="open", url=site.url("/second"))
        pages = browsers.pages()
        running = pages._running
        assert running is not None
        pids = chromiums(running.proxy.url)
        assert pids
        if how == "closed":
            await call(browser, action="close")
        if how == "idle":
            for pid in pids:
                await asyncio.to_thread(wait_gone, pid)
            assert not pages.has(call.session_id)
    for pid in pids:
        await asyncio.to_thread(wait_gone, pid)


def test_without_playwright_or_a_browser_the_reason_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # T12
    assert browser_availability(BrowserConfig(chromium=Path("/usr/bin/x"))) is None
    assert "CHROMIUM" in (browser_availability(BrowserConfig(chromium=None)) or "")
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert "extra `browser`" in (browser_availability(BrowserConfig()) or "")


def test_the_users_browser_comes_first(tmp_path: Path) -> None:
    for name in ("chromium", "mine"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert find_chromium({"PATH": str(tmp_path)}) == tmp_path / "chromium"
    assert find_chromium({"PATH": str(tmp_path), "CHROMIUM": str(tmp_path / "mine")}) == tmp_path / "mine"
    assert find_chromium({"PATH": str(tmp_path), "CHROMIUM": str(tmp_path / "gone")}) is None
