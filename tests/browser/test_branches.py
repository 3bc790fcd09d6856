"""Editing, answering again and switching between versions (P8)."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab
from tests.support.browser import Tab
from tests.support.fake import FakeApi
from tests.support.server import Server


async def ask(tab: Tab, fake: FakeApi, text: str, answer: str) -> None:
    """One question and its answer."""
    await fake.say(answer)
    await tab.ask(text)
    await expect(tab.answers.last).to_have_text(answer)


async def answer_again(tab: Tab, fake: FakeApi, answer: str) -> None:
    """Ask for the last answer again."""
    await fake.say(answer)
    async with tab.turn():
        await tab.page.get_by_role("button", name="Answer again").last.click()
    await expect(tab.answers.last).to_have_text(answer)


@pytest.mark.moves("a branch leaves the one before it")
async def test_versions_of_an_answer_can_be_switched_and_stay(
    tab: Tab, fake: FakeApi, server: Server, open_page: OpenTab
) -> None:
    # report 34
    await ask(tab, fake, "why?", "Because.")
    await answer_again(tab, fake, "Since.")
    await answer_again(tab, fake, "For.")
    where = tab.page.get_by_test_id("siblings")
    await expect(where).to_have_text("3 / 3")
    await tab.page.get_by_role("button", name="Previous version").click()
    await expect(tab.answers).to_have_text(["Since."])
    await expect(where).to_have_text("2 / 3")

    await tab.page.reload()
    await expect(tab.answers).to_have_text(["Since."])
    await expect(where).to_have_text("2 / 3")
    other = await open_page(server, f"/#/c/{await tab.session_id()}")
    await expect(other.answers).to_have_text(["Since."])
    await other.page.get_by_role("button", name="Previous version").click()
    for each in (tab, other):
        await expect(each.answers).to_have_text(["Because."])

    await ask(tab, fake, "go on", "So be it.")
    history = [message["content"] for message in (await fake.requests())[-1]["body"]["messages"][1:]]
    assert [text.splitlines()[0] for text in history] == ["why?", "Because.", "go on"]


@pytest.mark.moves("a branch leaves the one before it")
async def test_an_edited_message_begins_a_branch_and_the_old_one_stays(tab: Tab, fake: FakeApi) -> None:
    await ask(tab, fake, "first question", "First answer.")
    await ask(tab, fake, "second question", "Second answer.")
    await tab.sent.last.hover()
    await tab.sent.last.get_by_role("button", name="Edit").click()
    editor = tab.page.get_by_role("textbox", name="Edit your message")
    await expect(editor).to_be_focused()
    await editor.fill("second question, better")
    await fake.say("Better answer.")
    async with tab.turn():
        await editor.press("Enter")
    await expect(tab.sent).to_contain_text(["first question", "second question, better"])
    await expect(tab.answers).to_have_text(["First answer.", "Better answer."])

    await tab.sent.last.hover()
    await tab.sent.last.get_by_role("button", name="Previous version").click()
    await expect(tab.answers).to_have_text(["First answer.", "Second answer."])
    await tab.page.reload()
    await expect(tab.answers).to_have_text(["First answer.", "Second answer."])
    await tab.sent.last.hover()
    await tab.sent.last.get_by_role("button", name="Next version").click()
    await expect(tab.answers).to_have_text(["First answer.", "Better answer."])


async def test_the_first_message_can_be_edited_too(tab: Tab, fake: FakeApi) -> None:
    await ask(tab, fake, "first question", "First answer.")
    await tab.box.press("ArrowUp")
    editor = tab.page.get_by_role("textbox", name="Edit your message")
    await editor.fill("another first question")
    await editor.press("Escape")
    await expect(editor).to_have_count(0)
    await expect(tab.sent).to_contain_text(["first question"])
    await expect(tab.box).to_be_focused()
    await tab.box.press("ArrowUp")
    await editor.fill("another first question")
    await fake.say("Another answer.")
    async with tab.turn():
        await editor.press("Enter")
    await expect(tab.answers).to_have_text(["Another answer."])
    await expect(tab.sent.get_by_test_id("siblings")).to_have_text("2 / 2")


async def test_a_turn_with_tools_is_answered_again_as_a_whole(tab: Tab, fake: FakeApi) -> None:
    listing = {"blocks": [{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "list", "input": {}}]}
    await fake.script(listing)
    await fake.say("There is one file.")
    await tab.ask("what is here?")
    await expect(tab.answers).to_have_text(["I look.", "There is one file."])
    await fake.say("I will not look.")
    async with tab.turn():
        await tab.page.get_by_role("button", name="Answer again").click()
    await expect(tab.answers).to_have_text(["I will not look."])
    await expect(tab.cards).to_have_count(0)
    await tab.page.get_by_role("button", name="Previous version").click()
    await expect(tab.answers).to_have_text(["I look.", "There is one file."])
    await expect(tab.cards).to_have_count(1)


async def test_a_chat_is_renamed_pinned_deleted_and_brought_back(tab: Tab) -> None:
    await tab.ask("a chat for the sidebar")
    line = tab.page.get_by_test_id("chat-line").filter(has_text="a chat for the sidebar")
    await line.hover()
    await line.get_by_role("button", name="Options").click()
    await tab.page.get_by_role("menuitem", name="Rename").click()
    title = tab.page.get_by_role("textbox", name="New title")
    await expect(title).to_be_focused()
    await tab.page.keyboard.type("A better title")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_test_id("chat-title")).to_have_text("A better title")

    line = tab.page.get_by_test_id("chat-line").filter(has_text="A better title")
    await line.hover()
    await line.get_by_role("button", name="Options").click()
    await tab.page.get_by_role("menuitem", name="Pin").click()
    await expect(tab.page.get_by_test_id("chat-list").get_by_role("heading", name="Pinned")).to_be_visible()
    await line.hover()
    await line.get_by_role("button", name="Options").click()
    await tab.keep_offers()
    await tab.page.get_by_role("menuitem", name="Delete").click()
    await expect(line).to_have_count(0)
    await expect(tab.page.get_by_test_id("empty-state")).to_be_visible()
    await tab.page.get_by_role("button", name="Undo").click()
    await expect(line).to_have_count(1)
    await line.get_by_role("link").click()
    await expect(tab.sent).to_contain_text(["a chat for the sidebar"])
