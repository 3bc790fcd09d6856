"""Where a chat was summarised: under way, what that cost and saves, and what the model reads (spec cache.md C16)."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab
from tests.support.browser import Tab
from tests.support.fake import FakeApi
from tests.support.server import Server

pytestmark = pytest.mark.moves("the conversation is summarised")

MUCH = "Words that are worth a summary. " * 100
ASKED = {"match": {"text": "Write the summary"}}


async def spoken(tab: Tab, fake: FakeApi) -> None:
    """A chat with an answer that is long enough."""
    await fake.say(MUCH)
    await tab.ask("Tell me all")


async def test_a_summary_is_told_while_it_is_written_and_stays_with_its_figures(
    server: Server, tab: Tab, fake: FakeApi, open_page: OpenTab
) -> None:
    await spoken(tab, fake)
    await fake.say("It was ", {"text": "about words.", "hold": "h"}, **ASKED)
    async with tab.turn():
        await tab.send("/compact")
        await expect(tab.page.get_by_test_id("working")).to_contain_text("Summarising the conversation")
        late = await open_page(server, tab.page.url.removeprefix(server.url))
        await expect(late.page.get_by_test_id("working")).to_contain_text("Summarising the conversation")
        await fake.release("h")
    for each in (tab, late):
        line = each.page.get_by_test_id("summary")
        await expect(line).to_contain_text("Summarised to save room")
        await expect(line).to_contain_text("tokens")
        await expect(each.page.get_by_test_id("working")).to_have_count(0)
    await expect(tab.answers).to_contain_text(["Words that are worth a summary."])
    await tab.page.get_by_test_id("summary").get_by_role("button").click()
    await expect(tab.page.get_by_test_id("summary-text")).to_contain_text("It was about words.")
    await tab.audit()
    await fake.say("Short again.")
    await tab.ask("And now?")
    line = late.page.get_by_test_id("summary")
    live = await line.text_content()
    await late.page.reload()
    await expect(line).to_have_text(live or "")


async def test_it_is_told_in_the_readers_language(server: Server, tab: Tab, fake: FakeApi, open_page: OpenTab) -> None:
    await spoken(tab, fake)
    await fake.say("About words.", **ASKED)
    async with tab.turn():
        await tab.send("/compact")
    chinese = await open_page(server, tab.page.url.removeprefix(server.url), locale="zh-CN")
    await expect(chinese.page.get_by_test_id("summary")).to_contain_text("已总结以节省空间")


async def test_stop_ends_it_and_there_is_nothing_to_continue(tab: Tab, fake: FakeApi) -> None:  # P7
    await spoken(tab, fake)
    await fake.say("half ", {"text": "of it", "hold": "h"}, **ASKED)
    async with tab.turn():
        await tab.send("/compact")
        await expect(tab.page.get_by_test_id("working")).to_contain_text("Summarising the conversation")
        await tab.stop_button.click()
    await expect(tab.page.get_by_test_id("summary")).to_have_count(0)
    await expect(tab.page.get_by_test_id("ending")).to_have_attribute("data-reason", "stopped")
    await expect(tab.page.get_by_role("button", name="Continue")).to_have_count(0)
