"""Calls of tools that are away or that the mode refuses: a result that says so, at once and only as long as it is so
(spec tools.md T12, T21; cache.md C5; report 10)."""

import asyncio

from openprogram.agent.environment import ToolPorts
from openprogram.core.events import LoadedChanged, ToolCallFinished
from openprogram.tools.obstacles import obstacle
from tests.support.agent import Chat, FakeTool
from tests.support.deferral import chat_with, declared, deferred, text
from tests.support.obstacles import AWAY, ONLY_LOOKS, SOURCE, only_looks
from tests.support.script import Gate, call, say, use


def _served(chat: Chat, *tools: FakeTool) -> Chat:
    """The chat with a server whose tools these are, and with the stand-in for plan mode."""
    chat.registry.put(SOURCE, [tool.spec for tool in tools])
    chat.tool_ports = ToolPorts(
        obstacle=lambda tool: obstacle(tool, chat.registry.snapshot, chat.switches.mode, only_looks)
    )
    return chat


async def test_a_call_of_a_tool_that_is_away_is_an_error_that_says_what_and_what_to_do() -> None:
    ferry = FakeTool("ferry")
    chat = _served(chat_with(scripts=[call(use("ferry")), say("It is away.")]), ferry)
    chat.registry.set_down(SOURCE, AWAY)
    await chat.run()
    (result,) = chat.results
    assert result.status == "error"
    assert AWAY in text(result)
    assert ferry.calls == []
    assert chat.reasons == ["done"]


async def test_a_server_that_comes_back_in_mid_turn_serves_the_next_call() -> None:
    ferry, gate = FakeTool("ferry"), Gate()
    scripts = [call(use("ferry")), (gate, *call(use("ferry"))), say("There.")]
    chat = _served(chat_with(scripts=scripts), ferry)
    chat.registry.set_down(SOURCE, AWAY)
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        chat.registry.set_down(SOURCE, None)
        gate.open()
    assert [result.status for result in chat.results] == ["error", "ok"]
    first, *rest = chat.provider.requests
    assert all(request.tools == first.tools and request.system == first.system for request in rest)


async def test_a_call_of_a_deferred_tool_that_is_away_loads_nothing() -> None:  # T20: no byte for what cannot run
    bee = deferred("bee")
    chat = _served(chat_with(scripts=[call(use("bee")), say("Away.")]), bee)
    chat.registry.set_down(SOURCE, AWAY)
    await chat.run()
    assert chat.emit.of(LoadedChanged) == []
    (finished,) = chat.emit.of(ToolCallFinished)
    assert finished.discovered == ()
    assert [declared(request) for request in chat.provider.requests] == [["tool_search"]] * 2


async def test_a_mode_refuses_at_dispatch_with_its_reason_and_is_read_both_ways() -> None:  # T21, R20
    write, read, gates = FakeTool("write", readonly=False), FakeTool("read"), (Gate(), Gate())
    scripts = [
        call(use("write"), use("read")),
        (gates[0], *call(use("write"))),
        (gates[1], *call(use("write"))),
        say("Done."),
    ]
    chat = _served(chat_with(write, read, scripts=scripts))
    chat.switches.mode = "ask"
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gates[0].reached()
        chat.switches.mode = "auto"
        gates[0].open()
        await gates[1].reached()
        chat.switches.mode = "ask"
        gates[1].open()
    assert [result.status for result in chat.results] == ["denied", "ok", "ok", "denied"]
    assert all(ONLY_LOOKS in text(result) for result in chat.results if result.status == "denied")
    assert len(write.calls) == 1
    first, *rest = chat.provider.requests
    assert all(request.tools == first.tools and request.system == first.system for request in rest)


async def test_what_the_user_switched_off_is_told_as_that_and_not_as_away() -> None:
    chat = _served(chat_with(scripts=[call(use("ferry")), say("Off.")]), FakeTool("ferry"))
    chat.registry.set_down(SOURCE, AWAY)
    chat.switches.off.add("ferry")
    await chat.run()
    (result,) = chat.results
    assert result.status == "denied"
    assert "switched ferry off" in text(result)
