"""A tool server that drops and returns between messages, and a mode that refuses, in a chat of the real service
(spec tools.md T12; cache.md C5; report 10)."""

from pathlib import Path
from typing import cast

import pytest

from openprogram.agent.tool_search import tool_search
from openprogram.core.asking import ApprovalRequested
from openprogram.core.events import TurnFinished, TurnStarted
from openprogram.core.protocol.frames import ToolsAck
from openprogram.core.protocol.tool_frames import ToolState
from openprogram.tools.registry import Registry
from tests.support.agent import FakeTool
from tests.support.deferral import declared, text
from tests.support.obstacles import AWAY, ONLY_LOOKS, SOURCE, only_looks
from tests.support.script import call, say, use
from tests.support.sessions import Chats, opened


def _registry(*tools: FakeTool) -> Registry:
    made = Registry()
    made.put("builtin", [tool_search, FakeTool("write", readonly=False).spec])
    made.put(SOURCE, [tool.spec for tool in tools])
    return made


async def _explained(chats: Chats, session_id: str) -> tuple[ToolsAck, dict[str, ToolState]]:
    ack = cast(ToolsAck, await chats.do("explain_tools", session_id=session_id))
    return ack, {tool.name: tool for tool in ack.tools}


async def test_a_server_that_drops_and_returns_moves_no_byte_and_its_calls_say_so(tmp_path: Path) -> None:
    ferry, registry = FakeTool("ferry"), _registry(FakeTool("boat", residency="deferred"))
    registry.put(SOURCE, [ferry.spec, FakeTool("boat", residency="deferred").spec])
    scripts = (say("Hi."), call(use("ferry")), say("It is away."), call(use("ferry")), say("There."))
    async with opened(tmp_path, *scripts, registry=registry) as chats:
        session_id = await chats.said("hello")
        registry.set_down(SOURCE, AWAY)
        ack, tools = await _explained(chats, session_id)
        assert {name: (tool.state, tool.detail) for name, tool in tools.items() if tool.source == SOURCE} == {
            "ferry": ("down", AWAY),
            "boat": ("down", AWAY),
        }
        assert ack.problems == {SOURCE: (AWAY,)}
        await chats.said("when does it go?", session_id)
        registry.set_down(SOURCE, None)
        ack, tools = await _explained(chats, session_id)
        assert (tools["ferry"].state, tools["boat"].state, ack.problems) == ("on", "deferred", {})
        await chats.said("and now?", session_id)

        away, back = (message.results[0] for message in await chats.branch(session_id) if message.role == "tool")
        assert (away.status, back.status) == ("error", "ok")
        assert AWAY in text(away)
        assert len(ferry.calls) == 1
        assert len({turn.fingerprint for turn in await chats.of(session_id, TurnStarted)}) == 1
        first, *later = chats.provider.requests
        assert declared(first) == ["ferry", "tool_search", "write"]
        assert all((request.tools, request.system) == (first.tools, first.system) for request in later)


async def test_a_mode_that_refuses_is_shown_and_obeyed_at_once_without_hiding_a_tool(tmp_path: Path) -> None:
    scripts = (call(use("write")), say("Refused."), call(use("write")), say("Written."))
    async with opened(tmp_path, *scripts, registry=_registry(FakeTool("ferry")), mode_rule=only_looks) as chats:
        session_id = await chats.draft()
        await chats.do("set_permission_mode", session_id=session_id, mode="ask")
        _, tools = await _explained(chats, session_id)
        assert (tools["write"].state, tools["write"].detail) == ("refused_by_mode", ONLY_LOOKS)
        assert tools["ferry"].state == "on"
        await chats.said("write it", session_id)
        await chats.do("set_permission_mode", session_id=session_id, mode="auto")
        _, tools = await _explained(chats, session_id)
        assert tools["write"].state == "on"
        await chats.said("again", session_id)

        refused, done = (message.results[0] for message in await chats.branch(session_id) if message.role == "tool")
        assert (refused.status, done.status) == ("denied", "ok")
        assert ONLY_LOOKS in text(refused)
        first, *later = chats.provider.requests
        assert all(request.tools == first.tools for request in later)


@pytest.mark.parametrize("answer", ["once", "session"])
async def test_a_mode_that_refuses_meanwhile_is_obeyed_by_a_call_that_was_allowed(tmp_path: Path, answer: str) -> None:
    bash = FakeTool("bash", permission="execute", readonly=False)
    scripts = (call(use("bash", command="make")), say("Refused."))
    async with opened(tmp_path, *scripts, tools=[bash], mode="accept_edits", mode_rule=only_looks) as chats:
        session_id = (await chats.say("build it")).session_id
        asked = await chats.asked(session_id)
        await chats.do("set_permission_mode", session_id=session_id, mode="ask")
        await _allow(chats, session_id, asked, answer)
        (refused,) = [result for message in await chats.branch(session_id) for result in message.results]
        assert (refused.status, bash.calls) == ("denied", [])
        assert ONLY_LOOKS in text(refused)


async def test_a_server_that_drops_while_a_person_is_asked_is_an_error_of_the_call(tmp_path: Path) -> None:
    ferry = FakeTool("ferry", permission="execute", readonly=False)
    scripts = (call(use("ferry")), say("It is away."))
    registry = _registry(ferry)
    async with opened(tmp_path, *scripts, registry=registry, mode="ask") as chats:
        session_id = (await chats.say("take it")).session_id
        asked = await chats.asked(session_id)
        registry.set_down(SOURCE, AWAY)
        await _allow(chats, session_id, asked, "once")
        (away,) = [result for message in await chats.branch(session_id) for result in message.results]
        assert (away.status, ferry.calls) == ("error", [])
        assert AWAY in text(away)


async def _allow(chats: Chats, session_id: str, asked: ApprovalRequested, answer: str) -> None:
    await chats.do("answer_approval", session_id=session_id, approval_id=asked.approval_id, decision=answer)
    await chats.until(session_id, TurnFinished)
