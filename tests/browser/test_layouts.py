"""Small screens, both themes, large type, another language."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenTab
from tests.support.browser import Tab
from tests.support.fake import FakeApi
from tests.support.server import Server

PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
ZOOMED: dict[str, Any] = {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2}
"""A window of 1280x800 at 200 %."""

LONG = "a-very-long-word-without-any-space-" * 8


async def fits(tab: Tab) -> None:
    """Fail if anything is wider than the window."""
    await tab.painted()
    wide: list[str] = await tab.page.evaluate(
        """() => {
          const clipped = (one) => {
            for (let at = one.parentElement; at; at = at.parentElement) {
              const flow = getComputedStyle(at).overflowX;
              if (flow !== "visible" && at.getBoundingClientRect().right <= innerWidth + 1) return true;
            }
            return false;
          };
          const page = document.scrollingElement.scrollWidth > innerWidth ? ["the page"] : [];
          const log = document.querySelector("[role=log]");
          if (log !== null && log.scrollWidth > log.clientWidth) page.push("the conversation");
          return page.concat([...document.querySelectorAll("body *")]
            .filter((one) => one.getBoundingClientRect().width > 0 && !one.closest(".sr-only, .skip"))
            .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !clipped(one))
            .map((one) => one.outerHTML.slice(0, 120)));
        }"""
    )
    assert wide == []


async def fill(tab: Tab, fake: FakeApi) -> None:
    """A chat with everything that is wide: the long Markdown answer, a command with long output, an approval."""
    command = f"echo {LONG}"
    await tab.ask("write a long markdown answer")
    await fake.script({"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": command}}]})
    await tab.send(f"run {LONG}")
    await expect(tab.approval).to_be_visible()


@pytest.mark.parametrize("options", [PHONE, ZOOMED], ids=["phone", "zoomed"])
async def test_nothing_is_wider_than_a_small_window(
    fake: FakeApi, server: Server, open_page: OpenTab, options: dict[str, Any]
) -> None:
    tab = await open_page(server, **options)
    await fits(tab)
    await fill(tab, fake)
    await fits(tab)
    await expect(tab.page.get_by_test_id("approval-once")).to_be_in_viewport(ratio=1)
    await expect(tab.box).to_be_in_viewport(ratio=1)
    async with tab.turn():
        await tab.page.get_by_test_id("approval-once").click()
    await tab.cards.last.get_by_role("button").first.click()
    await expect(tab.cards.last.get_by_role("region", name="Output")).to_be_visible()
    await fits(tab)
    await tab.transcript.evaluate("(log) => (log.scrollTop = 600)")
    await fits(tab)
    await tab.open_tools()
    await fits(tab)
    await tab.page.keyboard.press("Escape")
    await tab.page.get_by_test_id("model-picker").click()
    await fits(tab)


async def test_a_phone_has_the_chats_in_a_drawer(server: Server, open_page: OpenTab) -> None:
    tab = await open_page(server, **PHONE)
    await expect(tab.page.get_by_test_id("sidebar")).to_have_count(0)
    await tab.ask("first on the phone")
    await tab.page.get_by_role("button", name="New chat").tap()
    await expect(tab.page.get_by_test_id("empty-state")).to_be_visible()
    await tab.ask("second on the phone")

    await tab.page.get_by_test_id("show-sidebar").tap()
    drawer = tab.page.get_by_test_id("drawer")
    await expect(drawer).to_be_visible()
    await fits(tab)
    await drawer.get_by_role("link", name="first on the phone").tap()
    await expect(drawer).to_have_count(0)
    await expect(tab.page.get_by_test_id("chat-title")).to_contain_text("first on the phone")
    await expect(tab.answers).to_have_count(1)

    await tab.page.get_by_test_id("show-sidebar").tap()
    await expect(drawer).to_be_visible()
    await tab.page.touchscreen.tap(350, 400)  # beside it
    await expect(drawer).to_have_count(0)


async def test_what_a_finger_hits_is_large_enough(server: Server, open_page: OpenTab) -> None:
    tab = await open_page(server, **PHONE)
    await tab.ask("hello")
    small: list[str] = await tab.page.evaluate(
        """() => [...document.querySelectorAll("button, a, input, textarea")]
             .filter((one) => one.checkVisibility() && !one.closest(".sr-only, .skip, .md"))
             .filter((one) => { const box = one.getBoundingClientRect(); return box.width < 36 || box.height < 36; })
             .map((one) => one.outerHTML.slice(0, 160))"""
    )
    assert small == []


async def test_a_theme_is_kept_and_there_from_the_first_paint(tab: Tab) -> None:
    page = tab.page
    theme = "document.documentElement.dataset.theme"
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    assert await page.evaluate(theme) == "light"
    light = await page.evaluate(ground)
    await page.get_by_test_id("settings-button").click()
    await page.get_by_text("Dark", exact=True).click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await page.keyboard.press("Escape")
    await page.wait_for_function(f"light => {ground} !== light", arg=light)
    await page.add_init_script(
        """document.addEventListener("DOMContentLoaded", () => (window.early = document.documentElement.dataset.theme));
           new MutationObserver((_, watch) => {
             if (document.body) { window.atBody = document.documentElement.dataset.theme; watch.disconnect(); }
           }).observe(document, { childList: true, subtree: true });"""
    )
    await page.reload()
    await expect(tab.box).to_be_visible()
    assert await page.evaluate("window.atBody") == "dark"

    await page.get_by_test_id("settings-button").click()
    await page.get_by_text("System", exact=True).click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "light")
    await page.emulate_media(color_scheme="dark")
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")


async def test_the_browsers_language_is_spoken(server: Server, fake: FakeApi, open_page: OpenTab) -> None:
    tab = await open_page(server, locale="zh-CN")
    await expect(tab.page.locator("html")).to_have_attribute("lang", "zh-CN")
    await expect(tab.page.get_by_test_id("empty-state")).to_be_visible()
    box = tab.page.get_by_role("textbox", name="消息", exact=True)
    await box.fill("列出文件")
    await box.press("Enter")
    await expect(tab.cards).to_have_attribute("data-status", "ok")
    await expect(tab.answers.last).to_contain_text("返回了")
    await expect(tab.send_button).to_have_accessible_name("发送")
    words: str = await tab.page.locator("body").inner_text()
    left = [word for word in ("Tools", "Search", "Send", "Settings", "Today", "Ask") if word in words]
    assert left == []

    await tab.page.get_by_test_id("settings-button").click()
    await tab.page.get_by_test_id("language").select_option("en")
    await tab.page.keyboard.press("Escape")
    await expect(tab.box).to_be_visible()


async def test_shown_text_stays_when_the_sidebar_the_looks_or_the_language_change(tab: Tab, fake: FakeApi) -> None:
    await tab.ask("write a long markdown answer")
    await expect(tab.answers.last).to_contain_text("That was all of it.")
    shown = await tab.answers.last.inner_text()
    page = tab.page
    await page.keyboard.press("Control+k")
    await expect(page.get_by_test_id("chat-search")).to_be_focused()
    assert await tab.answers.last.inner_text() == shown

    await page.get_by_test_id("settings-button").click()
    await page.get_by_text("Dark", exact=True).click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert await tab.answers.last.inner_text() == shown

    await page.get_by_test_id("language").select_option("zh")
    await expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    await expect(tab.answers.last).to_contain_text("复制")  # what the view itself says follows
    await expect(tab.answers.last).to_contain_text("That was all of it.")


async def test_an_input_method_keeps_its_enter(tab: Tab) -> None:
    # Enter chooses a candidate while composing; it sends nothing
    await tab.box.focus()
    session = await tab.page.context.new_cdp_session(tab.page)
    await session.send("Input.imeSetComposition", {"text": "ni", "selectionStart": 2, "selectionEnd": 2})
    await tab.box.evaluate(
        """(box) => {
             const enter = { key: "Enter", isComposing: true, bubbles: true, cancelable: true };
             box.dispatchEvent(new KeyboardEvent("keydown", enter));
           }"""
    )
    await session.send("Input.insertText", {"text": "你"})
    await expect(tab.box).to_have_value("你")
    await expect(tab.sent).to_have_count(0)
    await expect(tab.page.get_by_test_id("outgoing-message")).to_have_count(0)
