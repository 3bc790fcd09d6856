"""The cache panel: a bar per request, what it cost, why it missed; by keyboard, in two languages (cache.md C19)."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab, Serve
from tests.browser.test_layouts import PHONE, fits
from tests.support.browser import Tab
from tests.support.fake import FakeApi
from tests.support.ws import Frame

pytestmark = pytest.mark.moves("its chat has a message edited, for a miss to look at")

CONFIG = """
[endpoints.priced]
api = "anthropic"
base_url = "{url}"
key = "sk-very-secret-key-of-mine"
models = ["demo"]
price = {{ input = 10.0, output = 50.0, cache_read = 1.0, cache_write_5m = 12.5, cache_write_1h = 20.0 }}
"""
LONG = "Tell me more about the tides. " * 200


async def talked(fake: FakeApi, serve: Serve, open_page: OpenTab, **options: Any) -> Tab:
    """A chat of four requests with a price: a switch that was free, an edit that was not."""
    server = await serve(demo=True, config=CONFIG.format(url=fake.anthropic_url))
    async with server.client() as client:
        session_id = (await client.send("create_session", model="priced/demo"))["session_id"]
        await client.subscribe(session_id)
        sent: Frame = {}
        for said in ("first", LONG, "What time is it in Rome?"):
            await fake.say("Yes.")
            sent = await client.send("chat", session_id=session_id, text=said)
            await client.event("turn_finished", session_id)
            await client.send("set_tool_disabled", session_id=session_id, name="grep", value=said == LONG)
        await fake.say("Yes.")
        await client.send("edit_message", session_id=session_id, message_id=sent["message_id"], text="In Riga? " + LONG)
        await client.event("turn_finished", session_id)
        await fake.advance(4000)
        await fake.say("Yes.")
        await client.send("chat", session_id=session_id, text="and now")
        await client.event("turn_finished", session_id)
    tab = await open_page(server, f"/#/c/{session_id}", **options)
    await tab.page.get_by_test_id("cache-button").click()
    await expect(tab.page.get_by_test_id("cache-step")).to_have_count(5)
    return tab


async def test_every_request_has_its_bar_and_a_miss_opens_its_first_difference_by_keyboard(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:  # C19
    tab = await talked(fake, serve, open_page)
    panel = tab.page.get_by_test_id("cache-panel")
    await expect(panel.get_by_test_id("cache-cost")).to_contain_text("$0.")
    await expect(panel.get_by_test_id("cache-state")).to_have_attribute("data-state", "warm")
    await expect(panel.get_by_test_id("cache-state")).to_contain_text("Warm for 4:")
    steps = panel.get_by_test_id("cache-step")
    await expect(panel.get_by_test_id("cache-cause")).to_have_text(["message edited", "provider forgot it"])
    await tab.page.keyboard.press("Tab")
    await steps.first.focus()
    for _ in range(3):
        await tab.page.keyboard.press("ArrowDown")
    await expect(steps.nth(3)).to_be_focused()
    await tab.page.keyboard.press("Enter")
    await expect(steps.nth(3)).to_have_attribute("aria-expanded", "true")
    difference = panel.get_by_test_id("cache-difference")
    await expect(difference.locator("mark")).to_have_text(["W", "I"])
    await tab.page.keyboard.press("End")
    await tab.page.keyboard.press("Enter")
    await expect(panel.get_by_test_id("cache-details")).to_contain_text("tokens not reused, $0.")
    await expect(panel.get_by_test_id("cache-details")).to_contain_text("Nothing differs from the request before.")
    await tab.page.keyboard.press("Escape")
    await expect(panel).to_be_hidden()


async def test_an_open_panel_follows_the_chat(fake: FakeApi, serve: Serve, open_page: OpenTab) -> None:
    tab = await talked(fake, serve, open_page)
    await fake.say("Yes.")
    async with tab.server.client() as client:
        session_id = await tab.session_id()
        await client.send("chat", session_id=session_id, text="one more")
        await expect(tab.page.get_by_test_id("cache-step")).to_have_count(6)


async def test_a_new_chat_has_no_panel_yet_and_an_unpriced_one_says_so(tab: Tab, fake: FakeApi) -> None:
    await expect(tab.page.get_by_test_id("cache-button")).to_have_count(0)
    await fake.say("Yes.")
    await tab.ask("hello")
    await tab.page.get_by_test_id("cache-button").click()
    await expect(tab.page.get_by_test_id("cache-cost")).to_have_text("unknown")
    await expect(tab.page.get_by_test_id("cache-step")).to_have_count(1)


@pytest.mark.parametrize(
    "options",
    [{"color_scheme": "light"}, {"color_scheme": "dark"}, {**PHONE, "locale": "zh-CN"}],
    ids=["light", "dark", "phone in Chinese"],
)
async def test_the_panel_is_accessible_and_fits(
    fake: FakeApi, serve: Serve, open_page: OpenTab, options: dict[str, Any], tmp_path: Path
) -> None:
    tab = await talked(fake, serve, open_page, **options)
    await tab.page.get_by_test_id("cache-step").nth(3).click()
    await expect(tab.page.get_by_test_id("cache-difference")).to_be_visible()
    if "locale" in options:
        await expect(tab.page.get_by_test_id("cache-panel")).to_contain_text("缓存与费用")
    await tab.screenshot(tmp_path / "panel.png")
    await fits(tab)
    await tab.audit()


async def test_what_no_endpoint_told_is_unknown_and_not_nothing(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:  # C17
    server = await serve(demo=True, config=CONFIG.format(url=fake.openai_url).replace("anthropic", "openai-chat"))
    async with server.client() as client:
        session_id = (await client.send("create_session", model="priced/demo"))["session_id"]
        await client.subscribe(session_id)
        for said in ("first", LONG):
            await fake.say("Yes.", report_usage=False)
            await client.send("chat", session_id=session_id, text=said)
            await client.event("turn_finished", session_id)
    tab = await open_page(server, f"/#/c/{session_id}")
    await tab.page.get_by_test_id("cache-button").click()
    await expect(tab.page.get_by_test_id("cache-missed")).to_have_text("unknown")
    await tab.page.get_by_test_id("cache-step").last.click()
    await expect(tab.page.get_by_test_id("cache-details")).to_contain_text("did not say what it read")
