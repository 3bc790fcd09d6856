"""Every view passes the accessibility scan, in both themes: no serious and no critical finding."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab
from tests.support.fake import FakeApi
from tests.support.server import Server

THEMES = ("light", "dark")

MARKDOWN = "I look.\n\n```python\nprint(1)\n```\n\n| a | b |\n|---|---|\n| 1 | [x](https://example.com) |"


def everything(file: str) -> dict[str, Any]:
    """A step with every kind of block; it writes a new file."""

    def call(name: str, **arguments: str) -> dict[str, Any]:
        return {"type": "tool_use", "name": name, "input": arguments}

    return {
        "blocks": [
            {"type": "thinking", "text": "First I look."},
            {"type": "text", "text": MARKDOWN},
            call("list"),
            call("web_search", query="caches"),
            call("bash", command="echo hi; exit 3"),
            call("write", path=file, content="x = 1\n"),
        ]
    }


@pytest.mark.parametrize("theme", THEMES)
async def test_the_chat_has_no_serious_finding(fake: FakeApi, server: Server, open_page: OpenTab, theme: str) -> None:
    tab = await open_page(server, color_scheme=theme)
    await expect(tab.page.get_by_test_id("empty-state")).to_be_visible()
    await tab.audit()

    await tab.chip.click()
    await fake.script(everything(f"{theme}.py"))
    await fake.say("Nearly ", {"text": "there", "hold": "rest"})
    await tab.send("do it all")
    await expect(tab.page.get_by_test_id("approval-preview")).to_contain_text("exit 3")
    for number in range(4):
        await expect(tab.cards.nth(number)).to_be_visible()
    await tab.audit()
    await tab.page.keyboard.press("3")
    await expect(tab.page.get_by_test_id("approval-note")).to_be_focused()
    await tab.audit()
    await tab.page.get_by_role("button", name="Cancel").click()
    await tab.page.keyboard.press("1")
    await expect(tab.approval.get_by_test_id("diff")).to_be_visible()
    await tab.audit()
    await tab.page.keyboard.press("1")
    await fake.wait(held="rest")
    await tab.send("queued meanwhile")
    await expect(tab.page.get_by_test_id("queue-list")).to_be_visible()
    await tab.audit()
    await fake.script({"blocks": [], "fault": {"kind": "unauthorised"}})
    async with tab.turn():
        await fake.release("rest")
        await expect(tab.page.get_by_test_id("error-card")).to_be_visible()
    await tab.page.get_by_test_id("reasoning").get_by_role("button").click()
    for shown in await tab.cards.all():
        await shown.get_by_role("button").first.click()
    await tab.sent.last.hover()
    await tab.audit()


@pytest.mark.parametrize("theme", THEMES)
async def test_panels_and_dialogs_have_no_serious_finding(server: Server, open_page: OpenTab, theme: str) -> None:
    tab = await open_page(server, color_scheme=theme)
    page = tab.page
    await tab.ask("hello")
    await tab.open_tools()
    await tab.tool_line("bash").get_by_role("switch").click()
    await expect(tab.tool_line("bash")).to_contain_text("Switched off")
    await tab.audit()
    await page.keyboard.press("Escape")
    for menu in ("model-picker", "mode-picker"):
        await page.get_by_test_id(menu).click()
        await expect(page.get_by_role("menuitemradio").first).to_be_visible()
        await tab.audit()
        await page.keyboard.press("Escape")
    for opener, dialog in (("Settings", "settings-dialog"), ("Keyboard shortcuts", "keys-dialog")):
        await page.get_by_role("button", name=opener, exact=True).click()
        await expect(page.get_by_test_id(dialog)).to_be_visible()
        await tab.audit()
        await page.keyboard.press("Escape")
        await expect(page.get_by_test_id(dialog)).to_have_count(0)
    await page.get_by_role("button", name="Details").click()
    await expect(page.get_by_role("dialog", name="Details")).to_be_visible()
    await tab.audit()
    await page.keyboard.press("Escape")
    line = page.get_by_test_id("chat-line").first
    await line.hover()
    await line.get_by_role("button", name="Options").click()
    await expect(page.get_by_role("menuitem", name="Rename")).to_be_visible()
    await tab.audit()


@pytest.mark.parametrize("theme", THEMES)
async def test_a_phone_has_no_serious_finding(demo_server: Server, open_page: OpenTab, theme: str) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
    tab = await open_page(demo_server, color_scheme=theme, **phone)
    await tab.audit()
    await tab.page.get_by_test_id("show-sidebar").tap()
    await expect(tab.page.get_by_test_id("drawer")).to_be_visible()
    await tab.audit()
    await tab.page.keyboard.press("Escape")
    await tab.page.get_by_role("button", name="Connect a model").tap()
    await expect(tab.page.get_by_test_id("connect-dialog")).to_be_visible()
    await tab.audit()


async def test_what_happens_is_announced(fake: FakeApi, server: Server, open_page: OpenTab) -> None:
    tab = await open_page(server)
    announcer = tab.page.get_by_test_id("announcer")
    await tab.page.keyboard.press("Control+.")
    await expect(announcer).to_have_text("Web search on")
    await fake.script({"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "echo hi"}}]})
    await fake.say("Done ", {"text": "now.", "hold": "rest"})
    await tab.send("run it")
    await expect(announcer).to_have_text("Approval needed: echo hi")
    await tab.page.keyboard.press("1")
    await fake.wait(held="rest")
    async with tab.turn():
        await fake.release("rest")
    await expect(announcer).to_have_text("Answer finished")
    await expect(tab.transcript).to_have_attribute("aria-live", "off")  # tokens are not read out one by one
