"""What a chat's directory says about tools, and what is wrong with it: in every tab at once, where a person looks."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab, Serve
from tests.support.browser import Tab
from tests.support.server import Server

PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
WAYS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone, Chinese": {**PHONE, "locale": "zh-CN"},
}


def project(folder: Path, text: str) -> str:
    """A directory whose project file says this."""
    (folder / ".openprogram").mkdir(parents=True)
    (folder / ".openprogram" / "project.toml").write_text(text, "utf-8")
    return str(folder)


async def test_all_tabs_show_what_another_directory_brings_at_once(
    tab: Tab, server: Server, open_page: OpenTab, tmp_path: Path
) -> None:  # T4, T8
    where = project(tmp_path / "shop", '[tools]\nweb_search = true\ndisabled = ["bash"]\n')
    await tab.ask("hello")
    other = await open_page(server, f"/#/c/{await tab.session_id()}")
    for each in (tab, other):
        await expect(each.chip).to_have_attribute("data-state", "off")
        await each.open_tools()
        await expect(each.tool_line("bash")).to_have_attribute("data-state", "on")
    async with server.client() as client:
        await client.send("set_workspace", session_id=await tab.session_id(), workspace=where)
        for each in (tab, other):
            await expect(each.chip).to_have_attribute("data-state", "on")
            await expect(each.tool_line("bash")).to_contain_text("set for the project")
        await client.send("set_workspace", session_id=await tab.session_id(), workspace=None)
        for each in (tab, other):
            await expect(each.chip).to_have_attribute("data-state", "off")
            await expect(each.tool_line("bash")).to_have_attribute("data-state", "on")


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_wrong_with_the_tools_is_said_at_the_top_of_the_panel(
    serve: Serve, open_page: OpenTab, tmp_path: Path, way: str
) -> None:  # T13
    gone = project(tmp_path / "gone", '[tools]\npicked = ["read", "no_such_tool"]\n')
    faulty = project(tmp_path / "faulty", '[tools]\ntoolset = "reserch"\n')
    server = await serve(config='[presets.audit]\nentries = ["@readonly"]\n')
    async with server.client() as client:
        session = (await client.send("create_session", workspace=gone))["session_id"]
        await client.send("chat", session_id=session, text="hello")
        tab = await open_page(server, f"/#/c/{session}", **WAYS[way])
        await tab.open_tools()
        problems = tab.page.get_by_test_id("tool-problems")
        await expect(problems).to_contain_text("no_such_tool")

        await client.send("set_workspace", session_id=session, workspace=faulty)
        await expect(problems).to_contain_text("there is no preset 'reserch'")
        await expect(problems).not_to_contain_text("no_such_tool")

        (server.home / "config.toml").write_text('[presets.audit]\nentries = ["@nothing"]\n')
        await expect(problems.locator('[data-source="config.toml"]')).to_contain_text("@nothing")
        await expect(problems).to_be_in_viewport()
        await tab.audit()

        (server.home / "config.toml").write_text('[presets.audit]\nentries = ["@readonly"]\n')
        await client.send("set_workspace", session_id=session, workspace=None)
        await expect(problems).to_have_count(0)
