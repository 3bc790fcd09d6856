"""A question of the agent: a card above the message box, answered once, from any tab, whatever reloads in between."""

from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.browser.conftest import OpenTab, Serve
from tests.browser.test_layouts import PHONE, fits
from tests.support.browser import LOST, Tab
from tests.support.fake import FakeApi
from tests.support.server import Server

CHOICES = ["Tabs: as the code has them", "Spaces", "Both"]


def card(tab: Tab) -> Locator:
    """The card that asks."""
    return tab.page.get_by_test_id("question-card")


def choices(tab: Tab) -> Locator:
    """What there is to choose."""
    return card(tab).get_by_test_id("question-choice")


async def wait_for_question(tab: Tab, fake: FakeApi, **arguments: Any) -> None:
    """Have the model ask; its next answer is `Done.`"""
    asked = {"question": "Tabs or spaces?", "choices": CHOICES, **arguments}
    await fake.script({"blocks": [{"type": "tool_use", "name": "ask_user", "id": "call_ask", "input": asked}]})
    await fake.say("Done.")
    await tab.send("format it")
    await expect(card(tab)).to_be_visible()


async def told(fake: FakeApi) -> str:
    """What the model was told of the answer."""
    results = [message for message in (await fake.requests())[-1]["body"]["messages"] if message["role"] == "tool"]
    return str(results[-1]["content"])


async def test_a_choice_is_made_with_the_mouse(tab: Tab, fake: FakeApi) -> None:
    await wait_for_question(tab, fake)
    await expect(card(tab).get_by_role("heading")).to_have_text("Tabs or spaces?")
    await expect(choices(tab)).to_have_count(3)
    await expect(choices(tab).first).to_contain_text("as the code has them")
    await expect(tab.cards).to_have_attribute("data-status", "approval")
    await expect((await tab.line()).get_by_test_id("needs-you")).to_be_visible()
    await expect(card(tab).get_by_test_id("question-send")).to_be_disabled()
    await choices(tab).nth(1).click()
    await choices(tab).first.click()  # one of several: the last one counts
    async with tab.turn():
        await card(tab).get_by_test_id("question-send").click()
    await expect(card(tab)).to_have_count(0)
    await expect(tab.cards).to_have_attribute("data-status", "ok")
    await expect(tab.cards).to_contain_text("Asked you")
    assert await told(fake) == "The user chose:\n- Tabs"


async def test_a_question_is_answered_with_the_keyboard_alone(tab: Tab, fake: FakeApi) -> None:
    await wait_for_question(tab, fake, multiple=True)
    await tab.page.keyboard.press("3")
    await tab.page.keyboard.press("2")
    await tab.page.keyboard.press("1")
    await tab.page.keyboard.press("2")  # and away again
    await expect(card(tab).get_by_role("checkbox", checked=True)).to_have_count(2)
    async with tab.turn():
        await tab.page.keyboard.press("Enter")
    assert await told(fake) == "The user chose:\n- Tabs\n- Both"


async def test_tab_and_space_reach_every_part(tab: Tab, fake: FakeApi) -> None:
    await wait_for_question(tab, fake, multiple=True)
    await tab.page.keyboard.press("Tab")
    await tab.page.keyboard.press("Space")
    for _ in range(3):
        await tab.page.keyboard.press("Tab")
    await expect(card(tab).get_by_test_id("question-words")).to_be_focused()
    await tab.page.keyboard.type("1 of 2")  # digits choose nothing in a text field
    async with tab.turn():
        await tab.page.keyboard.press("Enter")
    assert await told(fake) == "The user chose:\n- Tabs\nThe user says: 1 of 2"


async def test_words_answer_a_question_without_choices(tab: Tab, fake: FakeApi) -> None:
    await wait_for_question(tab, fake, choices=[])
    await card(tab).get_by_role("textbox", name="Your answer").fill("  <b>whatever</b> the linter says ")
    async with tab.turn():
        await tab.page.keyboard.press("Enter")
    assert await told(fake) == "The user says: <b>whatever</b> the linter says"


async def test_a_question_can_be_skipped(tab: Tab, fake: FakeApi) -> None:
    await wait_for_question(tab, fake)
    async with tab.turn():
        await card(tab).get_by_test_id("question-skip").click()
    assert (await told(fake)).startswith("The user skipped the question.")


async def test_what_is_typed_into_the_message_box_answers_nothing(tab: Tab, fake: FakeApi) -> None:
    await wait_for_question(tab, fake)
    await tab.box.fill("a")
    await tab.box.press_sequentially("123")
    await expect(tab.box).to_have_value("a123")
    await expect(card(tab).get_by_role("radio", checked=True)).to_have_count(0)
    await tab.box.press("Enter")  # a message, not an answer: it waits
    await expect(tab.page.get_by_test_id("queue-list")).to_contain_text("a123")
    await expect(card(tab)).to_be_visible()
    await tab.page.get_by_test_id("queue-list").get_by_role("button", name="Remove from the queue").click()
    await tab.stop_button.click()
    await tab.idle()


