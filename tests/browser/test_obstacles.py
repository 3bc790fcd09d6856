"""Tools that are there and cannot be used for now: what the panel says of them, in all tabs and both languages."""

import os
import signal

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab, Serve
from tests.support.fake import FakeApi
from tests.support.obstacles import AWAY, ONLY_LOOKS

PROGRAM = "tests.support.obstacles"
WORDS = {
    "en-US": {"down": "down", "refused": "refused by mode", "mode": "Auto"},
    "zh-CN": {"down": "离线", "refused": "当前模式拒绝", "mode": "自动"},
}


@pytest.mark.parametrize("locale", WORDS)
async def test_what_is_down_and_what_the_mode_refuses_is_shown_in_all_tabs_and_moves_no_tool(
    fake: FakeApi, serve: Serve, open_page: OpenTab, locale: str
) -> None:  # T12, C5, report 10, report 47
    words = WORDS[locale]
    server = await serve(program=PROGRAM)
    tab = await open_page(server, locale=locale)
    box = tab.page.get_by_test_id("message-box")
    await fake.say("Hello.")
    async with tab.turn():
        await box.fill("hello")
        await box.press("Enter")
    other = await open_page(server, f"/#/c/{await tab.session_id()}")
    for each in (tab, other):
        await each.open_tools()
        await expect(each.tool_line("timetable")).to_have_attribute("data-state", "on")
        await expect(each.tool_line("bash")).to_have_attribute("data-state", "refused_by_mode")
        await expect(each.tool_line("bash")).to_contain_text(words["refused"])
        await expect(each.tool_line("bash")).to_contain_text(ONLY_LOOKS)

    os.kill(server.pid, signal.SIGUSR1)
    for each in (tab, other):
        await expect(each.tool_line("timetable")).to_have_attribute("data-state", "down")
        await expect(each.tool_line("timetable")).to_contain_text(words["down"])
        await expect(each.tool_line("timetable")).to_contain_text(AWAY)
        await expect(each.page.get_by_test_id("tool-problems")).to_contain_text(AWAY)
    await tab.audit()
    await tab.page.keyboard.press("Escape")

    called = {"type": "tool_use", "name": "timetable", "input": {"harbour": "Kiel"}}
    await fake.script({"blocks": [called]})
    await fake.say("It is away.")
    async with tab.turn():
        await box.fill("when?")
        await box.press("Enter")
    await expect(tab.cards.last).to_have_attribute("data-status", "error")

    os.kill(server.pid, signal.SIGUSR2)
    await expect(other.tool_line("timetable")).to_have_attribute("data-state", "on")
    await expect(other.page.get_by_test_id("tool-problems")).to_have_count(0)
    await tab.page.get_by_test_id("mode-picker").click()
    await tab.page.get_by_role("menuitemradio", name=words["mode"]).click()
    await expect(other.tool_line("bash")).to_have_attribute("data-state", "on")

    await fake.script({"blocks": [called]})
    await fake.say("At noon.")
    async with tab.turn():
        await box.fill("and now?")
        await box.press("Enter")
    await expect(tab.cards.last).to_have_attribute("data-status", "ok")
    first, *later = [request["body"] for request in await fake.requests()]
    assert all(body["tools"] == first["tools"] for body in later)
    assert all(body["messages"][0] == first["messages"][0] for body in later)
