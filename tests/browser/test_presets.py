"""Presets of the user's own: made, changed and deleted in the tools panel; and those of the file."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab, Serve
from tests.support.browser import Tab
from tests.support.fake import FakeApi
from tests.support.server import Server


async def make(tab: Tab, title: str, *entries: str, include: str | None = None) -> None:
    """Make a preset in the open tools panel; an entry with `-` in front is left out."""
    page = tab.page
    await page.get_by_test_id("preset-new").click()
    await expect(page.get_by_test_id("preset-name")).to_be_focused()
    await page.keyboard.type(title)
    if include is not None:
        await page.get_by_test_id(f"preset-include-{include}").check()
    for entry in entries:
        await page.get_by_test_id("preset-entry").fill(entry.removeprefix("-"))
        await page.get_by_role("button", name="Leave out" if entry.startswith("-") else "Add", exact=True).click()
    await page.get_by_test_id("preset-save").click()


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_a_preset_is_made_chosen_changed_and_deleted(
    fake: FakeApi, serve: Serve, open_page: OpenTab, theme: str
) -> None:
    server = await serve()
    tab = await open_page(server, color_scheme=theme)
    other = await open_page(server)
    await tab.open_tools()
    await make(tab, "My Look", "-l*", "web_fetch", include="safe")
    await tab.page.get_by_test_id("preset-my-look").check()
    await expect(tab.tool_line("read")).to_have_attribute("data-state", "on")
    await expect(tab.tool_line("web_fetch")).to_have_attribute("data-state", "on")
    await expect(tab.tool_line("list")).to_contain_text("Not in this preset")
    await other.open_tools()
    await expect(other.page.get_by_test_id("preset-my-look")).to_be_visible()
    await other.page.keyboard.press("Escape")
    await other.page.close()

    await tab.page.get_by_test_id("preset-edit-my-look").click()
    await expect(tab.page.get_by_test_id("preset-include-safe")).to_be_checked()
    entries = tab.page.get_by_test_id("preset-entries").get_by_role("listitem")
    await expect(entries).to_contain_text(["leaves out l*", "adds web_fetch"])
    await tab.audit()
    await tab.page.get_by_role("button", name="Add or leave out l*").click()
    await expect(entries).to_contain_text(["adds l*", "adds web_fetch"])
    await tab.page.get_by_role("button", name="Remove web_fetch").click()
    await tab.page.get_by_test_id("preset-save").click()
    await expect(tab.tool_line("list")).to_have_attribute("data-state", "on")
    await expect(tab.tool_line("web_fetch")).to_contain_text("Not in this preset")

    await tab.page.get_by_test_id("preset-edit-my-look").click()
    await expect(tab.page.get_by_role("heading", name="Edit preset")).to_be_in_viewport(ratio=1)
    await tab.page.keyboard.press("Escape")  # back to the tools, and not out of them
    await expect(tab.page.get_by_test_id("tools-count")).to_be_visible()
    await tab.page.get_by_test_id("preset-edit-my-look").click()
    await tab.keep_offers()
    await tab.page.get_by_test_id("preset-delete").click()
    await expect(tab.tools_panel.get_by_role("alert")).to_contain_text("there is no preset 'my-look'")
    await expect(tab.page.get_by_test_id("tools-button")).to_have_accessible_name("Tools: my-look")
    await tab.page.keyboard.press("Escape")
    await tab.page.get_by_test_id("toasts").get_by_role("button", name="Undo").click()
    await tab.open_tools()
    await expect(tab.page.get_by_test_id("preset-my-look")).to_be_checked()
    await expect(tab.tool_line("list")).to_have_attribute("data-state", "on")


async def test_what_cannot_be_a_preset_is_said_in_the_editor_and_nothing_is_lost(tab: Tab) -> None:
    await tab.open_tools()
    await make(tab, "Odd", "@nothing")
    editor = tab.page.get_by_test_id("preset-editor")
    await expect(editor.get_by_role("alert")).to_contain_text("there is no attribute '@nothing'")
    await expect(tab.page.get_by_test_id("preset-name")).to_have_value("Odd")
    await editor.get_by_role("button", name="Cancel").click()
    await expect(tab.page.get_by_test_id("preset-odd")).to_have_count(0)


async def test_a_preset_of_the_file_can_be_chosen_and_follows_the_file(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:  # T5
    server: Server = await serve()
    config = server.home / "config.toml"
    tab = await open_page(server)
    await tab.open_tools()
    config.write_text('[presets.audit]\ntitle = "Audit"\nentries = ["read"]\n')
    await tab.page.get_by_test_id("preset-audit").check()
    await expect(tab.page.get_by_test_id("preset-edit-audit")).to_have_count(0)
    await expect(tab.tool_line("grep")).to_contain_text("Not in this preset")
    config.write_text('[presets.audit]\ntitle = "Audit"\nentries = ["read", "grep"]\n')
    await expect(tab.tool_line("grep")).to_have_attribute("data-state", "on")
    config.unlink()
    await expect(tab.tools_panel.get_by_role("alert")).to_contain_text("there is no preset 'audit'")


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"blocks": [{"type": "tool_use", "name": name, "input": arguments}]}


async def test_an_approval_says_what_stays_in_the_background_and_a_grant_for_it_is_its_own(
    tab: Tab, fake: FakeApi
) -> None:  # R17
    await fake.script(call("bash", command="echo hi"))
    await fake.say("Done.")
    await tab.send("run it")
    await expect(tab.approval.get_by_role("heading")).to_have_text("Run this command?")
    await expect(tab.approval).to_contain_text(f"In {tab.server.workspace}")
    async with tab.turn():
        await tab.page.keyboard.press("2")

    await fake.script(call("bash", command="echo hi", background=True, timeout=300))
    await fake.say("Done.")
    await tab.send("run it in the background")
    await expect(tab.approval.get_by_role("heading")).to_have_text("Run this command in the background?")
    await expect(tab.approval).to_contain_text("It goes on running when the answer is over")
    await expect(tab.page.get_by_test_id("approval-preview")).to_contain_text("# background: true")
    await expect(tab.page.get_by_test_id("approval-preview")).to_contain_text("# timeout: 300")
    await expect(tab.approval).to_contain_text("For this chat allows: this command in the background")
    await tab.audit()
    async with tab.turn():
        await tab.page.keyboard.press("1")


async def test_a_long_change_says_how_much_is_not_shown_and_shows_the_whole_call(tab: Tab, fake: FakeApi) -> None:
    content = "".join(f"line {number} of a long file\n" for number in range(9_000))
    await fake.script(call("write", path="long.txt", content=content))
    await fake.say("Done.")
    await tab.send("write it")
    left_out = tab.page.get_by_test_id("approval-left-out")
    await expect(left_out).to_contain_text("more lines of this change are not shown.")
    await left_out.get_by_role("button", name="Show the whole call").click()
    shown = tab.page.get_by_test_id("approval-argument")
    await expect(shown).to_have_count(2)
    assert await shown.all_text_contents() == ["long.txt", content]
    async with tab.turn():
        await tab.page.keyboard.press("1")
    assert (tab.server.workspace / "long.txt").read_text() == content