async def test_a_question_does_not_take_the_focus_from_what_is_being_typed(tab: Tab, fake: FakeApi) -> None:
    asked = {"question": "Tabs or spaces?", "choices": CHOICES}
    ask = {"type": "tool_use", "name": "ask_user", "id": "call_ask", "input": asked}
    await fake.script({"blocks": [{"type": "text", "chunks": ["Hm. ", {"text": "So:", "hold": "before"}]}, ask]})
    await fake.say("Done.")
    await tab.send("format it")
    await fake.wait(held="before")
    await tab.box.press_sequentially("half a")
    await fake.release("before")
    await expect(card(tab)).to_be_visible()
    await expect(tab.box).to_be_focused()
    await tab.stop_button.click()
    await tab.idle()


async def test_answered_in_one_tab_it_disappears_in_the_other(
    tab: Tab, fake: FakeApi, server: Server, open_page: OpenTab
) -> None:  # P9
    await wait_for_question(tab, fake)
    other = await open_page(server, f"/#/c/{await tab.session_id()}")
    await expect(card(other)).to_be_visible()
    await choices(tab).nth(1).click()  # chosen here, but not sent
    async with tab.turn():
        await choices(other).nth(2).click()
        await card(other).get_by_test_id("question-send").click()
    for each in (tab, other):
        await expect(card(each)).to_have_count(0)
        await expect(each.answers.last).to_have_text("Done.")
    assert await told(fake) == "The user chose:\n- Both"


async def test_it_survives_a_reload(tab: Tab, fake: FakeApi) -> None:  # P9
    await wait_for_question(tab, fake)
    await tab.session_id()
    await tab.page.reload()
    await expect(card(tab)).to_contain_text("Tabs or spaces?")
    async with tab.turn():
        await tab.page.keyboard.press("1")
        await tab.page.keyboard.press("Enter")
    await expect(tab.cards).to_have_attribute("data-status", "ok")


async def test_it_survives_a_crash_of_the_server(fake: FakeApi, serve: Serve, open_page: OpenTab) -> None:  # P9
    server = await serve()
    tab = await open_page(server)
    await wait_for_question(tab, fake)
    tab.expect_complaints(LOST)
    await server.kill()
    await server.start()
    await tab.wake()
    await expect(card(tab)).to_be_visible()
    async with tab.turn():
        await choices(tab).first.click()
        await card(tab).get_by_test_id("question-send").click()
    await expect(card(tab)).to_have_count(0)
    await expect(tab.answers).to_have_text(["Done."])
    assert await told(fake) == "The user chose:\n- Tabs"


async def test_stop_withdraws_the_question(tab: Tab, fake: FakeApi) -> None:  # P7
    await wait_for_question(tab, fake)
    await tab.page.keyboard.press("Escape")
    await tab.idle()
    await expect(card(tab)).to_have_count(0)
    await expect(tab.cards).to_have_attribute("data-status", "stopped")


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_the_card_has_no_serious_finding(fake: FakeApi, server: Server, open_page: OpenTab, theme: str) -> None:
    tab = await open_page(server, color_scheme=theme)
    await wait_for_question(tab, fake, multiple=True)
    await expect(tab.page.get_by_test_id("announcer")).to_have_text("Question for you: Tabs or spaces?")
    await tab.audit()
    await choices(tab).first.click()
    await tab.audit()
    await tab.page.get_by_test_id("question-skip").click()
    await tab.idle()


@pytest.mark.parametrize("language", ["en-US", "zh-CN"])
async def test_the_card_fits_a_phone_in_both_languages(
    fake: FakeApi, server: Server, open_page: OpenTab, language: str
) -> None:
    tab = await open_page(server, locale=language, **PHONE)
    long = "a-very-long-word-without-any-space-" * 4
    asked = {"question": f"Which {long}?", "choices": [f"{n} {long}: {long}" for n in range(10)], "multiple": True}
    ask = {"type": "tool_use", "name": "ask_user", "id": "call_ask", "input": asked}
    await fake.script({"blocks": [ask]})
    await fake.say("Done.")
    box = tab.page.get_by_test_id("message-box")
    await box.fill("format it")
    await box.press("Enter")
    await expect(card(tab)).to_be_visible()
    await fits(tab)
    send = card(tab).get_by_test_id("question-send")
    await expect(send).to_have_text("Answer" if language == "en-US" else "回答")
    await expect(send).to_be_in_viewport(ratio=1)
    await expect(box).to_be_in_viewport(ratio=1)
    small = await card(tab).evaluate(
        """(one) => [...one.querySelectorAll("button, label, input:not([type=checkbox])")]
             .filter((part) => part.getBoundingClientRect().height < 36).map((part) => part.outerHTML.slice(0, 120))"""
    )
    assert small == []
    await choices(tab).first.tap()
    await send.tap()
    await expect(card(tab)).to_have_count(0)
