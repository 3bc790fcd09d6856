"""Writing while an answer is being made: the queue, steering, and text that was not sent yet (P6)."""

import re

from playwright.async_api import Locator, expect

from tests.support.browser import Tab
from tests.support.fake import FakeApi


async def begin(tab: Tab, fake: FakeApi) -> None:
    """Have an answer stand in the middle; the rest waits at the hold `rest`."""
    await fake.say("One ", "two", {"text": " three", "hold": "rest"}, " four.")
    await tab.send("count for me")
    await fake.wait(held="rest")
    await expect(tab.answers.last).to_have_text("One two")


def waiting(tab: Tab) -> Locator:
    """The messages that wait, in order."""
    return tab.page.get_by_test_id("queue-list").get_by_role("listitem")


async def test_a_message_sent_meanwhile_waits_visibly_and_is_sent_once(tab: Tab, fake: FakeApi) -> None:
    # P6
    await begin(tab, fake)
    queue = waiting(tab)
    await tab.send("first in the queue")
    await tab.send("second in the queue")
    await expect(queue).to_have_count(2)
    await tab.page.reload()
    await expect(queue).to_have_count(2)

    await queue.nth(1).get_by_role("button", name="Remove").click()
    await expect(queue).to_have_count(1)
    await queue.nth(0).get_by_role("button", name="Edit").click()
    await queue.get_by_role("textbox").fill("changed in the queue")
    await queue.get_by_role("textbox").press("Enter")
    await expect(queue).to_have_text(re.compile("changed in the queue"))

    await fake.say("The second answer.")
    async with tab.turn():
        await fake.release("rest")
        await expect(tab.answers.last).to_have_text("The second answer.")
    await expect(queue).to_have_count(0)
    await expect(tab.sent).to_contain_text(["count for me", "changed in the queue"])
    assert [last_words(request) for request in await fake.requests()] == ["count for me", "changed in the queue"]


def last_words(request: dict[str, object]) -> str:
    """The first line of the newest user message of a recorded request."""
    body = request["body"]
    assert isinstance(body, dict)
    return str([message for message in body["messages"] if message["role"] == "user"][-1]["content"]).splitlines()[0]


async def test_a_stop_leaves_what_waits_and_it_is_sent_by_hand(tab: Tab, fake: FakeApi) -> None:
    await begin(tab, fake)
    await tab.send("still to be said")
    await expect(waiting(tab)).to_have_count(1)
    await tab.stop_button.click()
    await tab.idle()
    await expect(waiting(tab)).to_have_text(re.compile("still to be said"))
    await tab.page.reload()
    await fake.say("Heard.")
    async with tab.turn():
        await waiting(tab).get_by_role("button", name="Send now").click()
    await expect(waiting(tab)).to_have_count(0)
    await expect(tab.sent).to_contain_text(["count for me", "still to be said"])
    await expect(tab.answers.last).to_have_text("Heard.")


async def test_a_steering_message_comes_in_after_the_current_step(tab: Tab, fake: FakeApi) -> None:
    look = [{"type": "text", "chunks": ["I look", {"text": ".", "hold": "rest"}]}]
    await fake.script({"blocks": [*look, {"type": "tool_use", "name": "list", "input": {}}]})
    await fake.say("As you wish.")
    await tab.send("what is here?")
    await fake.wait(held="rest")
    await tab.box.fill("only count the files")
    await tab.box.press("Control+Enter")
    await expect(waiting(tab)).to_have_text(re.compile("only count the files.*after the current step"))
    async with tab.turn():
        await fake.release("rest")
        await expect(tab.answers.last).to_have_text("As you wish.")
    await expect(waiting(tab)).to_have_count(0)
    await expect(tab.sent).to_contain_text(["what is here?", "only count the files"])
    first, second = [request["body"]["messages"] for request in await fake.requests()]
    assert [message["role"] for message in second[len(first) :]] == ["assistant", "tool", "user"]
    assert "only count the files" in second[-1]["content"]


async def test_what_was_typed_and_not_sent_is_still_there(tab: Tab) -> None:
    await tab.ask("hello")
    await tab.box.fill("half a thought")
    line = await tab.line()
    await tab.page.reload()
    await expect(tab.box).to_have_value("half a thought")
    await tab.page.get_by_test_id("new-chat").click()
    await expect(tab.box).to_have_value("")
    await line.get_by_role("link").click()
    await expect(tab.box).to_have_value("half a thought")


async def test_what_is_typed_after_the_first_message_stays_with_its_chat(tab: Tab) -> None:
    await tab.send("hello")
    await tab.box.fill("and another thing")
    line = await tab.line()
    await tab.page.get_by_test_id("new-chat").click()
    await expect(tab.page.get_by_test_id("empty-state")).to_be_visible()
    await expect(tab.box).to_have_value("")
    await tab.box.fill("for the new chat")
    await line.get_by_role("link").click()
    await expect(tab.box).to_have_value("and another thing")
    await tab.page.reload()
    await expect(tab.answers).to_have_count(1)
    await expect(tab.box).to_have_value("and another thing")
    await tab.page.get_by_test_id("new-chat").click()
    await expect(tab.box).to_have_value("for the new chat")
