"""What is frozen at the start of a turn, and what the user takes away at once (spec tools.md T21)."""

import asyncio

from openprogram.core.intent import ToolIntent
from tests.support.agent import Chat, FakeTool, held
from tests.support.script import Gate, ScriptedProvider, call, say, use


async def test_toggle_during_turn_reaches_model_only_at_next_boundary() -> None:  # T21
    gate = Gate()
    read, search = FakeTool("read"), FakeTool("web_search", provides=("web_search",))
    provider = ScriptedProvider((gate, *call(use("read"))), say("Read."), call(use("web_search")), say("Found."))
    chat = Chat(provider, read, search)
    chat.intent = _chip(False)
    chat.inbox.waiting = ["now search"]
    async with asyncio.TaskGroup() as group:
        running = chat.begin(group)
        await gate.reached()
        chat.intent = _chip(True)
        gate.open()
        await running
    offered = [[tool["name"] for tool in request.tools] for request in provider.requests]
    assert offered[:2] == [["read"], ["read"]]
    assert offered[2:] == [["read", "web_search"], ["read", "web_search"]]
    assert search.calls == [{}]


async def test_an_addition_during_a_turn_cannot_be_called_in_it() -> None:  # T21
    gate = Gate()
    read, search = FakeTool("read"), FakeTool("web_search", provides=("web_search",))
    chat = Chat(ScriptedProvider((gate, *call(use("web_search"))), say("Well.")), read, search)
    chat.intent = _chip(False)
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        chat.intent = _chip(True)
        gate.open()
    assert search.calls == []
    assert [result.status for result in chat.results] == ["denied"]


async def test_withdrawal_during_a_turn_is_honoured_at_dispatch_and_lifted_again() -> None:  # T21
    first, second = Gate(), Gate()
    read = FakeTool("read")
    provider = ScriptedProvider((first, *call(use("read"))), (second, *call(use("read"))), say("So be it."))
    chat = Chat(provider, read)
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await first.reached()
        chat.switches.off.add("read")
        first.open()
        await second.reached()
        chat.switches.off.clear()
        second.open()
    assert [result.status for result in chat.results] == ["denied", "ok"]
    assert "switched read off" in chat.results[0].content[0].text
    assert [tool["name"] for tool in provider.requests[2].tools] == ["read"]


async def test_a_tool_that_leaves_the_registry_during_a_turn_still_runs_in_it() -> None:  # T21, T22
    gate = Gate()
    old, new = FakeTool("read"), FakeTool("read")
    chat = Chat(ScriptedProvider((gate, *call(use("read"))), say("Done."), call(use("read")), say("Done.")), old)
    chat.inbox.waiting = ["again"]
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        chat.registry.put("builtin", [new.spec])
        gate.open()
    assert (len(old.calls), len(new.calls)) == (1, 1)


async def test_a_running_call_goes_on_when_its_tool_is_switched_off() -> None:  # T21
    gate = Gate()
    read = FakeTool("read", held(gate))
    chat = Chat(ScriptedProvider(call(use("read")), say("Done.")), read)
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        chat.switches.off.add("read")
        gate.open()
    assert [result.status for result in chat.results] == ["ok"]


def _chip(value: bool) -> ToolIntent:
    return ToolIntent(toolset="full", web_search=value)
