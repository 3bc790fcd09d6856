"""The main job as a person does it, with the built-in demo model: no key, no network."""

import re

from playwright.async_api import expect

from tests.browser.conftest import OpenTab
from tests.support.server import Server


async def test_without_a_key_everything_can_be_seen_working(demo_server: Server, open_page: OpenTab) -> None:
    tab = await open_page(demo_server)
    await expect(tab.page.get_by_test_id("demo-banner")).to_contain_text("demo model")

    await tab.page.get_by_test_id("starter").filter(has_text="List the files").click()
    await expect(tab.cards.first).to_have_attribute("data-status", "ok")
    await expect(tab.answers.last).to_contain_text("README.md")
    await tab.idle()
    await expect(await tab.line()).to_contain_text("List the files here")

    await tab.chip.click()
    await tab.ask("search the web for prompt caching")
    card = tab.cards.last
    await card.get_by_role("button").first.click()
    await expect(card.get_by_role("link").first).to_contain_text("[demo] Getting started with prompt caching")
    await expect(card).to_contain_text("Canned results of the demo search service")

    await tab.send("run `echo one-$((1+1))`")
    await expect(tab.page.get_by_test_id("approval-preview")).to_have_text("echo one-$((1+1))")
    await tab.page.get_by_test_id("approval-once").click()
    await expect(tab.approval).to_have_count(0)
    await expect(tab.answers.last).to_contain_text("one-2")
    await tab.idle()


async def test_the_demo_is_watched_while_it_writes(demo_server: Server, open_page: OpenTab) -> None:
    tab = await open_page(demo_server)
    await tab.send("count to 500 slowly")
    await expect(tab.answers.last).to_have_text(re.compile(r"^1 2 3\b"))
    await expect(tab.stop_button).to_be_visible()
    await expect(tab.answers.last).to_contain_text("7")
    await tab.stop_button.click()
    await tab.idle()
    await expect(tab.page.get_by_test_id("ending")).to_have_attribute("data-reason", "stopped")


async def test_the_main_job_needs_no_mouse(demo_server: Server, open_page: OpenTab) -> None:
    tab = await open_page(demo_server)
    keyboard = tab.page.keyboard
    await expect(tab.box).to_be_focused()

    await keyboard.press("Control+.")
    await expect(tab.chip).to_have_attribute("aria-pressed", "true")
    await keyboard.press("Shift+Tab")  # from the box backwards, out of the composer
    await keyboard.press("Shift+Escape")
    await expect(tab.box).to_be_focused()

    await keyboard.press("Tab")
    await expect(tab.page.get_by_test_id("tools-button")).to_be_focused()
    await keyboard.press("Enter")
    await expect(tab.page.get_by_test_id("tools-count")).to_be_visible()
    await keyboard.press("Escape")
    await expect(tab.tools_panel).to_have_count(0)
    await expect(tab.page.get_by_test_id("tools-button")).to_be_focused()

    await keyboard.press("Shift+Escape")
    await keyboard.type("run `echo typed`")
    await keyboard.press("Enter")
    await expect(tab.approval).to_be_visible()
    await keyboard.press("3")
    await expect(tab.page.get_by_test_id("approval-note")).to_be_focused()
    await keyboard.type("not today")
    await keyboard.press("Enter")
    await expect(tab.answers.last).to_contain_text("not today")
    await tab.idle()

    await expect(tab.box).to_be_focused()  # the card gives the focus back
    await keyboard.type("run `echo typed`")
    await keyboard.press("Enter")
    await expect(tab.approval).to_be_visible()
    await keyboard.press("1")
    await expect(tab.answers.last).to_contain_text("typed")
    await tab.idle()

    await keyboard.press("Control+Shift+O")
    await expect(tab.page.get_by_test_id("empty-state")).to_be_visible()
    await keyboard.press("Control+k")
    await expect(tab.page.get_by_test_id("chat-search")).to_be_focused()
    await keyboard.type("echo typed")
    await keyboard.press("Tab")
    await keyboard.press("Enter")
    await expect(tab.page.get_by_test_id("chat-title")).to_contain_text("echo typed")
