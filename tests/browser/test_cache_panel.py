"""The cache panel: a bar per request, what it cost, why it missed; by keyboard, in two languages (cache.md C19)."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab, Serve
from tests.browser.test_layouts import PHONE, ZOOMED, fits
from tests.support import long_cache
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


async def test_of_a_thousand_requests_the_newest_are_shown_and_the_others_page_by_page(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:
    server = await serve(demo=True, config=CONFIG.format(url=fake.anthropic_url))
    await server.stop()
    await long_cache.write_chat(server.database)
    await server.start()
    tab = await open_page(server, f"/#/c/{long_cache.SESSION}")
    await tab.page.get_by_test_id("cache-button").click()
    steps = tab.page.get_by_test_id("cache-step")
    await expect(steps).to_have_count(50)
    await expect(steps.last).to_contain_text("1000")
    await expect(tab.page.get_by_test_id("cache-reused")).to_have_text("99.1 %")  # of all, not only of those shown
    earlier = tab.page.get_by_test_id("cache-earlier").get_by_role("button", name="Show 50 earlier")
    await earlier.press("Enter")
    await expect(steps).to_have_count(100)
    await expect(steps.first).to_be_focused()
    await expect(tab.page.get_by_test_id("cache-cause")).to_have_text(["tool server changed"])
    marked = tab.page.locator("[data-cause=mcp]").get_by_test_id("cache-step")
    await marked.press("Enter")
    await expect(tab.page.get_by_test_id("cache-difference").locator("mark")).to_have_text(["8", "9"])
    await tab.audit()


async def test_the_prefix_is_rebuilt_at_the_price_that_is_said_before(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:  # C4
    tab = await talked(fake, serve, open_page)
    line = tab.page.get_by_test_id("rebuild")
    await expect(line).to_be_hidden()  # nothing would come of it
    await tab.page.keyboard.press("Escape")
    async with tab.server.client() as client:
        for name in ("bash", "grep", "read", "list"):
            await client.send("set_tool_disabled", session_id=await tab.session_id(), name=name, value=True)
    await fake.say("Yes.")
    await tab.ask("less now")
    await tab.page.get_by_test_id("cache-button").click()
    await expect(line).to_contain_text(
        re.compile(r"Declares the tools anew: costs about [\d.]+k tokens, about \$0\.\d+")
    )
    button = line.get_by_role("button", name="Rebuild prefix")
    await expect(button).to_have_accessible_description(re.compile("costs about"))
    await button.press("Enter")
    await expect(tab.page.get_by_test_id("rebuild-asked")).to_be_visible()
    await tab.audit()
    await tab.page.keyboard.press("Escape")
    await fake.say("Yes.")
    await tab.ask("go on")
    await tab.page.get_by_test_id("cache-button").click()
    await expect(tab.page.get_by_test_id("cache-step")).to_have_count(7)
    await expect(tab.page.get_by_test_id("cache-cause").last).to_have_text("declared anew as you asked")
    await expect(line).to_be_hidden()


async def test_the_keyboard_alone_opens_walks_and_leaves_the_panel(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:
    tab = await talked(fake, serve, open_page)
    await tab.page.keyboard.press("Escape")
    button = tab.page.get_by_test_id("cache-button")
    await button.press("Enter")
    await expect(tab.page.get_by_role("heading", name="Cache and cost")).to_be_focused()
    steps = tab.page.get_by_test_id("cache-step")
    await expect(steps).to_have_count(5)
    await tab.page.keyboard.press("Tab")
    await expect(steps.first).to_be_focused()
    await tab.page.keyboard.press("End")
    await expect(steps.last).to_be_focused()
    await expect(steps.last).to_be_in_viewport()
    await tab.page.keyboard.press("Escape")
    await expect(button).to_be_focused()


async def test_what_a_provider_does_not_report_is_unknown_and_never_zero(tab: Tab, fake: FakeApi) -> None:  # C17
    for said in ("hello", "again"):
        await fake.script({"blocks": [{"type": "text", "text": "Yes."}], "report_usage": False})
        await tab.ask(said)
    await tab.page.get_by_test_id("cache-button").click()
    await expect(tab.page.get_by_test_id("cache-step")).to_have_count(2)
    for figure in ("cache-reused", "cache-cost", "cache-missed"):
        await expect(tab.page.get_by_test_id(figure)).to_have_text("unknown")


async def test_a_new_chat_has_no_panel_yet_and_an_unpriced_one_says_so(tab: Tab, fake: FakeApi) -> None:
    await expect(tab.page.get_by_test_id("cache-button")).to_have_count(0)
    await fake.say("Yes.")
    await tab.ask("hello")
    await tab.page.get_by_test_id("cache-button").click()
    await expect(tab.page.get_by_test_id("cache-cost")).to_have_text("unknown")
    await expect(tab.page.get_by_test_id("cache-step")).to_have_count(1)


@pytest.mark.parametrize(
    "options",
    [{"color_scheme": "light"}, {"color_scheme": "dark"}, {**PHONE, "locale": "zh-CN"}, ZOOMED],
    ids=["light", "dark", "phone in Chinese", "at 200 %"],
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
