"""A start of the browser that is cancelled leaves nothing behind."""

import asyncio
import os
from pathlib import Path

import pytest

from openprogram.tools.builtin import browser_pages
from openprogram.tools.builtin.browser_config import BrowserConfig
from openprogram.tools.builtin.browser_seat import Seat
from openprogram.tools.builtin.playwright_browser import Browsers, browsing, playwright_browser_tool
from tests.support.processes import read_pipe, wait_gone
from tests.support.sites import Site, chromiums
from tests.support.tool_calls import Caller, text_of

pytestmark = pytest.mark.browser


@pytest.fixture
def call(tmp_path: Path) -> Caller:
    return Caller(tmp_path)


def _drivers() -> set[int]:
    """Playwright's processes under this one."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue  # it has ended meanwhile
            if parent == os.getpid() and b"playwright" in line:
                found.add(int(entry.name))
    return found


async def _all_gone(*pids: int) -> None:
    for pid in pids:
        await asyncio.to_thread(wait_gone, pid)


async def _cancelled(start: asyncio.Task[object]) -> None:
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start


async def test_a_start_cancelled_before_playwright_is_there_leaves_nothing(
    call: Caller, browsers: Browsers, site: Site
) -> None:
    browser = playwright_browser_tool(browsers)
    start = asyncio.create_task(call(browser, action="open", url=site.url("/second")))
    while not any("PipeTransport.run" in repr(task) for task in asyncio.all_tasks()):  # noqa: ASYNC110
        await asyncio.sleep(0)  # until its process is there, which takes longer to say its first word
    drivers = _drivers()
    assert drivers
    await _cancelled(start)
    await _all_gone(*drivers)
    assert "The second page" in text_of(await call(browser, action="open", url=site.url("/second")))


async def test_a_start_cancelled_while_chromium_comes_up_leaves_nothing(call: Caller, tmp_path: Path) -> None:
    pipe = tmp_path / "pid"
    os.mkfifo(pipe)
    mute = tmp_path / "chromium"
    mute.write_text(f"#!/bin/sh\necho $$ > {pipe}\nexec sleep 1000\n")
    mute.chmod(0o755)
    async with browsing(BrowserConfig(chromium=mute)) as browsers:
        start = asyncio.create_task(call(playwright_browser_tool(browsers), action="open", url="http://192.0.2.1/"))
        pid = int(await asyncio.to_thread(read_pipe, pipe))
        drivers = _drivers()
        await _cancelled(start)
        await _all_gone(pid, *drivers)


@pytest.mark.parametrize("how", ["cancelled", "idle"])
async def test_a_browser_that_came_up_for_nobody_is_ended(
    call: Caller, site: Site, browsers: Browsers, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    pages = browsers.pages()
    up = asyncio.Event()
    opened = browser_pages._opened

    async def late(running: browser_pages._Running) -> Seat:
        seat = await opened(running)
        up.set()
        await asyncio.Event().wait()
        return seat

    if how == "idle":
        pages._running = await pages._start()
        url = pages._running.proxy.url
        pids = [*chromiums(url), *_drivers()]
        await pages.close_idle()
    else:
        monkeypatch.setattr(browser_pages, "_opened", late)
        start = asyncio.create_task(call(playwright_browser_tool(browsers), action="open", url=site.url("/second")))
        await up.wait()
        assert pages._running is not None
        pids = [*chromiums(pages._running.proxy.url), *_drivers()]
        await _cancelled(start)
    assert len(pids) > 1
    await _all_gone(*pids)
