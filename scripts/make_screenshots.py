"""Make the pictures in docs/images with the demo model in a real browser. Run by scripts/screenshots."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

from PIL import Image
from playwright.async_api import Browser, Locator, expect

from tests.support.browser import Tab, chromium, open_context, open_tab
from tests.support.server import Server, running_server
from tests.support.tree import ROOT

IMAGES: Final = ROOT / "docs/images"
PROJECT: Final = Path(tempfile.gettempdir()) / "bakery"
"""The directory that the chats work in. Its path is in the pictures."""

WINDOW: Final[dict[str, Any]] = {"viewport": {"width": 1240, "height": 880}, "device_scale_factor": 2}
PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}

FILES: Final = {
    "README.md": "# Bakery\n\nCounts loaves.\n\nRun the tests: `make test`\n",
    "bakery.py": "def loaves(flour_g: int) -> int:\n    # How many loaves flour gives.\n    return flour_g // 500\n",
    "Makefile": "test:\n\t@python3 -m unittest 2>/dev/null && echo 1 test passed\n",
    "test_bakery.py": (
        "import unittest\n\nfrom bakery import loaves\n\n\nclass Loaves(unittest.TestCase):\n"
        "    def test_rests_are_no_loaf(self) -> None:\n        self.assertEqual(loaves(1999), 3)\n"
    ),
}
OTHERS: Final = ("Make a plan for the spring menu", "Think hard about sourdough", "Read README.md")
"""Chats for the sidebar, oldest first."""


async def main() -> None:
    """Write every picture anew."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    PROJECT.mkdir(exist_ok=True)
    for name, text in FILES.items():
        (PROJECT / name).write_text(text)
    config = f'[chat]\nworkspace = "{PROJECT}"\n'
    try:
        with tempfile.TemporaryDirectory() as directory:
            async with running_server(Path(directory), config=config) as server, chromium() as browser:
                await hold_other_chats(server)
                chat = await picture_the_chat(browser, server)
                await picture_it_dark(browser, server, chat)
                await picture_a_phone(browser, server, chat)
                await picture_the_tools(browser, server, chat)
    finally:
        shutil.rmtree(PROJECT)


async def hold_other_chats(server: Server) -> None:
    """Fill the sidebar."""
    async with server.client() as client:
        for text in OTHERS:
            session = (await client.send("chat", session_id=None, text=text))["session_id"]
            await client.subscribe(session)
            await client.event("turn_finished", session)


async def picture_the_chat(browser: Browser, server: Server) -> str:
    """`chat.png` and, on the way, `approval.png`. Returns the address of the chat."""
    tab = await open_tab(await open_context(browser, **WINDOW), server)
    await tab.chip.click()
    await expect(tab.chip).to_have_attribute("data-state", "on")
    await tab.ask("List the files here")
    await tab.send("Run `make test`")
    await expect(tab.approval).to_be_visible()
    await save(tab, "approval")
    async with tab.turn():
        await tab.page.get_by_test_id("approval-once").click()
    await tab.cards.last.get_by_role("button").first.click()
    await expect(tab.cards.last.get_by_role("region", name="Output")).to_be_visible()
    await scroll_to(tab.cards.first)
    await save(tab, "chat")
    return f"/#/c/{await tab.session_id()}"


async def picture_it_dark(browser: Browser, server: Server, chat: str) -> None:
    """`chat-dark.png`: the same chat after a search."""
    tab = await open_tab(await open_context(browser, color_scheme="dark", **WINDOW), server, chat)
    await tab.ask("Search the web for sourdough hydration")
    await tab.cards.last.get_by_role("button").first.click()
    await expect(tab.page.get_by_test_id("sources")).to_be_visible()
    await scroll_to(tab.cards.last)
    await save(tab, "chat-dark")


async def picture_a_phone(browser: Browser, server: Server, chat: str) -> None:
    """`phone.png`: the same chat, a diff waiting for its answer."""
    tab = await open_tab(await open_context(browser, **PHONE), server, chat)
    await tab.send("Replace 500 with 450 in bakery.py")
    await expect(tab.approval.get_by_test_id("diff")).to_be_visible()
    await save(tab, "phone")
    await tab.stop_button.click()
    await tab.idle()


async def picture_the_tools(browser: Browser, server: Server, chat: str) -> None:
    """`tools.png`: the panel, with a preset and reasons."""
    tab = await open_tab(await open_context(browser, **WINDOW), server, chat)
    await tab.open_tools()
    await tab.page.get_by_test_id("preset-research").check()
    await expect(tab.tool_line("bash")).to_contain_text("Not in this preset")
    await save(tab, "tools")


async def scroll_to(shown: Locator) -> None:
    """Bring something to the top of the conversation."""
    await shown.evaluate(
        """(element) => {
             const log = element.closest("[role=log]");
             log.scrollTop += element.getBoundingClientRect().top - log.getBoundingClientRect().top - 72;
           }"""
    )


async def save(tab: Tab, name: str) -> None:
    """Write a picture of the window, in 256 colours."""
    path = IMAGES / f"{name}.png"
    await tab.painted()
    await tab.screenshot(path)
    tab.check()
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    asyncio.run(main())
