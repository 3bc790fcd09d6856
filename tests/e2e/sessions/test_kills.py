"""`kill -9` at any moment: what was shown is there, every call has a result, nothing runs twice (trust.md R1, R2)."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from openprogram.core.errors import StorageError
from openprogram.core.events import (
    TextDelta,
    ToolCallFinished,
    TurnFinished,
    TurnStarted,
)
from openprogram.core.prompt import ResponseStarted, TextPiece
from tests.support.agent import FakeTool, held
from tests.support.script import Gate, assert_paired, call, say, use
from tests.support.sessions import Chats, crashed, opened

HALF = (ResponseStarted(), TextPiece(0, "Half an "), TextPiece(0, "answer"))


async def _ended_once(chats: Chats, session_id: str) -> TurnFinished:
    (finished,) = await chats.of(session_id, TurnFinished)
    assert (await chats.row(session_id)).turn_id is None
    assert_paired(await chats.branch(session_id))
    return finished


async def test_a_kill_in_mid_stream_keeps_what_was_shown_and_the_next_message_works(tmp_path: Path) -> None:  # R1
    gate = Gate()
    async with opened(tmp_path, (*HALF, gate)) as chats:
        session_id = (await chats.say("tell me")).session_id
        await gate.reached()
        await chats.until(session_id, TextDelta, 2)
        shown = "".join(delta.text for delta in await chats.of(session_id, TextDelta))
        folder = crashed(tmp_path, tmp_path / "after")
    async with opened(folder, say("As I said.")) as chats:
        assert (await _ended_once(chats, session_id)).reason == "interrupted"
        partial = (await chats.branch(session_id))[-1]
        assert (partial.text, partial.status) == (shown, "interrupted")
        await chats.said("go on", session_id)
        assert partial in chats.provider.requests[0].messages
        assert (await chats.texts(session_id))[-1] == "assistant: As I said."


async def test_a_kill_before_the_first_token_ends_the_turn(tmp_path: Path) -> None:  # R1
    gate = Gate()
    async with opened(tmp_path, (gate,)) as chats:
        session_id = (await chats.say("tell me")).session_id
        await gate.reached()
        await chats.until(session_id, TurnStarted)
        folder = crashed(tmp_path, tmp_path / "after")
    async with opened(folder, say("Here.")) as chats:
        assert (await _ended_once(chats, session_id)).reason == "interrupted"
        await chats.do("continue_turn", session_id=session_id)
        await chats.until(session_id, TurnFinished, 2)
        assert await chats.texts(session_id) == ["user: tell me", "assistant: Here."]


async def test_a_kill_during_a_call_gives_it_a_result_and_runs_it_no_more(tmp_path: Path) -> None:  # R2
    gate = Gate()
    done, slow = FakeTool("done", readonly=False), FakeTool("slow", held(gate), readonly=False)
    late = FakeTool("late", readonly=False)
    calls = (use("done", "c_done"), use("slow", "c_slow"), use("late", "c_late"))
    async with opened(tmp_path, call(*calls), tools=[done, slow, late]) as chats:
        session_id = (await chats.say("work")).session_id
        await gate.reached()
        await chats.until(session_id, ToolCallFinished)
        folder = crashed(tmp_path, tmp_path / "after")
    again = [FakeTool(name, readonly=False) for name in ("done", "slow", "late")]
    async with opened(folder, say("I see."), tools=again) as chats:
        assert (await _ended_once(chats, session_id)).reason == "interrupted"
        results = [result for message in await chats.branch(session_id) for result in message.results]
        assert [(result.call_id, result.status) for result in results] == [
            ("c_done", "ok"),
            ("c_slow", "interrupted"),
            ("c_late", "interrupted"),
        ]
        assert "its effect is unknown" in results[1].content[0].text
        assert "before this call began" in results[2].content[0].text
        await chats.said("well?", session_id)
        assert [tool.calls for tool in again] == [[], [], []]


async def test_a_second_recovery_changes_nothing(tmp_path: Path) -> None:  # R1
    gate = Gate()
    async with opened(tmp_path, (*HALF, gate)) as chats:
        session_id = (await chats.say("tell me")).session_id
        await chats.until(session_id, TextDelta)
        folder = crashed(tmp_path, tmp_path / "after")
    async with opened(folder) as chats:
        log = await chats.log(session_id)
    async with opened(folder) as chats:
        assert await chats.log(session_id) == log


async def test_the_queue_survives_a_kill(tmp_path: Path) -> None:  # P6, R1
    gate = Gate()
    async with opened(tmp_path, (gate,)) as chats:
        session_id = (await chats.say("one")).session_id
        await gate.reached()
        await chats.say("two", session_id)
        await chats.until(session_id, TurnStarted)
        folder = crashed(tmp_path, tmp_path / "after")
    async with opened(folder, say("Two."), say("Three.")) as chats:
        assert [waiting.text for waiting in (await chats.snapshot(session_id)).state.queue] == ["two"]
        await chats.say("three", session_id)
        await chats.until(session_id, TurnFinished, 3)
        assert [text for text in await chats.texts(session_id) if text.startswith("user")] == [
            "user: one",
            "user: two",
            "user: three",
        ]


async def test_one_damaged_chat_keeps_no_other_from_being_served(tmp_path: Path) -> None:  # R4
    gate = Gate()
    async with opened(tmp_path, (*HALF, gate), say("Fine.")) as chats:
        broken = (await chats.say("one")).session_id
        await chats.until(broken, TextDelta)
        sound = await chats.said("two")
        folder = crashed(tmp_path, tmp_path / "after")
    with closing(sqlite3.connect(folder / "chats.db")) as db:
        db.execute(
            "UPDATE events SET payload = '{}' WHERE chat = (SELECT n FROM sessions WHERE id = ?) AND seq > 3", (broken,)
        )
        db.commit()
    async with opened(folder, say("Still fine.")) as chats:
        await chats.said("three", sound)
        with pytest.raises(StorageError, match="cannot be read"):
            await chats.say("hello?", broken)
