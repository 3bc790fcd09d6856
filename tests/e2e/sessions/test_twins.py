"""The same action twice, someone else's chat, a client that leaves: one effect, or none (P5, P12)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from openprogram.core.errors import BadField, IdConflict, UnknownSession
from openprogram.core.events import (
    TurnFinished,
)
from openprogram.core.protocol.frames import ChatAck
from tests.support.script import say
from tests.support.sessions import opened


async def test_twins_have_one_effect_and_equal_acks(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Once.")) as chats:
        first, *others = await asyncio.gather(*(chats.say("hi", id="twin") for _ in range(5)))
        assert others == [first] * 4
        await chats.until(first.session_id, TurnFinished)
        assert len(await chats.sidebar()) == 1
        assert await chats.texts(first.session_id) == ["user: hi", "assistant: Once."]


async def test_a_resend_after_a_restart_has_no_second_effect(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Once.")) as chats:
        first = await chats.say("hi", id="twin")
        await chats.until(first.session_id, TurnFinished)
        await chats.rest(first.session_id)
    async with opened(tmp_path) as chats:
        assert await chats.say("hi", id="twin") == first
        assert len(await chats.sidebar()) == 1


async def test_a_resend_gets_its_ack_where_the_message_would_be_refused_by_now(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Once.")) as chats:
        session_id = await chats.draft()
        first = await chats.say("hi", session_id, id="twin")
        await chats.until(session_id, TurnFinished)
        await chats.rest(session_id)
        await chats.do("delete_session", session_id=session_id)
        with pytest.raises(BadField):
            await chats.say("hi", session_id, id="other")
        assert await chats.say("hi", session_id, id="twin") == first
        with pytest.raises(IdConflict):
            await chats.say("other words", session_id, id="twin")


async def test_a_resend_while_its_turn_runs_puts_nothing_into_the_queue(tmp_path: Path) -> None:  # P5, P6
    async with opened(tmp_path, say("Once.")) as chats:
        session_id = await chats.draft()
        first = await chats.say("hi", session_id, id="twin")
        assert await chats.say("hi", session_id, id="twin") == first
        await chats.until(session_id, TurnFinished)
        await chats.rest(session_id)
        assert await chats.say("hi", session_id, id="twin") == first
        assert await chats.texts(session_id) == ["user: hi", "assistant: Once."]


async def test_an_id_that_was_used_for_something_else_is_a_conflict(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Once.")) as chats:
        session_id = await chats.said("hi", id="twin")
        with pytest.raises(IdConflict):
            await chats.say("something else", id="twin")
        with pytest.raises(IdConflict):
            await chats.do("stop", session_id=session_id, id="twin")
        assert await chats.texts(session_id) == ["user: hi", "assistant: Once."]


async def test_twins_of_different_words_conflict_also_at_once(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Once.")) as chats:
        results = await asyncio.gather(
            chats.say("this", id="twin"), chats.say("that", id="twin"), return_exceptions=True
        )
        assert [type(result) for result in results] == [ChatAck, IdConflict]


async def test_ids_of_other_users_are_their_own(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Hi Ada."), say("Hi Bob.")) as chats:
        ada = await chats.said("hi", id="same")
        bob = await chats.say("hi", id="same", user="u_bob")
        await chats.until(bob.session_id, TurnFinished)
        assert bob.session_id != ada


async def test_a_failed_action_is_not_remembered(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Now.")) as chats:
        session_id = await chats.draft()
        with pytest.raises(BadField):
            await chats.say("hi", session_id, id="again", attachments=["x"])
        await chats.said("hi", session_id, id="again")
        assert await chats.texts(session_id) == ["user: hi", "assistant: Now."]


@pytest.mark.parametrize("action", ["chat", "stop", "rename_session", "toggle_web_search", "load_messages"])
async def test_a_chat_of_someone_else_is_not_there(tmp_path: Path, action: str) -> None:  # P12, R12
    more: dict[str, dict[str, Any]] = {
        "chat": {"text": "hi"},
        "rename_session": {"title": "mine"},
        "toggle_web_search": {"value": True},
    }
    async with opened(tmp_path, say("Hello.")) as chats:
        session_id = await chats.said("hi")
        before = await chats.log(session_id)
        with pytest.raises(UnknownSession):
            await chats.do(action, user="u_bob", session_id=session_id, **more.get(action, {}))
        assert await chats.log(session_id) == before


async def test_a_client_that_leaves_in_mid_action_leaves_nothing_half_done(tmp_path: Path) -> None:
    async with opened(tmp_path, say("Still here.")) as chats:
        session_id = await chats.draft()
        gone = asyncio.create_task(chats.say("hi", session_id))
        await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        await chats.until(session_id, TurnFinished)
        assert await chats.texts(session_id) == ["user: hi", "assistant: Still here."]
