"""Branches: edit and regenerate make siblings, and the chosen one is remembered (spec protocol.md P8)."""

from pathlib import Path

import pytest

from openprogram.core.errors import BadField
from openprogram.core.events import BranchSelected, TurnFinished
from openprogram.core.messages import Message
from openprogram.core.protocol.frames import MessagesAck
from tests.support.agent import FakeTool
from tests.support.script import assert_paired, call, failed, say, use
from tests.support.sessions import Chats, opened


async def _find(chats: Chats, session_id: str, text: str) -> Message:
    return next(message for message in await chats.branch(session_id) if message.text == text)


async def _page(chats: Chats, session_id: str) -> MessagesAck:
    ack = await chats.do("load_messages", session_id=session_id)
    assert isinstance(ack, MessagesAck)
    return ack


async def test_edit_makes_a_sibling_that_is_answered(tmp_path: Path) -> None:  # P8
    async with opened(tmp_path, say("Red."), say("Why?"), say("Blue.")) as chats:
        session_id = await chats.said("which colour")
        await chats.said("sure?", session_id)
        first = await _find(chats, session_id, "which colour")
        await chats.do("edit_message", session_id=session_id, message_id=first.id, text="which other colour")
        await chats.until(session_id, TurnFinished, 3)
        assert await chats.texts(session_id) == ["user: which other colour", "assistant: Blue."]
        edited = await _find(chats, session_id, "which other colour")
        assert (await _page(chats, session_id)).siblings == {edited.id: (first.id, edited.id)}
        assert [m.text for m in chats.provider.requests[2].messages if m.role == "user"] == ["which other colour"]


async def test_an_edit_in_the_middle_keeps_what_stands_above(tmp_path: Path) -> None:  # P8
    async with opened(tmp_path, say("One."), say("Two."), say("Two again.")) as chats:
        session_id = await chats.said("one")
        await chats.said("two", session_id)
        second = await _find(chats, session_id, "two")
        await chats.do("edit_message", session_id=session_id, message_id=second.id, text="two!")
        await chats.until(session_id, TurnFinished, 3)
        assert await chats.texts(session_id) == ["user: one", "assistant: One.", "user: two!", "assistant: Two again."]


async def test_an_edited_message_asks_of_tools_what_it_did(tmp_path: Path) -> None:  # T9
    async with opened(tmp_path, say("Red."), say("Blue.")) as chats:
        session_id = await chats.said("which colour", override={"enabled": False})
        first = await _find(chats, session_id, "which colour")
        await chats.do("edit_message", session_id=session_id, message_id=first.id, text="which other colour")
        await chats.until(session_id, TurnFinished, 2)
        edited = await _find(chats, session_id, "which other colour")
        assert edited.override == first.override is not None


async def test_regenerate_makes_a_sibling_of_the_answer(tmp_path: Path) -> None:  # P8
    async with opened(tmp_path, say("Red."), say("Blue.")) as chats:
        session_id = await chats.said("which colour")
        red = await _find(chats, session_id, "Red.")
        await chats.do("regenerate", session_id=session_id, message_id=red.id)
        await chats.until(session_id, TurnFinished, 2)
        blue = await _find(chats, session_id, "Blue.")
        assert blue.parent_id == red.parent_id
        assert (await _page(chats, session_id)).siblings == {blue.id: (red.id, blue.id)}
        assert chats.provider.requests[1].messages == chats.provider.requests[0].messages


async def test_regenerating_a_turn_of_many_steps_answers_its_question_anew(tmp_path: Path) -> None:  # P8, law 7
    scripts = (call(use("read")), say("Read it."), say("No need to read."))
    async with opened(tmp_path, *scripts, tools=[FakeTool("read")]) as chats:
        session_id = await chats.said("read")
        last = await _find(chats, session_id, "Read it.")
        await chats.do("regenerate", session_id=session_id, message_id=last.id)
        await chats.until(session_id, TurnFinished, 2)
        branch = await chats.branch(session_id)
        assert [message.role for message in branch if message.role != "notice"] == ["user", "assistant"]
        assert_paired(branch)


