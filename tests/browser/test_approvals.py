"""A call that waits for a person: shown exactly, answered once, from any tab, whatever reloads in between."""

import re
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.async_api import Locator, expect

from tests.browser.conftest import OpenTab, Serve
from tests.support.browser import LOST, Tab
from tests.support.crash import gone
from tests.support.fake import FakeApi
from tests.support.server import Server
from tests.support.ws import Refused

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def call(command: str, number: int = 1) -> dict[str, Any]:
    """A block that asks for a command."""
    return {"type": "tool_use", "name": "bash", "id": f"call_{number}", "input": {"command": command}}


async def verbatim(shown: Locator) -> str:
    """The text of an element with all its blanks, but for the line end after the last line."""
    text: str = await shown.evaluate("(element) => element.textContent")
    return text.removesuffix("\n")


async def wait_for_approval(tab: Tab, fake: FakeApi, command: str = "echo hi") -> None:
    """Have the model ask for a command; its next answer is `Done.`"""
    await fake.script({"blocks": [call(command)]})
    await fake.say("Done.")
    await tab.send("run it")
    await expect(tab.approval).to_be_visible()


async def test_the_exact_command_is_shown_and_allowed_once(tab: Tab, fake: FakeApi) -> None:
    command = "printf '%s\\n' 'a  b' # <script>alert(1)</script>"
    await wait_for_approval(tab, fake, command)
    assert await verbatim(tab.page.get_by_test_id("approval-preview").get_by_role("region")) == command
    await expect(tab.cards).to_have_attribute("data-status", "approval")
    await expect((await tab.line()).get_by_test_id("needs-you")).to_be_visible()
    async with tab.turn():
        await tab.page.get_by_test_id("approval-once").click()
    await expect(tab.approval).to_have_count(0)
    await expect(tab.cards).to_have_attribute("data-status", "ok")
    await tab.cards.get_by_role("button").first.click()
    assert await verbatim(tab.cards.get_by_role("region", name="Output")) == "a  b\n[exit code 0]"

    await wait_for_approval(tab, fake, command)  # once is not for ever
    await tab.page.get_by_test_id("approval-once").click()
    await tab.idle()


async def test_the_ring_around_the_card_is_whole(tab: Tab, fake: FakeApi) -> None:
    await tab.ask("hello")  # what stands above the card could cover it
    await wait_for_approval(tab, fake)
    await tab.approval.evaluate("card => { card.focus({ focusVisible: true }); card.style.animation = 'none'; }")
    await expect(tab.approval).to_be_focused()
    box = await tab.approval.bounding_box()
    assert box is not None
    at = (box["x"] + box["width"] / 2, box["y"] - 4)
    shown = await tab.page.screenshot(clip={"x": at[0], "y": at[1], "width": 4, "height": 4})
    picture = Image.open(BytesIO(shown)).convert("RGB")
    ring: str = await tab.approval.evaluate("card => getComputedStyle(card).outlineColor")
    wanted = tuple(int(part) for part in re.findall(r"\d+", ring)[:3])
    rows = [picture.getpixel((2, y)) for y in range(picture.height)]
    assert rows.count(wanted) >= 2, (wanted, rows)


async def test_a_patch_that_changes_no_line_is_asked_about_by_its_files(
    tab: Tab, fake: FakeApi, server: Server
) -> None:
    server.workspace.mkdir(exist_ok=True)
    (server.workspace / "old-name.txt").write_text("the same\n")
    await tab.open_tools()
    await tab.page.get_by_test_id("preset-coding").check()
    await tab.page.keyboard.press("Escape")
    patch = "*** Begin Patch\n*** Update File: old-name.txt\n*** Move to: new-name.txt\n*** End Patch"
    await fake.script({"blocks": [{"type": "tool_use", "name": "apply_patch", "input": {"patch": patch}}]})
    await fake.say("Done.")
    await tab.send("move it")
    await expect(tab.approval.get_by_role("heading")).to_have_text("Change old-name.txt → new-name.txt?")
    await tab.audit()
    await tab.page.keyboard.press("1")
    await expect(tab.answers.last).to_contain_text("Done.")


