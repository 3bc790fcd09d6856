"""What new kinds of results look like: a picture in its card, a patch of several files by file."""

from typing import Any

from PIL import Image
from playwright.async_api import expect

from tests.support.browser import Tab
from tests.support.fake import FakeApi
from tests.support.server import Server

PATCH = """\
*** Begin Patch
*** Add File: patched/one.txt
+first
*** Add File: patched/two.txt
+second
*** End Patch"""


def use(name: str, **arguments: str) -> dict[str, Any]:
    return {"blocks": [{"type": "tool_use", "name": name, "input": arguments}]}


async def test_a_picture_is_shown_in_its_card_and_again_after_a_reload(tab: Tab, fake: FakeApi, server: Server) -> None:
    server.workspace.mkdir(exist_ok=True)
    Image.new("RGB", (60, 40), "red").save(server.workspace / "seen.png")
    await tab.open_tools()
    await tab.page.get_by_test_id("preset-full").check()
    await tab.page.keyboard.press("Escape")
    await fake.script(use("image_view", path="seen.png"))
    await fake.say("Red.")
    await tab.ask("look at it")
    for _ in range(2):
        await tab.cards.first.get_by_role("button").first.click()
        picture = tab.cards.first.get_by_role("img", name="seen.png")
        await expect(picture).to_be_visible()
        for side, size in (("naturalWidth", 60), ("naturalHeight", 40)):  # once it is loaded
            await expect(picture).to_have_js_property(side, size)
        await tab.audit()
        await tab.page.reload()
        await expect(tab.answers.last).to_contain_text("Red.")


async def test_a_patch_asks_with_every_file_and_is_done_as_shown(tab: Tab, fake: FakeApi, server: Server) -> None:
    await tab.open_tools()
    await tab.page.get_by_test_id("preset-coding").check()
    await tab.page.keyboard.press("Escape")
    await fake.script(use("apply_patch", patch=PATCH))
    await fake.say("Done.")
    await tab.send("patch it")
    await expect(tab.approval).to_contain_text("patched/one.txt (+1)")
    for line in ("patched/two.txt", "first", "second"):
        await expect(tab.approval.get_by_test_id("diff")).to_contain_text(line)
    async with tab.turn():
        await tab.page.keyboard.press("1")
    await expect(tab.answers.last).to_contain_text("Done.")
    assert (server.workspace / "patched" / "two.txt").read_text() == "second\n"
