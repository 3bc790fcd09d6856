"""Tools that are there and cannot be used for now: what the panel says of them, in all tabs and both languages."""

import os
import signal

from playwright.async_api import expect

from tests.browser.conftest import OpenTab, Serve
from tests.support.fake import FakeApi
from tests.support.obstacles import AWAY, ONLY_LOOKS

CALLED = {"type": "tool_use", "name": "timetable", "input": {"harbour": "Kiel"}}


async def test_what_is_down_and_what_the_mode_refuses_is_shown_in_all_tabs_and_moves_no_tool(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:  # T12, C5, report 10, report 47
    server = await serve(program="tests.support.obstacles")
    english = await open_page(server)
    await fake.say("Hello.")
    await english.ask("hello")
    chinese = await open_page(server, f"/#/c/{await english.session_id()}", locale="zh-CN")
    for tab, refused in ((english, "refused by mode"), (chinese, "当前模式拒绝")):
        await tab.open_tools()
        await expect(tab.tool_line("timetable")).to_have_attribute("data-state", "on")
        await expect(tab.tool_line("bash")).to_have_attribute("data-state", "refused_by_mode")
        await expect(tab.tool_line("bash")).to_contain_text(refused)
        await expect(tab.tool_line("bash")).to_contain_text(ONLY_LOOKS)

    os.kill(server.pid, signal.SIGUSR1)
    for tab, down in ((english, "down"), (chinese, "离线")):
        await expect(tab.tool_line("timetable")).to_have_attribute("data-state", "down")
        await expect(tab.tool_line("timetable")).to_contain_text(down)
        await expect(tab.tool_line("timetable")).to_contain_text(AWAY)
        await expect(tab.page.get_by_test_id("tool-problems")).to_contain_text(AWAY)
    await english.audit()
    await english.page.keyboard.press("Escape")
    await fake.script({"blocks": [CALLED]})
    await fake.say("It is away.")
    await english.ask("when?")
    await expect(english.cards.last).to_have_attribute("data-status", "error")

    os.kill(server.pid, signal.SIGUSR2)
    await expect(chinese.tool_line("timetable")).to_have_attribute("data-state", "on")
    await expect(chinese.page.get_by_test_id("tool-problems")).to_have_count(0)
    await english.page.get_by_test_id("mode-picker").click()
    await english.page.get_by_role("menuitemradio", name="Auto").click()
    await expect(chinese.tool_line("bash")).to_have_attribute("data-state", "on")
    await fake.script({"blocks": [CALLED]})
    await fake.say("At noon.")
    await english.ask("and now?")
    await expect(english.cards.last).to_have_attribute("data-status", "ok")

    first, *later = [request["body"] for request in await fake.requests()]
    assert all(body["tools"] == first["tools"] for body in later)
    assert all(body["messages"][0] == first["messages"][0] for body in later)
