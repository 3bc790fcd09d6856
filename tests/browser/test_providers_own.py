"""What a provider does and says by itself: its search of the web in the chat, its word on its cache in the panel."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab, Serve
from tests.browser.test_chip import is_off, is_on
from tests.support.browser import Tab
from tests.support.conversation import Chat
from tests.support.fake import FakeApi

CONFIG = """
[endpoints.own]
api = "anthropic"
base_url = "{url}"
key = "sk-very-secret-key-of-mine"
models = ["claude-opus-5"]
strategy = "append"
web_search = "hosted"
cache_diagnosis = true
"""
PAGE = {"url": "https://example.org/weather", "title": "The weather in Rome"}
FOUND = [
    {"type": "text", "text": "I will look. "},
    {"type": "web_search", "query": "weather in Rome", "pages": [PAGE]},
    {"type": "text", "text": "It is sunny.", "cites": [PAGE]},
]
LONG = "Tell me more about the tides. " * 400


async def begun(fake: FakeApi, serve: Serve, open_page: OpenTab) -> tuple[Tab, str]:
    """A chat with a model whose provider searches and tells, without a search service of our own."""
    server = await serve(demo=True, config=CONFIG.format(url=fake.anthropic_url))
    async with server.client() as client:
        session_id = (await client.send("create_session", model="own/claude-opus-5"))["session_id"]
    return await open_page(server, f"/#/c/{session_id}"), session_id


async def test_a_search_of_the_provider_is_seen_with_its_sources_and_stays_over_a_reload(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:
    tab, _ = await begun(fake, serve, open_page)
    await tab.chip.click()
    await is_on(tab.chip)
    await fake.script({"blocks": FOUND})
    await tab.ask("What is the weather in Rome?")
    rows = tab.page.get_by_test_id("hosted")
    told = ["Searched the web: weather in Rome", "Found 1 page", "1 source"]
    await expect(rows).to_have_text(told)
    await rows.nth(1).get_by_role("button").click()
    link = rows.nth(1).get_by_role("link")
    await expect(link).to_contain_text(PAGE["title"])
    await expect(link).to_have_attribute("href", PAGE["url"])
    await tab.audit()
    await tab.page.reload()
    await expect(rows).to_have_text(told)
    await tab.chip.click()
    await is_off(tab.chip)


@pytest.mark.moves("a message is edited, and the conversation is summarised")
async def test_the_panel_has_the_providers_word_beside_ours_and_says_what_a_request_was_for(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:  # C18, C19
    tab, session_id = await begun(fake, serve, open_page)
    async with tab.server.client() as client:
        chat = await Chat.join(client, session_id)
        for said in (LONG, "What is the time in Rome?"):
            await fake.say("Yes.")
            await chat.turn(said)
        asked = next(one for one in await chat.messages() if "Rome" in str(one["blocks"]))
        await fake.say("No.")
        await chat.act("edit_message", message_id=asked["id"], text="What is the time in Riga?")
        await chat.event("turn_finished")
        await fake.script({"blocks": [{"type": "text", "text": "Of tides."}], "match": {"text": "Write the summary"}})
        await chat.act("compact")
        await chat.event("turn_finished")
        await fake.say("Well.")
        await chat.turn("And in Oslo?")
    await tab.page.get_by_test_id("cache-button").click()
    steps = tab.page.get_by_test_id("cache-step")
    await expect(steps).to_have_count(5)
    await steps.nth(2).click()
    await expect(tab.page.get_by_test_id("cache-provider")).to_contain_text("provider’s own word: messages_changed")
    plan = tab.page.get_by_test_id("cache-plan")
    await expect(plan).to_have_count(0)
    for place, words in ((3, "asks for the summary"), (4, "goes on from a summary")):
        await steps.nth(place).click()
        await expect(plan).to_contain_text(words)
    await tab.audit()
