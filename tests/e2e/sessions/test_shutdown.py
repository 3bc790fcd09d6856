"""A shutdown keeps what was shown and done, takes nothing that it would not answer, and finishes what it began."""

import asyncio
from pathlib import Path

import pytest

from openprogram.core.errors import Busy
from openprogram.core.events import (
    MessageAdded,
    TurnFinished,
)
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolOutput
from tests.support.agent import FakeTool
from tests.support.script import Gate, assert_paired, call, say, use
from tests.support.sessions import Chats, Held, opened


async def _ended_once(chats: Chats, session_id: str) -> TurnFinished:
    (finished,) = await chats.of(session_id, TurnFinished)
    assert (await chats.row(session_id)).turn_id is None
    assert_paired(await chats.branch(session_id))
    return finished


async def test_a_shutdown_keeps_what_was_shown_and_done(tmp_path: Path) -> None:
    gate = Gate()

    async def act(_arguments: JsonObject, context: ToolContext) -> ToolOutput:
        context.output("half")
        await gate.wait()
        return ToolOutput.text("never")

    tools = [FakeTool("done", parallel_safe=True), FakeTool("slow", act, parallel_safe=True)]
    async with opened(tmp_path, call(use("done", "c_done"), use("slow", "c_slow")), tools=tools) as chats:
        session_id = (await chats.say("work")).session_id
        await gate.reached()
    assert gate.cancelled
    async with opened(tmp_path, tools=tools) as chats:
        assert (await _ended_once(chats, session_id)).reason == "interrupted"
        results = [result for message in await chats.branch(session_id) for result in message.results]
        assert [result.status for result in results] == ["ok", "interrupted"]


async def test_no_message_is_taken_that_would_not_be_answered(tmp_path: Path) -> None:
    async with opened(tmp_path) as chats:
        session_id = await chats.draft()
        chats.service._hub.cut_runs()
        with pytest.raises(Busy, match="shutting down"):
            await chats.say("hi", session_id)
        assert await chats.branch(session_id) == ()


async def test_an_action_under_way_at_shutdown_is_done_whole(tmp_path: Path) -> None:  # P12
    """Leaving the service waits for it, and only then may the store be closed."""
    leave = asyncio.Event()

    async def serve() -> None:
        async with opened(tmp_path, say("Hello.")) as chats:
            serving.set_result(chats)
            await leave.wait()

    serving: asyncio.Future[Chats] = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(serve())
    chats = await serving
    session_id = await chats.draft()
    storing = Held(chats.store, MessageAdded)
    sending = asyncio.create_task(chats.say("hi", session_id))
    await storing.gate.reached()
    closing = asyncio.Event()
    cut_runs = chats.service._hub.cut_runs

    def note_and_cut() -> None:
        closing.set()
        cut_runs()

    chats.service._hub.cut_runs = note_and_cut  # type: ignore[method-assign]
    leave.set()
    await closing.wait()
    storing.gate.open()
    ack = await sending
    await server
    async with opened(tmp_path, say("Hello.")) as chats:
        assert [message.id for message in await chats.branch(session_id)] == [ack.message_id]
        await chats.do("continue_turn", session_id=session_id)
        await chats.until(session_id, TurnFinished, 2)
