"""Controls of a chat's beginnings: its directory, what new chats start with, consent that is taken back."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.browser.conftest import OpenTab, Serve
from tests.support.browser import Tab
from tests.support.fake import FakeApi
from tests.support.server import Server


async def choose_directory(tab: Tab, path: Path) -> None:
    """Open the panel of the directory and send this one."""
    await tab.page.get_by_test_id("workspace-button").click()
    await expect(tab.page.get_by_test_id("workspace-path")).to_be_focused()
    await tab.page.get_by_test_id("workspace-path").fill(str(path))
    await tab.page.keyboard.press("Enter")


async def newest(fake: FakeApi) -> str:
    """What the newest request says last."""
    return str((await fake.requests())[-1]["body"]["messages"][-1]["content"])


def directory(path: Path) -> Path:
    path.mkdir()
    return path


async def test_a_chat_works_in_the_directory_that_is_chosen_before_its_first_message_and_after_it(
    tab: Tab, fake: FakeApi, tmp_path: Path
) -> None:
    button = tab.page.get_by_test_id("workspace-button")
    await expect(button).to_have_accessible_name("Directory: workspace")
    await choose_directory(tab, directory(tmp_path / "first"))
    await expect(button).to_have_accessible_name("Directory: first")
    await expect(button).to_be_focused()
    await tab.page.reload()
    await expect(button).to_have_accessible_name("Directory: first")
    await tab.ask("hello")
    assert f"Working directory: {tmp_path}/first" in await newest(fake)

    await choose_directory(tab, directory(tmp_path / "second"))
    await expect(button).to_have_accessible_name("Directory: second")
    await tab.ask("hello again")
    assert f"Working directory: {tmp_path}/second" in await newest(fake)
    first, second = [request["body"] for request in await fake.requests()]
    assert second["messages"][0] == first["messages"][0]  # the system prompt names no directory (C12)
    await tab.page.reload()
    await expect(button).to_have_accessible_name("Directory: second")

    await button.click()
    await tab.page.get_by_test_id("workspace-default").click()
    await expect(button).to_have_accessible_name("Directory: workspace")


async def test_a_directory_that_is_a_typo_is_refused_where_it_was_typed_and_is_not_made(
    tab: Tab, tmp_path: Path
) -> None:
    await choose_directory(tab, tmp_path / "typo")
    panel = tab.page.get_by_test_id("workspace-panel")
    await expect(panel.get_by_role("alert")).to_have_text(
        f"there is no directory {tmp_path}/typo on the server: check the spelling, or make it first"
    )
    await expect(tab.page.get_by_test_id("workspace-path")).to_have_attribute("aria-invalid", "true")
    await tab.audit()
    assert not (tmp_path / "typo").exists()
    directory(tmp_path / "typo")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.get_by_test_id("workspace-button")).to_have_accessible_name("Directory: typo")


async def new_chat(tab: Tab) -> None:
    await tab.page.get_by_test_id("new-chat").click()
    await expect(tab.page.get_by_test_id("empty-state")).to_be_visible()


async def test_new_chats_start_with_this_chats_tools_once_that_is_said_until_it_is_reset(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:  # T7
    tab = await open_page(await serve(environment={"SEARXNG_URL": fake.base_url}))
    await tab.chip.click()
    await tab.open_tools()
    await tab.page.get_by_test_id("preset-safe").check()
    await expect(tab.tool_line("bash")).to_contain_text("Not in this preset · set in this chat")
    line = tab.page.get_by_test_id("new-chats-line")
    await expect(line).to_contain_text("New chats start with: The server's default")
    await tab.page.get_by_test_id("new-chats-use").click()
    await expect(line).to_contain_text("New chats start with these tools.")
    await expect(tab.page.get_by_test_id("new-chats-use")).to_be_disabled()
    await tab.audit()
    await tab.page.keyboard.press("Escape")
    await tab.ask("hello")

    await new_chat(tab)
    await expect(tab.chip).to_have_attribute("data-state", "on")
    await tab.open_tools()
    await expect(tab.page.get_by_test_id("preset-safe")).to_be_checked()
    await tab.page.get_by_test_id("preset-full").check()
    await expect(line).to_contain_text("New chats start with: preset Safe · web search")
    await tab.page.get_by_test_id("new-chats-reset").click()
    await expect(line).to_contain_text("New chats start with: The server's default")
    await tab.page.keyboard.press("Escape")
    await tab.ask("hello")

    await new_chat(tab)
    await expect(tab.chip).to_have_attribute("data-state", "off")
    await expect(tab.page.get_by_test_id("tools-button")).to_have_accessible_name("Tools")


async def open_settings(tab: Tab) -> Locator:
    await tab.page.get_by_test_id("settings-button").click()
    dialog = tab.page.get_by_test_id("settings-dialog")
    await expect(dialog).to_be_visible()
    return dialog


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_the_settings_say_what_new_chats_start_with(
    fake: FakeApi, serve: Serve, open_page: OpenTab, theme: str
) -> None:  # T7
    server = await serve(environment={"SEARXNG_URL": fake.base_url})
    tab = await open_page(server, color_scheme=theme)
    dialog = await open_settings(tab)
    await dialog.get_by_test_id("new-chats-mode").select_option("fixed")
    await dialog.get_by_test_id("new-chats-search").select_option("true")
    await dialog.get_by_test_id("new-chats-preset").select_option("coding")
    await tab.audit()
    await tab.page.keyboard.press("Escape")
    await tab.ask("a chat that was there before keeps its own")
    await expect(tab.chip).to_have_attribute("data-state", "off")

    await new_chat(tab)
    await expect(tab.chip).to_have_attribute("data-state", "on")
    await expect(tab.page.get_by_test_id("tools-button")).to_have_accessible_name("Tools: coding")
    async with server.client() as client:
        stored = (await client.send("get_settings"))["settings"]["new_chats"]
    assert stored == {"mode": "fixed", "intent": {"web_search": True, "toolset": "coding"}}

    dialog = await open_settings(tab)
    await dialog.get_by_test_id("new-chats-search").select_option("null")
    await dialog.get_by_test_id("new-chats-enabled").select_option("false")
    await dialog.get_by_test_id("new-chats-mode").select_option("follow_profile")
    await expect(dialog.get_by_test_id("new-chats-search")).to_have_count(0)


async def test_consent_to_search_without_a_key_is_taken_back_and_the_chip_says_so_at_once(
    fake: FakeApi, serve: Serve, open_page: OpenTab
) -> None:
    tab = await open_page(await serve())
    await tab.chip.click()
    await expect(tab.chip).to_have_attribute("data-state", "unavailable")
    await tab.chip.click()
    await tab.page.get_by_test_id("consent-allow").click()
    await expect(tab.chip).to_have_attribute("data-state", "on")

    dialog = await open_settings(tab)
    consent = dialog.get_by_test_id("keyless-consent")
    await expect(consent).to_have_attribute("aria-checked", "true")
    await consent.focus()
    await tab.page.keyboard.press("Space")
    await expect(consent).to_have_attribute("aria-checked", "false")
    await tab.audit()
    await tab.page.keyboard.press("Escape")
    await expect(tab.chip).to_have_attribute("data-state", "unavailable")
    await tab.chip.click()
    await expect(tab.page.get_by_test_id("consent-allow")).to_be_visible()  # and can be given again


async def test_a_preset_that_is_chosen_puts_a_hand_picked_list_aside_and_says_so(tab: Tab, server: Server) -> None:
    await tab.ask("hello")
    session = await tab.session_id()
    async with server.client() as client:
        await client.send("set_tools_profile", session_id=session, toolset="full")
        await client.send("pick_tools", session_id=session, tools=["read"])
        await tab.open_tools()
        await expect(tab.tool_line("bash")).to_contain_text("Not in the hand-picked list · set in this chat")
        for name in ("full", "follow"):
            await expect(tab.page.get_by_test_id(f"preset-{name}")).not_to_be_checked()
        await tab.keep_offers()
        await tab.page.get_by_test_id("preset-full").check()
        await expect(tab.tool_line("bash")).to_have_attribute("data-state", "on")
        toasts = tab.page.get_by_test_id("toasts")
        await expect(toasts).to_contain_text("The preset is in force; the hand-picked list was put aside.")
        await tab.page.keyboard.press("Escape")
        await toasts.get_by_role("button", name="Undo").click()
        await tab.open_tools()
        await expect(tab.tool_line("bash")).to_contain_text("Not in the hand-picked list")
        await expect(tab.tool_line("read")).to_have_attribute("data-state", "on")


PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}


async def test_the_controls_work_in_chinese_on_a_phone(server: Server, open_page: OpenTab, tmp_path: Path) -> None:
    tab = await open_page(server, **PHONE, locale="zh-CN")
    page = tab.page
    await page.get_by_test_id("workspace-button").tap()
    await page.get_by_test_id("workspace-path").fill(str(tmp_path / "typo"))
    await page.get_by_role("button", name="在此工作").tap()
    await expect(page.get_by_test_id("workspace-panel").get_by_role("alert")).to_contain_text(f"{tmp_path}/typo")
    await tab.audit()
    await page.keyboard.press("Escape")
    await page.get_by_test_id("tools-button").tap()
    await expect(page.get_by_role("button", name="新对话也使用此对话的工具")).to_be_visible()
    await page.get_by_test_id("preset-new").tap()
    await expect(page.get_by_role("heading", name="新建预设")).to_be_visible()
    await tab.audit()
