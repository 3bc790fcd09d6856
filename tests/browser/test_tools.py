"""The tools panel: presets, single switches and their reasons; the model picker."""

import sqlite3
from contextlib import closing

from playwright.async_api import expect

from tests.browser.conftest import OpenTab, Serve
from tests.support.browser import Tab
from tests.support.fake import FakeApi
from tests.support.server import Server


async def test_a_preset_takes_away_with_a_reason_and_moves_no_tool(tab: Tab, fake: FakeApi) -> None:
    await tab.ask("before")
    await tab.open_tools()
    await tab.page.get_by_test_id("preset-research").check()
    await expect(tab.tool_line("bash")).to_have_attribute("data-state", "off")
    await expect(tab.tool_line("bash")).to_contain_text("Not in this preset")
    await expect(tab.tool_line("read")).to_have_attribute("data-state", "on")
    await tab.page.keyboard.press("Escape")
    await expect(tab.page.get_by_test_id("tools-button")).to_have_accessible_name("Tools: research")

    await tab.page.reload()
    await tab.open_tools()
    await expect(tab.page.get_by_test_id("preset-research")).to_be_checked()
    await tab.page.keyboard.press("Escape")

    await fake.script({"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "echo no"}}]})
    await fake.say("So be it.")
    await tab.ask("after")
    await expect(tab.cards).to_have_attribute("data-status", "denied")
    first, *later = [request["body"]["tools"] for request in await fake.requests()]
    assert all(tools == first for tools in later)


async def test_one_tool_switched_off_is_refused_and_says_so(tab: Tab, fake: FakeApi) -> None:
    # T12
    await tab.open_tools()
    line = tab.tool_line("list")
    await line.get_by_role("switch").click()
    await expect(line).to_have_attribute("data-state", "off")
    await expect(line).to_contain_text("Switched off")
    await tab.page.get_by_role("searchbox", name="Filter tools").fill("list")
    await expect(tab.tools_panel.get_by_test_id("tool-line").first).to_have_attribute("data-tool", "list")
    await tab.page.keyboard.press("Escape")  # empties the field, as in any browser
    await tab.page.keyboard.press("Escape")

    await fake.script({"blocks": [{"type": "tool_use", "name": "list", "input": {}}]})
    await fake.say("So be it.")
    await tab.ask("list it")
    await expect(tab.cards).to_have_attribute("data-status", "denied")

    await tab.open_tools()
    await line.get_by_role("switch").click()
    await expect(line).to_have_attribute("data-state", "on")
    await tab.page.keyboard.press("Escape")
    await fake.script({"blocks": [{"type": "tool_use", "name": "list", "input": {}}]})
    await fake.say("There it is.")
    await tab.ask("list it again")
    await expect(tab.cards.last).to_have_attribute("data-status", "ok")


async def test_what_the_filter_finds_is_in_sight(tab: Tab) -> None:
    await tab.open_tools()
    await tab.page.get_by_role("searchbox", name="Filter tools").fill("apply")
    await expect(tab.tool_line("apply_patch")).to_be_in_viewport(ratio=1)


async def test_the_master_switch_leaves_only_the_chip(tab: Tab, fake: FakeApi) -> None:
    # T1: off means off; the chip adds its one tool whatever else is off
    await tab.chip.click()
    await tab.open_tools()
    await tab.page.get_by_test_id("tools-enabled").click()
    await expect(tab.tool_line("read")).to_contain_text("Tools are off")
    await expect(tab.tool_line("web_search")).to_have_attribute("data-state", "on")
    await tab.page.keyboard.press("Escape")
    await expect(tab.chip).to_have_attribute("data-state", "on")
    await tab.ask("hello")
    names = [tool["function"]["name"] for tool in (await fake.requests())[0]["body"]["tools"]]
    assert names == ["web_search"]


async def test_a_tab_shows_a_switch_that_another_one_made(tab: Tab, server: Server, open_page: OpenTab) -> None:
    await tab.ask("hello")
    other = await open_page(server, f"/#/c/{await tab.session_id()}")
    for each in (tab, other):
        await each.open_tools()
    await tab.tool_line("bash").get_by_role("switch").click()
    await expect(other.tool_line("bash")).to_contain_text("Switched off")
    await tab.page.get_by_test_id("preset-safe").check()
    await expect(other.page.get_by_test_id("preset-safe")).to_be_checked()


async def test_a_preset_that_is_gone_is_an_error_and_not_a_chat_without_tools(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:
    # report 47, law 6
    server = await serve()
    async with server.client() as client:
        session = (await client.send("create_session"))["session_id"]
        await client.send("set_tools_profile", session_id=session, toolset="research")
    await server.stop()
    with closing(sqlite3.connect(server.database)) as database, database:
        database.execute("UPDATE session_config SET toolset = 'yesterdays'")
    await server.start()

    tab = await open_page(server, f"/#/c/{session}")
    await tab.page.get_by_test_id("tools-button").click()
    await expect(tab.tools_panel.get_by_role("alert")).to_contain_text("yesterdays")
    await tab.page.keyboard.press("Escape")
    await tab.send("hello")
    await expect(tab.page.get_by_test_id("error-card")).to_contain_text("yesterdays")
    assert await fake.requests() == []

    await tab.page.get_by_test_id("tools-button").click()
    await tab.page.get_by_test_id("preset-full").check()
    await expect(tab.tools_panel.get_by_role("alert")).to_have_count(0)
    await tab.page.keyboard.press("Escape")
    await tab.ask("hello again")
    assert len((await fake.requests())[-1]["body"]["tools"]) > 1


async def test_the_chosen_model_answers_and_stays_chosen(fake: FakeApi, serve: Serve, open_page: OpenTab) -> None:
    await fake.list_models("demo", "demo-other")
    tab = await open_page(await serve())
    picker = tab.page.get_by_test_id("model-picker")
    await expect(picker).to_have_accessible_name("Model: demo")
    await tab.ask("one")
    await picker.click()
    await tab.page.get_by_role("menuitemradio", name="demo-other").click()
    await expect(picker).to_have_accessible_name("Model: demo-other")
    await expect(picker).to_be_focused()
    await tab.ask("two")
    await tab.page.reload()
    await expect(picker).to_have_accessible_name("Model: demo-other")
    assert [request["body"]["model"] for request in await fake.requests()] == ["demo", "demo-other"]