async def test_allowed_for_this_chat_is_not_asked_again_here_but_elsewhere(tab: Tab, fake: FakeApi) -> None:
    await wait_for_approval(tab, fake)
    await expect(tab.approval).to_contain_text("For this chat allows: echo hi")
    async with tab.turn():
        await tab.page.keyboard.press("2")
    await fake.script({"blocks": [call("echo hi")]})
    await fake.say("Done again.")
    await tab.ask("run it again")
    await expect(tab.cards.last).to_have_attribute("data-status", "ok")

    await tab.page.get_by_test_id("new-chat").click()
    await expect(tab.page.get_by_test_id("empty-state")).to_be_visible()
    await wait_for_approval(tab, fake)
    await tab.stop_button.click()
    await tab.idle()


async def test_a_denial_with_a_note_reaches_the_model(tab: Tab, fake: FakeApi) -> None:
    await wait_for_approval(tab, fake)
    await tab.page.keyboard.press("3")
    await expect(tab.page.get_by_test_id("approval-note")).to_be_focused()
    await tab.page.keyboard.type("use make 123")  # digits answer nothing here
    async with tab.turn():
        await tab.page.keyboard.press("Enter")
    await expect(tab.cards).to_have_attribute("data-status", "denied")
    results = [message for message in (await fake.requests())[-1]["body"]["messages"] if message["role"] == "tool"]
    assert "use make 123" in results[-1]["content"]


async def test_what_is_typed_into_the_message_box_answers_nothing(tab: Tab, fake: FakeApi) -> None:
    await wait_for_approval(tab, fake)
    await tab.box.fill("a")
    await tab.box.press_sequentially("123")
    await expect(tab.box).to_have_value("a123")
    await expect(tab.approval).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await tab.idle()


async def test_a_change_is_shown_as_a_diff_of_its_file(tab: Tab, fake: FakeApi) -> None:
    (tab.server.workspace / "notes.txt").write_text("one\ntwo\nthree\n")
    arguments = {"path": "notes.txt", "old": "two", "new": "2"}
    await fake.script({"blocks": [{"type": "tool_use", "name": "edit", "input": arguments}]})
    await fake.say("Done.")
    await tab.send("edit it")
    await expect(tab.approval.get_by_role("heading")).to_have_text("Change notes.txt?")
    rows = tab.approval.get_by_test_id("diff").get_by_role("row")
    await expect(rows.filter(has_text="−two")).to_be_visible()
    await expect(rows.filter(has_text="+2")).to_be_visible()
    async with tab.turn():
        await tab.page.keyboard.press("1")
    assert (tab.server.workspace / "notes.txt").read_text() == "one\n2\nthree\n"
    await expect(tab.cards).to_contain_text("+1")


async def test_answered_in_one_tab_it_disappears_in_the_other(
    tab: Tab, fake: FakeApi, server: Server, open_page: OpenTab
) -> None:
    # P9, report 30
    await wait_for_approval(tab, fake)
    other = await open_page(server, f"/#/c/{await tab.session_id()}")
    await expect(other.approval).to_be_visible()
    async with tab.turn():
        await other.page.get_by_test_id("approval-once").click()
    for each in (tab, other):
        await expect(each.approval).to_have_count(0)
        await expect(each.answers.last).to_have_text("Done.")


async def test_two_answers_at_once_count_once(tab: Tab, fake: FakeApi, server: Server, open_page: OpenTab) -> None:
    # report 30
    marker = tab.server.workspace / "ran-once"
    marker.unlink(missing_ok=True)
    await wait_for_approval(tab, fake, f"echo x >> {marker}")
    async with server.client() as client:
        session = await tab.session_id()
        approval = (await client.subscribe(session), await client.event("approval_requested", session))[1]
        answer = {"session_id": session, "approval_id": approval["approval_id"], "decision": "once"}
        asked = await client.post("answer_approval", **answer)
        await tab.page.keyboard.press("1")
        refusal = ""
        try:
            await client.answer(asked)
        except Refused as late:
            refusal = str(late)
        assert refusal == "" or "answered already" in refusal
        await client.event("turn_finished", session)
        resolved = [frame for frame in client.frames if frame.get("event", {}).get("type") == "approval_resolved"]
        assert len(resolved) == 1
    await tab.idle()
    await expect(tab.approval).to_have_count(0)
    assert marker.read_text() == "x\n"


