"""Watching an answer: reload, other tabs, scrolling away, stopping it."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab
from tests.support.browser import Tab
from tests.support.fake import FakeApi
from tests.support.server import Server

WHOLE = "One two three four."


async def begin(tab: Tab, fake: FakeApi, *, text: str = "count for me") -> None:
    """Have an answer stand in the middle: `One two` is shown, the rest waits at the hold `rest`."""
    await fake.say("One ", "two", {"text": " three", "hold": "rest"}, " four.")
    await tab.send(text)
    await fake.wait(held="rest")
    await expect(tab.answers.last).to_have_text("One two")


async def test_a_reload_in_mid_stream_shows_the_whole_text_and_goes_on(tab: Tab, fake: FakeApi) -> None:
    # report 24, P4
    await begin(tab, fake)
    await tab.session_id()
    await tab.page.reload()
    await expect(tab.answers.last).to_have_text("One two")
    await expect(tab.stop_button).to_be_visible()
    await fake.release("rest")
    await expect(tab.answers.last).to_have_text(WHOLE)
    await tab.idle()
    await expect(tab.answers).to_have_count(1)
    await tab.page.reload()
    await expect(tab.answers).to_have_text([WHOLE])


async def test_two_tabs_show_the_same_stream(tab: Tab, fake: FakeApi, server: Server, open_page: OpenTab) -> None:
    await begin(tab, fake)
    other = await open_page(server, f"/#/c/{await tab.session_id()}")
    await expect(other.answers).to_have_text(["One two"])
    await fake.release("rest")
    for each in (tab, other):
        await expect(each.answers).to_have_text([WHOLE])
        await each.idle()
    await other.ask("say it again")
    await expect(tab.sent.last).to_contain_text("say it again")
    await expect(tab.answers.last).to_have_text(await other.answers.last.inner_text(), use_inner_text=True)


async def test_another_browser_shows_the_same_chat(tab: Tab, fake: FakeApi, server: Server, open_page: OpenTab) -> None:
    await begin(tab, fake, text="seen from elsewhere")
    other = await open_page(server, elsewhere=True)
    await other.page.get_by_test_id("chat-line").filter(has_text="seen from elsewhere").first.click()
    await expect(other.answers).to_have_text(["One two"])
    await other.stop_button.click()
    for each in (tab, other):
        await expect(each.page.get_by_test_id("ending")).to_have_attribute("data-reason", "stopped")
        await each.idle()


async def test_stop_keeps_what_was_shown_and_the_model_knows_it(tab: Tab, fake: FakeApi) -> None:
    # P7, reports 31 and 32
    await begin(tab, fake)
    await tab.page.keyboard.press("Escape")
    await expect(tab.page.get_by_test_id("ending")).to_have_attribute("data-reason", "stopped")
    await tab.idle()
    assert (await fake.wait_closed())["open"] == []
    await tab.page.reload()
    await expect(tab.answers).to_have_text(["One two"])
    await expect(tab.page.get_by_test_id("ending")).to_have_attribute("data-reason", "stopped")

    await fake.say("And so on.")
    await tab.ask("go on")
    history = (await fake.requests())[-1]["body"]["messages"]
    assert {"role": "assistant", "content": "One two"} in history


async def test_stop_before_the_first_token_keeps_the_chat(tab: Tab, fake: FakeApi) -> None:
    # report 32
    await fake.say("Never seen.", hold="start")
    await tab.send("stopped at once")
    await fake.wait(held="start")
    await expect(tab.page.get_by_test_id("working")).to_be_visible()
    await tab.stop_button.click()
    await tab.idle()
    assert (await fake.wait_closed())["open"] == []
    await expect(tab.answers).to_have_count(0)
    await tab.page.reload()
    await expect(tab.sent).to_contain_text(["stopped at once"])
    await expect(tab.page.get_by_test_id("working")).to_have_count(0)

    await fake.say("Here I am.")
    await tab.ask("and now?")
    await expect(tab.answers).to_have_text(["Here I am."])


async def test_continue_after_stop_goes_on_in_the_same_chat(tab: Tab, fake: FakeApi) -> None:
    await begin(tab, fake)
    await tab.stop_button.click()
    await tab.idle()
    await fake.say(" three four.")
    async with tab.turn():
        await tab.page.get_by_role("button", name="Continue").click()
    await expect(tab.answers).to_have_text(["One two", "three four."])
    await expect(tab.page.get_by_role("button", name="Continue")).to_have_count(0)


async def test_scrolling_up_while_it_streams_stays(tab: Tab, fake: FakeApi) -> None:
    # report 44
    lines = [f"line {number}\n\n" for number in range(60)]
    await fake.say(*lines, {"text": "more\n\n" * 20, "hold": "rest"}, {"text": "The end.", "hold": "end"})
    await tab.send("a long one")
    await expect(tab.answers.last).to_contain_text("line 59")
    await expect(tab.answers.last.get_by_text("line 59")).to_be_in_viewport()

    await tab.transcript.hover()
    end = await scroll_top(tab)
    await tab.page.mouse.wheel(0, -600)
    await expect(tab.page.get_by_test_id("jump-to-latest")).to_be_visible()
    await tab.page.wait_for_function("(end) => document.querySelector('[role=log]').scrollTop < end - 500", arg=end)
    top = await scroll_top(tab)
    await fake.release("rest")
    await expect(tab.answers.last).to_contain_text("more")
    await tab.painted()
    assert await scroll_top(tab) == top

    await tab.page.get_by_test_id("jump-to-latest").click()
    await fake.release("end")
    await expect(tab.answers.last.get_by_text("The end.")).to_be_in_viewport()
    await expect(tab.page.get_by_test_id("jump-to-latest")).to_have_count(0)


async def scroll_top(tab: Tab) -> int:
    """How far the conversation is scrolled, once it has come to rest."""
    top: int = await tab.transcript.evaluate(
        """(log) => new Promise((resolve) => {
             let last = -1;
             const look = () => {
               if (log.scrollTop === last) return resolve(last);
               last = log.scrollTop;
               requestAnimationFrame(look);
             };
             look();
           })"""
    )
    return top


async def test_what_the_reader_opens_stays_where_it_is(tab: Tab, fake: FakeApi) -> None:
    await fake.script({"blocks": [{"type": "tool_use", "name": "list", "input": {}}]})
    await fake.say("line\n\n" * 9)
    await tab.ask("list it")
    await at_the_end(tab)
    button = tab.cards.get_by_role("button").first
    before = await button.bounding_box()
    await button.click()
    await expect(tab.cards.get_by_role("region")).to_be_visible()
    await scroll_top(tab)
    assert await button.bounding_box() == before


async def at_the_end(tab: Tab) -> None:
    """Wait until nothing of the conversation is below what is seen, and it takes clicks (not while it scrolls)."""
    await tab.page.wait_for_function(
        """() => {
             const log = document.querySelector("[role=log]");
             const scrolls = log.querySelector('[style*="pointer-events: none"]') !== null;
             return !scrolls && log.scrollHeight - log.scrollTop - log.clientHeight <= 1;
           }"""
    )


@pytest.mark.parametrize("key", ["PageUp", "Home"])
async def test_the_keyboard_scrolls_away_too(tab: Tab, fake: FakeApi, key: str) -> None:
    await fake.say(*[f"line {number}\n\n" for number in range(60)], {"text": "The end.", "hold": "end"})
    await tab.send("a long one")
    await expect(tab.answers.last).to_contain_text("line 59")
    await tab.transcript.focus()
    await tab.page.keyboard.press(key)
    await expect(tab.page.get_by_test_id("jump-to-latest")).to_be_visible()
    await fake.release("end")
    await expect(tab.answers.last).to_contain_text("The end.")
    await expect(tab.answers.last.get_by_text("The end.")).not_to_be_in_viewport()
    await tab.page.keyboard.press("End")
    await expect(tab.answers.last.get_by_text("The end.")).to_be_in_viewport()


async def test_reasoning_is_one_folded_line(tab: Tab, fake: FakeApi) -> None:
    await fake.script(
        {
            "blocks": [
                {"type": "thinking", "chunks": ["First I look. ", {"text": "Then I leap.", "hold": "think"}]},
                {"type": "text", "text": "Done."},
            ]
        }
    )
    await tab.send("think about it")
    thought = tab.page.get_by_test_id("reasoning")
    await expect(thought).to_contain_text("Thinking…")
    await expect(thought).to_contain_text("First I look.")
    async with tab.turn():
        await fake.release("think")
    await expect(tab.answers).to_have_text(["Done."])
    await expect(thought).not_to_contain_text("First I look.")
    await thought.get_by_role("button").click()
    await expect(thought).to_contain_text("First I look. Then I leap.")


async def test_escape_in_another_field_stops_no_answer(tab: Tab, fake: FakeApi) -> None:
    await begin(tab, fake)
    await tab.page.keyboard.press("Control+k")
    await expect(tab.page.get_by_test_id("chat-search")).to_be_focused()
    await tab.page.keyboard.press("Escape")
    await fake.release("rest")
    await tab.idle()
    await expect(tab.answers.last).to_have_text(WHOLE)
    await expect(tab.page.get_by_test_id("ending")).to_have_count(0)
