"""The web-search chip: it shows what is in force, and what it shows holds."""

import re
from typing import Any

from playwright.async_api import Locator, expect

from tests.browser.conftest import OpenTab, Serve
from tests.support.browser import LOST, Tab
from tests.support.fake import FakeApi
from tests.support.server import Server

SEARCHES: dict[str, Any] = {"blocks": [{"type": "tool_use", "name": "web_search", "input": {"query": "prefix caches"}}]}


async def is_on(chip: Locator) -> None:
    """Wait until the chip says on, and the server with it."""
    await expect(chip).to_have_attribute("data-pending", "false")
    await expect(chip).to_have_attribute("data-state", "on")
    await expect(chip).to_have_attribute("aria-pressed", "true")


async def is_off(chip: Locator) -> None:
    """Wait until the chip says off, and the server with it."""
    await expect(chip).to_have_attribute("data-pending", "false")
    await expect(chip).to_have_attribute("data-state", "off")
    await expect(chip).to_have_attribute("aria-pressed", "false")


async def test_a_switch_before_the_first_message_survives_reload_and_send(tab: Tab, fake: FakeApi) -> None:
    # T6, report 9
    await is_off(tab.chip)
    await tab.chip.click()
    await is_on(tab.chip)
    chats = tab.page.get_by_test_id("chat-line")
    await tab.knows_chats()
    before = await chats.count()
    await tab.page.reload()
    await is_on(tab.chip)
    await tab.knows_chats()
    await expect(chats).to_have_count(before)

    await fake.script(SEARCHES)
    await fake.say("Found.")
    await tab.ask("what is new?")
    await expect(tab.cards).to_have_attribute("data-status", "ok")
    await expect(chats).to_have_count(before + 1)
    await is_on(tab.chip)
    await tab.page.reload()
    await expect(tab.answers).to_have_text(["Found."])
    await is_on(tab.chip)


async def test_toggle_during_turn_reaches_model_only_at_next_boundary(tab: Tab, fake: FakeApi) -> None:
    # T21: the tools array and everything that was sent before stay as they were
    await fake.say("One ", {"text": "two", "hold": "rest"})
    await tab.send("first")
    await fake.wait(held="rest")
    await tab.chip.click()
    await is_on(tab.chip)
    await expect(tab.page.get_by_test_id("search-chip-next")).to_have_text("· from next message")
    async with tab.turn():
        await fake.release("rest")
    await expect(tab.page.get_by_test_id("search-chip-next")).to_have_count(0)
    await is_on(tab.chip)

    await fake.script(SEARCHES)
    await fake.say("Found.")
    await tab.ask("second")
    await expect(tab.cards.last).to_have_attribute("data-status", "ok")
    first, second, third = [request["body"] for request in await fake.requests()]
    assert first["tools"] == second["tools"] == third["tools"]
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert "Switched on again: web_search." in second["messages"][-1]["content"]


async def test_off_in_mid_turn_is_off_at_once(tab: Tab, fake: FakeApi) -> None:
    # law 6, report 6: what only takes away does not wait for a boundary
    await tab.chip.click()
    await is_on(tab.chip)
    await fake.script(
        {"blocks": [{"type": "text", "chunks": ["I look", {"text": " it up.", "hold": "rest"}]}, *SEARCHES["blocks"]]}
    )
    await fake.say("Then not.")
    await tab.send("search for it")
    await fake.wait(held="rest")
    await tab.chip.click()
    await is_off(tab.chip)
    await expect(tab.page.get_by_test_id("search-chip-next")).to_have_count(0)
    async with tab.turn():
        await fake.release("rest")
    await expect(tab.cards.last).to_have_attribute("data-status", "denied")
    await expect(tab.answers.last).to_have_text("Then not.")


async def test_a_new_chat_has_its_own_switch(tab: Tab) -> None:
    # report 5
    await tab.chip.click()
    await tab.ask("hello from the first chat")
    await tab.page.get_by_test_id("new-chat").click()
    await expect(tab.page.get_by_test_id("empty-state")).to_be_visible()
    await is_off(tab.chip)
    await tab.page.get_by_test_id("chat-line").filter(has_text="hello from the first chat").first.click()
    await is_on(tab.chip)


async def test_every_tab_and_browser_shows_the_same_chip(tab: Tab, server: Server, open_page: OpenTab) -> None:
    # T2
    await tab.ask("hello")
    address = f"/#/c/{await tab.session_id()}"
    beside = await open_page(server, address)
    elsewhere = await open_page(server, address, elsewhere=True)
    await beside.chip.click()
    for each in (tab, beside, elsewhere):
        await is_on(each.chip)
    await elsewhere.chip.click()
    for each in (tab, beside, elsewhere):
        await is_off(each.chip)


async def test_the_chip_shows_what_a_default_decided(server: Server, tab: Tab) -> None:
    # report 7: what is shown is what is in force
    fixed = {"mode": "fixed", "intent": {"web_search": True}}
    async with server.client() as client:
        await client.send("set_setting", key="new_chats", value=fixed)
        try:
            await tab.page.get_by_test_id("new-chat").click()
            await is_on(tab.chip)
        finally:
            await client.send("set_setting", key="new_chats", value=None)
    await tab.page.get_by_test_id("new-chat").click()
    await is_off(tab.chip)


async def test_an_unavailable_chip_says_why_and_what_would_help(serve: Serve, open_page: OpenTab) -> None:
    tab = await open_page(await serve())
    await tab.chip.click()
    await expect(tab.chip).to_have_attribute("data-state", "unavailable")
    await expect(tab.chip).to_have_attribute("aria-pressed", "false")
    await expect(tab.chip).to_have_accessible_description(re.compile("No search provider is configured"))
    await tab.page.reload()
    await expect(tab.chip).to_have_attribute("data-state", "unavailable")

    await tab.chip.click()
    dialog = tab.page.get_by_test_id("search-dialog")
    await expect(dialog).to_contain_text("No search provider is configured")
    await expect(dialog).to_contain_text("your search queries go to public search engines")
    await dialog.get_by_test_id("consent-allow").click()
    await expect(dialog).to_have_count(0)
    await is_on(tab.chip)


async def test_the_chip_follows_what_becomes_available(serve: Serve, open_page: OpenTab) -> None:
    # report 7: with a consent in another tab, and with a restart
    server = await serve()
    tab = await open_page(server)
    await tab.chip.click()
    await tab.ask("hello")
    await expect(tab.chip).to_have_attribute("data-state", "unavailable")
    async with server.client() as client:
        await client.send("set_setting", key="keyless_search_consent", value=True)
        await is_on(tab.chip)
        await client.send("set_setting", key="keyless_search_consent", value=False)
        await expect(tab.chip).to_have_attribute("data-state", "unavailable")

    tab.expect_complaints(LOST)
    await server.stop()
    (server.home / "config.toml").write_text('[search]\nsearxng_url = "http://127.0.0.1:9"\n')
    await server.start()
    await tab.wake()
    await is_on(tab.chip)
