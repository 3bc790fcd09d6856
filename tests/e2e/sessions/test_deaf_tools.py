"""Stop ends the turn although a plug-in's call swallows its cancellation (spec protocol.md P7, design law 7)."""

import asyncio
from pathlib import Path

from openprogram.core.events import TurnFinished
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.tools.registry import Registry
from tests.support.agent import FakeTool
from tests.support.script import assert_paired, call, say, use
from tests.support.sessions import opened


async def test_stop_ends_the_turn_of_a_plug_in_that_does_not_listen_and_the_chat_goes_on(tmp_path: Path) -> None:
    begun, end = asyncio.Event(), asyncio.Event()

    async def deaf(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        begun.set()
        while not end.is_set():
            try:
                await end.wait()
            except asyncio.CancelledError:
                continue
        context.output("too late")
        return ToolOutput.text("too late")

    registry = Registry()
    registry.put("plugin:sea", [FakeTool("deaf", deaf).spec])
    async with opened(tmp_path, call(use("deaf", "c_1")), say("Here."), registry=registry) as chats:
        session_id = (await chats.say("go")).session_id
        await begun.wait()
        await chats.do("stop", session_id=session_id)
        assert (await chats.until(session_id, TurnFinished)).reason == "stopped"
        await chats.rest(session_id)
        stopped = await chats.events(session_id)
        end.set()
        await chats.service._hub.left.over()
        assert await chats.events(session_id) == stopped
        await chats.said("still there?", session_id)
        branch = await chats.branch(session_id)
        assert_paired(branch)
        (result,) = (result for message in branch for result in message.results)
        assert result.status == "stopped"
