"""A price is told before it is paid: a message after a break, another model, a switch (spec cache.md C19)."""

import re
from typing import Any

from playwright.async_api import expect

from tests.browser.conftest import OpenTab, Serve
from tests.support.browser import Tab
from tests.support.fake import FakeApi
from tests.support.server import Server

CONFIG = """
[endpoints.priced]
api = "anthropic"
base_url = "{url}"
key = "sk-very-secret-key-of-mine"
models = ["demo", "other"]
cache_ttl_s = {ttl}
price = {{ input = 10.0, output = 50.0, cache_read = 1.0, cache_write_5m = 12.5, cache_write_1h = 20.0 }}
"""
LONG = "Tell me more about the tides. " * 4000
"""About 24,000 tokens."""
WARM_FOR_LONG, WARM_FOR_A_MOMENT = 3600, 1


async def priced(fake: FakeApi, serve: Serve, ttl_s: int) -> Server:
    """A server with prices, whose endpoint keeps a prompt for so long."""
    return await serve(demo=True, config=CONFIG.format(url=fake.anthropic_url, ttl=ttl_s))


async def told(server: Server, fake: FakeApi, open_page: OpenTab, text: str = LONG, **options: Any) -> Tab:
    """A tab at a chat that has had one turn."""
    async with server.client() as client:
        session_id = (await client.send("create_session", model="priced/demo"))["session_id"]
        await client.subscribe(session_id)
        await fake.say("Yes.")
        await client.send("chat", session_id=session_id, text=text)
        await client.event("turn_finished", session_id)
    return await open_page(server, f"/#/c/{session_id}", **options)


async def test_a_cold_chat_says_before_the_message_is_sent_what_it_will_cost(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:  # report 39
    tab = await told(await priced(fake, serve, WARM_FOR_A_MOMENT), fake, open_page)
    line = tab.page.get_by_test_id("send-price")
    await expect(line).to_contain_text("Cold: the provider has forgotten this chat.")
    await expect(line).to_contain_text(re.compile(r"Your next message re-reads \d\dk tokens, about \$0\.\d\d\."))
    await expect(tab.box).to_have_accessible_description(re.compile(r"re-reads \d\dk tokens"))
    await tab.audit()
    await fake.say("Yes.")
    await tab.send("and now")
    await expect(tab.sent).to_have_count(2)  # nothing stood in the way


async def test_a_warm_chat_says_until_when(fake: FakeApi, serve: Serve, open_page: OpenTab) -> None:
    tab = await told(await priced(fake, serve, WARM_FOR_LONG), fake, open_page)
    line = tab.page.get_by_test_id("send-price")
    await expect(line).to_contain_text(re.compile(r"Warm until \d\d:\d\d\. After that a message re-reads \d\dk tokens"))
    await expect(line.locator("[data-tone]")).to_have_attribute("data-tone", "warm")


async def test_an_open_chat_turns_cold_by_itself(fake: FakeApi, serve: Serve, open_page: OpenTab) -> None:
    tab = await open_page(await priced(fake, serve, WARM_FOR_A_MOMENT))
    await fake.say("Yes.")
    await tab.ask(LONG)
    await expect(tab.page.get_by_test_id("send-price")).to_contain_text("Cold: the provider has forgotten this chat.")


async def test_a_short_chat_is_not_worth_a_word(fake: FakeApi, serve: Serve, open_page: OpenTab) -> None:
    tab = await told(await priced(fake, serve, WARM_FOR_A_MOMENT), fake, open_page, "hello")
    await tab.page.get_by_test_id("cache-button").click()
    await expect(tab.page.get_by_test_id("cache-state")).to_have_attribute("data-state", "cold")
    await expect(tab.page.get_by_test_id("send-price")).to_have_text("")


async def test_another_model_tells_its_price_in_the_picker_and_before_the_message(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:
    tab = await told(await priced(fake, serve, WARM_FOR_LONG), fake, open_page)
    await tab.page.get_by_test_id("model-picker").click()
    other = tab.page.get_by_role("menuitemradio", name=re.compile("^other"))
    await expect(other.get_by_test_id("option-price")).to_have_text(
        re.compile(r"re-reads \d\dk tokens, about \$0\.\d\d")
    )
    same = tab.page.get_by_role("menuitemradio", name=re.compile("^demo"))
    await expect(same.get_by_test_id("option-price")).to_have_text("re-reads nothing")
    await tab.audit()
    await other.click()
    line = tab.page.get_by_test_id("send-price")
    await expect(line).to_contain_text("Another model: it has not read this chat.")
    await tab.page.get_by_test_id("model-picker").click()
    await same.click()
    await expect(line).to_contain_text("Warm until")


async def test_the_threshold_is_the_users(fake: FakeApi, serve: Serve, open_page: OpenTab) -> None:
    server = await priced(fake, serve, WARM_FOR_A_MOMENT)
    tab = await told(server, fake, open_page)
    line = tab.page.get_by_test_id("send-price")
    await expect(line).to_contain_text("Cold")
    async with server.client() as client:
        await client.send("set_setting", key="costly_send", value={"tokens": 100_000, "dollars": 0})
        await expect(line).to_have_text("")
        await client.send("set_setting", key="costly_send", value=None)
        await expect(line).to_contain_text("Cold")