async def test_it_survives_a_reload(tab: Tab, fake: FakeApi) -> None:
    await wait_for_approval(tab, fake)
    await tab.session_id()
    await tab.page.reload()
    await expect(tab.approval).to_contain_text("echo hi")
    async with tab.turn():
        await tab.page.keyboard.press("1")
    await expect(tab.cards).to_have_attribute("data-status", "ok")


@pytest.mark.parametrize("key", ["1", "3"])
async def test_it_survives_a_crash_of_the_server(fake: FakeApi, serve: Serve, open_page: OpenTab, key: str) -> None:
    # P9: the turn only waited for an answer, so it goes on from there
    server = await serve()
    tab = await open_page(server)
    await wait_for_approval(tab, fake)
    tab.expect_complaints(LOST)
    await server.kill()
    await server.start()
    await tab.wake()
    await expect(tab.approval).to_be_visible()
    async with tab.turn():
        await tab.page.keyboard.press(key)
        if key == "3":
            await tab.page.get_by_test_id("approval-deny-send").click()
    await expect(tab.approval).to_have_count(0)
    await expect(tab.cards).to_have_attribute("data-status", "ok" if key == "1" else "denied")
    await expect(tab.answers).to_have_text(["Done."])


async def test_stop_withdraws_the_question(tab: Tab, fake: FakeApi) -> None:
    await wait_for_approval(tab, fake)
    await tab.page.keyboard.press("Escape")
    await tab.idle()
    await expect(tab.approval).to_have_count(0)
    await expect(tab.cards).to_have_attribute("data-status", "stopped")


async def test_escape_ends_a_tool_at_work_only_when_pressed_twice(tab: Tab, fake: FakeApi, tmp_path: Path) -> None:
    # P7, report 31: what the command started is gone too
    await wait_for_approval(tab, fake, f"sleep 600 & echo $! > {tmp_path}/pid; printf be%s gun; sleep 600; echo over")
    await tab.page.keyboard.press("1")
    await expect(tab.cards).to_have_attribute("data-status", "running")
    await expect(tab.cards).to_contain_text("begun")
    await tab.page.clock.set_fixed_time(NOW)  # the second one has three seconds
    await tab.page.keyboard.press("Escape")
    await expect(tab.page.get_by_text("Press Escape again to stop it")).to_be_visible()
    await expect(tab.cards).to_have_attribute("data-status", "running")
    async with tab.turn():
        await tab.page.keyboard.press("Escape")
    await expect(tab.cards).to_have_attribute("data-status", "stopped")
    await gone(int((tmp_path / "pid").read_text()))


async def test_several_questions_are_asked_one_after_the_other(tab: Tab, fake: FakeApi) -> None:
    # law 7: one result each, in the order of the calls
    await fake.script({"blocks": [call("echo first", 1), call("echo second", 2)]})
    await fake.say("Done.")
    await tab.send("run both")
    await expect(tab.page.get_by_test_id("approval-preview")).to_contain_text("echo first")
    await tab.page.keyboard.press("1")
    await expect(tab.page.get_by_test_id("approval-preview")).to_contain_text("echo second")
    async with tab.turn():
        await tab.page.keyboard.press("1")
    results = [message for message in (await fake.requests())[-1]["body"]["messages"] if message["role"] == "tool"]
    assert [result["content"].splitlines()[0] for result in results] == ["first", "second"]


async def test_auto_asks_nothing(tab: Tab, fake: FakeApi) -> None:
    await tab.page.get_by_test_id("mode-picker").click()
    await tab.page.get_by_role("menuitemradio", name="Auto").click()
    await expect(tab.page.get_by_test_id("mode-picker")).to_have_accessible_name("Permissions: Auto")
    await fake.script({"blocks": [call("echo hi")]})
    await fake.say("Done.")
    await tab.ask("run it")
    await expect(tab.cards).to_have_attribute("data-status", "ok")
    await tab.page.reload()
    await expect(tab.page.get_by_test_id("mode-picker")).to_have_accessible_name("Permissions: Auto")
