"""What is shown of a turn is true in every tab and after every reload: before, while and after it runs (P3, P10)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Locator, expect

from tests.browser.conftest import OpenTab, Serve
from tests.support.browser import LOST, Tab
from tests.support.fake import FakeApi


@asynccontextmanager
async def hanging_endpoint() -> AsyncIterator[str]:
    """An endpoint that takes every request and answers none; yields the config that names it."""
    held: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _reader, writer: held.append(writer), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f'[endpoints.slow]\napi = "openai-chat"\nbase_url = "http://127.0.0.1:{port}/v1"\nkey = "k"\n'
    finally:
        server.close()
        for writer in held:
            writer.close()


async def shown(tab: Tab) -> str:
    """The transcript's words."""
    await tab.painted()
    await tab.measured()
    return await tab.transcript.text_content() or ""


async def same_after_reload(tab: Tab, other: Tab | None = None) -> None:
    """What was watched live, what a reload shows, and what another tab shows are the same."""
    live = await shown(tab)
    await tab.page.reload()
    await expect(tab.transcript).to_have_text(live)
    if other is not None:
        await other.page.goto(tab.page.url)
        await expect(other.transcript).to_have_text(live)


async def details(tab: Tab) -> str:
    """What the last answer's Details say."""
    await tab.page.get_by_role("button", name="Details").last.click()
    dialog = tab.page.get_by_role("dialog", name="Details")
    await expect(dialog).to_be_visible()
    words = await dialog.inner_text()
    await tab.page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    return words


async def test_a_turn_that_is_being_prepared_shows_as_running_everywhere_and_can_be_stopped(
    serve: Serve, open_page: OpenTab
) -> None:
    async with hanging_endpoint() as config:
        server = await serve(demo=True, config=config)
        tab = await open_page(server)
        await tab.send("hello")
        await expect(tab.sent).to_contain_text(["hello"])
        await expect(tab.stop_button).to_be_visible()
        await expect(tab.send_button).to_have_count(0)
        await expect(tab.page.get_by_test_id("working")).to_be_visible()
        other = await open_page(server, tab.page.url.removeprefix(server.url))
        await expect(other.stop_button).to_be_visible()
        await tab.page.reload()
        await expect(tab.stop_button).to_be_visible()
        await tab.stop_button.click()
        await tab.idle()
        await other.idle()
        for each in (tab, other):
            await expect(each.page.get_by_test_id("ending")).to_have_attribute("data-reason", "stopped")
        await same_after_reload(tab)


async def test_a_failure_is_one_card_which_a_reload_and_another_tab_show_too(
    tab: Tab, fake: FakeApi, open_page: OpenTab
) -> None:  # P13
    await fake.script({"blocks": [], "fault": {"kind": "unauthorised"}})
    await tab.ask("go")
    card = tab.page.get_by_test_id("error-card")
    await expect(card).to_have_count(1)
    await expect(tab.page.get_by_test_id("ending")).to_have_count(0)
    await same_after_reload(tab, await open_page(tab.server))
    await expect(card).to_have_attribute("data-code", "bad_key")


def calling(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """A script: an answer that makes these calls."""
    return {"blocks": [{"type": "tool_use", "name": name, "input": arguments} for name, arguments in calls]}


async def test_a_card_says_what_became_of_its_call(tab: Tab, fake: FakeApi, open_page: OpenTab) -> None:
    await fake.script(calling(("bash", {"command": "echo one"})))
    await fake.script(calling(("bash", {"command": "echo two"})))
    await fake.say("Very well.")
    await tab.send("run it")
    line = said(tab.cards.first)
    await expect(line).to_contain_text("Wants to run")
    await expect(line).to_contain_text("Waiting for your answer")
    async with tab.turn():
        await tab.approval.get_by_role("button", name="Allow once").click()
        await expect(line).to_contain_text("Ran")
        await expect(said(tab.cards.nth(1))).to_contain_text("Wants to run")
        await tab.page.get_by_test_id("approval-deny").click()
        await tab.page.get_by_test_id("approval-deny-send").click()
    await expect(said(tab.cards.nth(1))).to_contain_text("Did not run")
    await expect(said(tab.cards.nth(1))).to_contain_text("Denied")
    await same_after_reload(tab, await open_page(tab.server))


def said(card: Locator) -> Locator:
    """A card's own line."""
    return card.get_by_role("button").first


async def test_the_details_of_an_answer_survive_a_reload_request_by_request(tab: Tab, fake: FakeApi) -> None:
    await fake.script(calling(("list", {"path": "."})))
    await fake.say("An empty room.")
    await tab.ask("look around")
    live = await details(tab)
    assert "Request 1" in live
    assert "Request 2" in live
    assert "fake" in live or "demo" in live
    await tab.page.reload()
    await expect(tab.answers).to_have_text(["An empty room."])
    assert await details(tab) == live


async def test_messages_written_while_offline_wait_below_everything_in_their_order(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:  # P5, P10
    server = await serve()
    tab = await open_page(server)
    await fake.say("One ", "two", {"text": " three", "hold": "rest"})
    await tab.send("count for me")
    await expect(tab.answers.last).to_have_text("One two")
    tab.expect_complaints(LOST)
    await server.kill()
    await fake.reset()
    await fake.say("First.")
    await fake.say("Second.")
    outgoing = tab.page.get_by_test_id("outgoing-message")
    await tab.send("then this")
    await tab.send("and that")
    await expect(outgoing).to_contain_text(["then this", "and that"])
    await expect(outgoing.get_by_test_id("sending-mark")).to_have_text(["Waiting to be sent"] * 2)
    await tab.page.wait_for_function(
        """() => {
             const last = (name) => [...document.querySelectorAll(`[data-testid=${name}]`)].at(-1);
             const [first] = document.querySelectorAll("[data-testid=outgoing-message]");
             return first.getBoundingClientRect().top >= last("answer").getBoundingClientRect().bottom;
           }"""
    )
    await server.start()
    await tab.wake()
    await expect(tab.answers).to_have_text(["One two", "First.", "Second."])
    await expect(tab.sent).to_contain_text(["count for me", "then this", "and that"])
    await expect(outgoing).to_have_count(0)
    await expect(tab.page.get_by_test_id("sending-mark")).to_have_count(0)
    await same_after_reload(tab)
