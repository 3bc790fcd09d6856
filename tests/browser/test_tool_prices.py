"""The tools panel with hundreds of tools: states and prices, live, by keyboard, in two languages."""

import os
import re
import signal
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab, Serve
from tests.browser.test_layouts import PHONE, fits
from tests.support.fake import FakeApi
from tests.support.many_tools import EACH, SERVERS
from tests.support.server import Server

MANY = "tests.support.many_tools"
BUDGET = re.compile(r"Resident [\d.]+k? tokens, \d+ deferred")


async def many(serve: Serve) -> Server:
    """A server with 400 tools beside its own."""
    return await serve(program=MANY)


async def test_every_tool_tells_its_price_and_all_of_them_their_sum(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:
    await fake.count_times(1.5)
    tab = await open_page(await serve())  # another server may have learned another ratio
    await tab.open_tools()
    line = tab.page.get_by_test_id("tools-budget")
    await expect(line).to_contain_text(re.compile(r"Resident [\d.]+k? tokens"))
    lines = tab.tools_panel.get_by_test_id("tool-line")
    count = await lines.count()
    assert count > 0
    await expect(tab.tools_panel.get_by_test_id("tool-tokens")).to_have_count(count)
    await expect(lines).to_have_count(count)
    await expect(line).to_contain_text("Estimated for openai/demo")
    await tab.page.keyboard.press("Escape")
    await tab.ask("hello")
    await tab.open_tools()
    await expect(line).to_contain_text(re.compile(r"Counted as openai/demo counts: 1\.[45]\d times"))


async def test_a_tool_that_is_loaded_in_mid_turn_is_marked_at_once(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:  # T22
    server = await many(serve)
    await fake.script(
        {"blocks": [{"type": "tool_use", "name": "tool_search", "input": {"query": "select:mail_007"}}]},
        {"blocks": [{"type": "text", "chunks": [{"text": "Loaded.", "hold": "after"}]}]},
    )
    async with server.client() as client:
        session_id = (await client.send("create_session"))["session_id"]
        tab = await open_page(server, f"/#/c/{session_id}")
        await tab.open_tools()
        await tab.page.get_by_role("searchbox", name="Filter tools").fill("mail_007")
        await expect(tab.tool_line("mail_007")).to_have_attribute("data-state", "deferred")
        budget = tab.page.get_by_test_id("tools-budget")
        await expect(budget).to_contain_text(BUDGET)
        before = await budget.inner_text()
        await client.send("chat", session_id=session_id, text="load it")
        await expect(tab.tool_line("mail_007")).to_have_attribute("data-state", "loaded")
        await expect(budget).not_to_have_text(before)
        await fake.release("after")


async def test_a_tool_that_arrives_is_in_the_open_panel(fake: FakeApi, serve: Serve, open_page: OpenTab) -> None:  # T5
    tab = await open_page(await many(serve))
    await tab.open_tools()
    await tab.page.get_by_role("searchbox", name="Filter tools").fill("weather")
    await expect(tab.tools_panel).to_contain_text("No tool matches.")
    os.kill(tab.server.pid, signal.SIGUSR1)
    await expect(tab.tool_line("weather")).to_have_attribute("data-state", "deferred")
    await expect(tab.tool_line("weather").get_by_test_id("tool-tokens")).to_be_visible()


async def test_hundreds_of_tools_are_a_short_list_that_the_keyboard_walks(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:
    tab = await open_page(await many(serve))
    await tab.open_tools()
    groups = tab.page.get_by_test_id("tool-group")
    await expect(groups).to_have_count(1 + len(SERVERS))
    assert await tab.tools_panel.get_by_test_id("tool-line").count() < 30
    await expect(tab.page.get_by_test_id("tools-budget")).to_contain_text(BUDGET)
    mail = tab.page.get_by_role("button", name=re.compile("^mcp:mail"))
    await tab.page.get_by_role("searchbox", name="Filter tools").focus()
    await tab.page.keyboard.press("End")
    await expect(tab.page.get_by_role("button", name=re.compile("^mcp:sheets"))).to_be_focused()
    await tab.page.keyboard.press("ArrowUp")
    await expect(mail).to_be_focused()
    await tab.page.keyboard.press("Enter")
    await expect(mail).to_have_attribute("aria-expanded", "true")
    await tab.page.keyboard.press("ArrowDown")
    switch = tab.tool_line("mail_000").get_by_role("switch")
    await expect(switch).to_be_focused()
    await tab.page.keyboard.press("Space")
    await expect(tab.tool_line("mail_000")).to_have_attribute("data-state", "off")
    await expect(mail).to_contain_text(f"{EACH - 1} of {EACH} on")
    await tab.audit()


@pytest.mark.parametrize(
    "options",
    [{"color_scheme": "light"}, {"color_scheme": "dark"}, {**PHONE, "locale": "zh-CN"}],
    ids=["light", "dark", "phone in Chinese"],
)
async def test_the_panel_is_accessible_and_fits(
    fake: FakeApi, serve: Serve, open_page: OpenTab, options: dict[str, Any]
) -> None:
    tab = await open_page(await many(serve), **options)
    await tab.page.get_by_test_id("tools-button").click()
    line = tab.page.get_by_test_id("tools-budget")
    await expect(line).to_contain_text("常驻" if "locale" in options else BUDGET)
    await tab.page.locator("[data-source='mcp:mail'] button").click()
    await expect(tab.tool_line("mail_000")).to_be_visible()
    await fits(tab)
    await tab.audit()