async def test_select_goes_to_the_newest_leaf_and_is_remembered(tmp_path: Path) -> None:  # P8
    async with opened(tmp_path, say("Red."), say("Really."), say("Blue.")) as chats:
        session_id = await chats.said("which colour")
        await chats.said("sure?", session_id)
        red = await _find(chats, session_id, "Red.")
        await chats.do("regenerate", session_id=session_id, message_id=red.id)
        await chats.until(session_id, TurnFinished, 3)
        await chats.do("select_branch", session_id=session_id, message_id=red.id)
        expected = ["user: which colour", "assistant: Red.", "user: sure?", "assistant: Really."]
        assert await chats.texts(session_id) == expected
        selections = len(await chats.of(session_id, BranchSelected))
        await chats.do("select_branch", session_id=session_id, message_id=red.id)
        assert len(await chats.of(session_id, BranchSelected)) == selections  # nothing changed: no event
    async with opened(tmp_path, say("Yes.")) as chats:
        assert await chats.texts(session_id) == expected
        await chats.said("and?", session_id)
        assert (await chats.texts(session_id))[-2:] == ["user: and?", "assistant: Yes."]


async def test_a_branch_tells_the_model_what_is_off_on_it(tmp_path: Path) -> None:
    """A switch thrown on one branch is told on the other one too: its words stand only where it was thrown."""
    scripts = [say(str(number)) for number in range(4)]
    tools = [FakeTool("bash"), FakeTool("read")]
    async with opened(tmp_path, *scripts, tools=tools) as chats:
        session_id = await chats.said("one")
        await chats.patch("set_tool_disabled", session_id, name="bash", value=True)
        await chats.said("two", session_id)
        second = await _find(chats, session_id, "two")
        await chats.do("edit_message", session_id=session_id, message_id=second.id, text="two!")
        await chats.until(session_id, TurnFinished, 3)
        await chats.rest(session_id)
        off = "Switched off, calls will be refused: bash."
        assert [off in message.text for message in chats.provider.requests[2].messages[-1:]] == [True]
        await chats.patch("set_tool_disabled", session_id, name="bash", value=False)
        await chats.do("select_branch", session_id=session_id, message_id=second.id)
        await chats.said("three", session_id)
        assert "Switched on again: bash." in chats.provider.requests[3].messages[-1].text


@pytest.mark.parametrize(
    ("action", "more", "message"),
    [
        ("edit_message", {"text": "x"}, "no message"),
        ("regenerate", {}, "no message"),
        ("select_branch", {}, "no message"),
    ],
)
async def test_a_message_of_another_chat_is_not_there(
    tmp_path: Path, action: str, more: dict[str, str], message: str
) -> None:  # P12
    async with opened(tmp_path, say("A."), say("B.")) as chats:
        one, other = await chats.said("a"), await chats.said("b")
        foreign = (await chats.branch(other))[0].id
        before = await chats.log(one)
        with pytest.raises(BadField, match=message):
            await chats.do(action, session_id=one, message_id=foreign, **more)
        assert await chats.log(one) == before


async def test_only_a_persons_message_is_edited(tmp_path: Path) -> None:
    async with opened(tmp_path, say("Red.")) as chats:
        session_id = await chats.said("which colour")
        red = await _find(chats, session_id, "Red.")
        with pytest.raises(BadField, match="your own"):
            await chats.do("edit_message", session_id=session_id, message_id=red.id, text="Blue.")


async def test_a_failed_answer_is_regenerated_beside_it(tmp_path: Path) -> None:
    async with opened(tmp_path, (failed("overloaded"),), say("Now.")) as chats:
        session_id = await chats.said("hi")
        broken = (await chats.branch(session_id))[-1]
        await chats.do("regenerate", session_id=session_id, message_id=broken.id)
        await chats.until(session_id, TurnFinished, 2)
        assert await chats.texts(session_id) == ["user: hi", "assistant: Now."]


async def test_the_pages_of_a_long_branch_join_without_gap(tmp_path: Path) -> None:  # P3
    async with opened(tmp_path, *(say(f"answer {n}") for n in range(6))) as chats:
        session_id = await chats.said("question 0")
        for number in range(1, 6):
            await chats.said(f"question {number}", session_id)
        whole = await chats.branch(session_id)
        found: list[Message] = []
        before = None
        while True:
            ack = await chats.do("load_messages", session_id=session_id, before=before, limit=5)
            assert isinstance(ack, MessagesAck)
            found = [*ack.messages, *found]
            if not ack.more:
                break
            before = ack.messages[0].id
        assert tuple(found) == whole
        with pytest.raises(BadField, match="active branch"):
            await chats.do("load_messages", session_id=session_id, before="m_none")
