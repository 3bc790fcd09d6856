"""What goes wrong at the provider, shown with what to do about it (P13)."""

import re
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.browser.conftest import OpenTab
from tests.support.browser import Tab
from tests.support.fake import FakeApi
from tests.support.server import Server

FAR_AWAY_S = 90
"""More than the program waits by itself."""


def card(tab: Tab) -> Locator:
    """The error card."""
    return tab.page.get_by_test_id("error-card")


async def fail(tab: Tab, fake: FakeApi, **fault: Any) -> None:
    """Have the next answer fail, and wait for the card."""
    await fake.script({"blocks": [{"type": "text", "chunks": ["One ", "two ", "three"]}], "fault": fault})
    await tab.ask("go")
    await expect(card(tab)).to_be_visible()


@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("unauthorised", "bad_key", "refused the key"),
        ("no_credit", "no_credit", "no credit left"),
        ("model_not_found", "model_not_found", "does not offer this model"),
        ("context_too_long", "context_too_long", "too long for the model"),
    ],
)
async def test_a_failure_is_told_and_the_chat_goes_on(
    tab: Tab, fake: FakeApi, kind: str, code: str, words: str
) -> None:
    await fail(tab, fake, kind=kind)
    await expect(card(tab)).to_have_attribute("data-code", code)
    await expect(card(tab)).to_contain_text(words)
    await fake.say("Better now.")
    async with tab.turn():
        await card(tab).get_by_role("button", name="Try again").click()
    await expect(tab.answers).to_have_text(["Better now."])
    await expect(card(tab)).to_have_count(0)


async def test_a_refused_key_leads_to_how_to_connect(tab: Tab, fake: FakeApi) -> None:
    await fail(tab, fake, kind="unauthorised")
    await card(tab).get_by_role("button", name="Connect a model").click()
    dialog = tab.page.get_by_test_id("connect-dialog")
    await expect(dialog).to_contain_text("export OPENAI_API_KEY")
    await tab.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)


async def test_a_rate_limit_says_when_and_then_lets_try_again(tab: Tab, fake: FakeApi) -> None:
    await tab.page.clock.install()
    await fail(tab, fake, kind="rate_limit", retry_after=FAR_AWAY_S)
    again = card(tab).get_by_role("button", name="Try again")
    await expect(card(tab)).to_contain_text(re.compile(r"try again in \d+ s"))
    await expect(again).to_be_disabled()
    await tab.page.clock.fast_forward(FAR_AWAY_S * 1000)
    await expect(again).to_be_enabled()
    await fake.say("Now.")
    async with tab.turn():
        await again.click()
    await expect(tab.answers).to_have_text(["Now."])


async def test_a_short_rate_limit_is_waited_for_with_a_word(tab: Tab, fake: FakeApi) -> None:
    # P14
    await fake.script({"blocks": [], "fault": {"kind": "rate_limit", "retry_after": 1}})
    await fake.say("There.")
    await tab.ask("go")
    await expect(tab.answers).to_have_text(["There."])
    await expect(tab.page.get_by_test_id("note")).to_contain_text("Trying again in 1 s")
    assert len(await fake.requests()) == 2


@pytest.mark.parametrize("kind", ["cut", "drop", "stream_error"])
async def test_an_answer_cut_short_is_kept_and_never_taken_for_whole(tab: Tab, fake: FakeApi, kind: str) -> None:
    # report 46
    await fail(tab, fake, kind=kind, after=2)
    await expect(tab.answers).to_have_text(["One two"])
    await tab.page.reload()
    await expect(tab.answers).to_have_text(["One two"])
    await expect(card(tab)).to_be_visible()
    await fake.say("three")
    async with tab.turn():
        await card(tab).get_by_role("button", name="Try again").click()
    await expect(tab.answers).to_have_text(["One two", "three"])


async def test_the_output_limit_is_marked_and_can_be_passed(tab: Tab, fake: FakeApi) -> None:
    await fake.say("One two", stop_reason="max_tokens")
    await tab.ask("go")
    await expect(tab.page.get_by_test_id("ending")).to_have_attribute("data-reason", "cut")
    await fake.say("three")
    async with tab.turn():
        await tab.page.get_by_role("button", name="Continue").click()
    await expect(tab.answers).to_have_text(["One two", "three"])


async def test_a_chat_that_does_not_exist_says_so(tab: Tab) -> None:
    await tab.page.goto(f"{tab.server.url}/#/c/s_nowhere")
    await expect(tab.page.get_by_test_id("chat-gone")).to_be_visible()
    await tab.page.get_by_test_id("chat-gone").get_by_role("button", name="New chat").click()
    await expect(tab.page.get_by_test_id("empty-state")).to_be_visible()


async def test_a_failure_is_told_in_chinese_with_the_servers_words_beside_it(
    fake: FakeApi, server: Server, open_page: OpenTab
) -> None:
    tab = await open_page(server, locale="zh-CN")
    await fake.script({"blocks": [], "fault": {"kind": "unauthorised"}})
    box = tab.page.get_by_test_id("message-box")
    await box.fill("hello")
    await box.press("Enter")
    card = tab.page.get_by_test_id("error-card")
    await expect(card).to_contain_text("端点拒绝了密钥")
    await expect(card.locator("[lang=en]")).to_contain_text("refused the key")
    await tab.audit()
