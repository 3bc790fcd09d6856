"""Losing the server and the network in the middle of an answer."""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import expect

from tests.browser.conftest import OpenTab, Serve
from tests.support.browser import LOST, Tab
from tests.support.fake import FakeApi
from tests.support.proxy import Relay, relay


@pytest_asyncio.fixture(loop_scope="session")
async def network() -> AsyncIterator[Relay]:
    """What is between the browser and its server."""
    async with relay() as running:
        yield running


async def begin(tab: Tab, fake: FakeApi) -> None:
    """Have an answer stand in the middle: `One two` is shown, the rest waits at the hold `rest`."""
    await fake.say("One ", "two", {"text": " three", "hold": "rest"}, " four.")
    await tab.send("count for me")
    await fake.wait(held="rest")
    await expect(tab.answers.last).to_have_text("One two")


async def test_kill_9_in_mid_stream_loses_nothing_that_was_shown(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:
    server = await serve()
    tab = await open_page(server)
    await begin(tab, fake)
    tab.expect_complaints(LOST)
    await server.kill()
    await expect(tab.page.get_by_test_id("connection-pill")).to_contain_text("Reconnecting")
    await expect(tab.answers.last).to_have_text("One two")
    await server.start()
    await expect(tab.page.get_by_test_id("connection-pill")).to_have_count(0)
    await expect(tab.page.get_by_test_id("ending")).to_have_attribute("data-reason", "interrupted")
    await expect(tab.answers).to_have_text(["One two"])
    await tab.idle()
    await tab.page.reload()
    await expect(tab.answers).to_have_text(["One two"])
    await expect(tab.page.get_by_test_id("ending")).to_have_attribute("data-reason", "interrupted")

    await fake.say(" three four.")
    async with tab.turn():
        await tab.page.get_by_role("button", name="Continue").click()
    await expect(tab.answers).to_have_text(["One two", "three four."])
    await fake.say("Five.")
    await tab.ask("and then?")
    await expect(tab.answers.last).to_have_text("Five.")
    roles = [message["role"] for message in (await fake.requests())[-1]["body"]["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]


async def test_a_message_that_is_typed_while_the_server_is_away_is_sent_once(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:
    # report 28, P5
    server = await serve()
    tab = await open_page(server)
    await tab.ask("hello")
    tab.expect_complaints(LOST)
    await server.kill()
    await fake.reset()
    await fake.say("I was away.")
    await tab.send("are you there?")
    await expect(tab.page.get_by_test_id("outgoing-message")).to_contain_text("are you there?")
    async with tab.turn():
        await server.start()
    await expect(tab.sent).to_contain_text(["hello", "are you there?"])
    await expect(tab.page.get_by_test_id("outgoing-message")).to_have_count(0)
    await expect(tab.answers.last).to_have_text("I was away.")
    assert len(await fake.requests()) == 1


async def test_a_line_that_falls_silent_is_noticed_and_the_answer_goes_on(
    fake: FakeApi, serve: Serve, open_page: OpenTab, network: Relay
) -> None:
    # report 25: no FIN, the run finishes during the gap; the watchdog's 25 s pass on the page's own clock
    server = await serve("--allow-host", f"127.0.0.1:{network.port}")
    network.target, server.public_port = server.port, network.port
    tab = await open_page(server)
    await tab.page.clock.install()
    await begin(tab, fake)
    network.silence()
    await fake.release("rest")
    await fake.wait(finished=1)
    await expect(tab.answers.last).to_have_text("One two")
    before = network.connections
    await tab.page.clock.fast_forward(26_000)  # the watchdog
    await tab.page.clock.fast_forward(16_000)  # the longest wait before another attempt
    await expect(tab.answers).to_have_text(["One two three four."])
    await tab.idle()
    assert network.connections > before


async def test_a_tab_that_wakes_up_finds_a_dead_line_at_once(
    fake: FakeApi, serve: Serve, open_page: OpenTab, network: Relay
) -> None:
    # P10: after `online` and `visibilitychange` an answer to a ping has 3 s
    server = await serve("--allow-host", f"127.0.0.1:{network.port}")
    network.target, server.public_port = server.port, network.port
    tab = await open_page(server)
    await tab.page.clock.install()
    await begin(tab, fake)
    network.silence()
    await fake.release("rest")
    await tab.page.evaluate('dispatchEvent(new Event("online"))')
    await tab.page.clock.fast_forward(3_100)
    await tab.page.clock.fast_forward(1_000)
    await expect(tab.answers).to_have_text(["One two three four."])
    await tab.idle()


async def test_a_stop_that_nobody_hears_is_no_endless_spinner(
    fake: FakeApi, serve: Serve, open_page: OpenTab, network: Relay
) -> None:
    # report 25: what was asked over the dead line is done over the next one
    server = await serve("--allow-host", f"127.0.0.1:{network.port}")
    network.target, server.public_port = server.port, network.port
    tab = await open_page(server)
    await tab.page.clock.install()
    await begin(tab, fake)
    network.silence()
    await tab.stop_button.click()
    await tab.page.clock.fast_forward(26_000)
    await tab.page.clock.fast_forward(16_000)
    await tab.idle()
    await expect(tab.page.get_by_test_id("ending")).to_have_attribute("data-reason", "stopped")
    await fake.wait_closed()
