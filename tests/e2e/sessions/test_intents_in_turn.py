"""Switches while a turn runs, what they cost, and names that mean nothing (spec tools.md T13, T21)."""

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from openprogram.core.errors import BadField, LimitExceeded, UnknownPreset, UnknownTool
from openprogram.core.events import ErrorRaised, MessageAdded, TurnFinished, TurnStarted
from openprogram.core.prompt import ResponseStarted
from openprogram.core.protocol.frames import ToolsAck
from openprogram.core.tooling import AgentProfile, Preset
from openprogram.session_config.patches import MAX_PICKED
from tests.support.agent import FakeTool, held
from tests.support.script import Gate, call, say, use
from tests.support.sessions import Chats, Held, opened

DEFAULT = AgentProfile()


SEARCH: dict[str, Any] = {"provides": ("web_search",), "network": True}


def _tools() -> list[FakeTool]:
    return [
        FakeTool("bash", residency="resident", presets=("coding",)),
        FakeTool("read", presets=("coding", "research")),
        FakeTool("web_search", presets=("research",), residency="deferred", **SEARCH),
    ]


async def _offered(chats: Chats, session_id: str) -> list[tuple[str, ...]]:
    return [turn.tools for turn in await chats.of(session_id, TurnStarted)]


async def test_a_switch_while_a_message_is_being_stored_counts_for_its_turn(tmp_path: Path) -> None:  # T21, T4
    async with opened(tmp_path, say("Hi."), tools=_tools(), profile=DEFAULT) as chats:
        session_id = await chats.draft()
        storing = Held(chats.store, MessageAdded)
        saying = asyncio.create_task(chats.say("hi", session_id))
        await storing.gate.reached()
        ack = await chats.patch("set_tool_disabled", session_id, name="bash", value=True)
        assert ack.applies == "now"
        storing.gate.open()
        await saying
        await chats.rest(session_id)
        assert "bash" not in (await _offered(chats, session_id))[0]


async def test_what_only_takes_away_applies_now_and_what_adds_at_the_next_turn(tmp_path: Path) -> None:  # T21
    gate = Gate()
    scripts = ((gate, *call(use("bash"), use("web_search"))), say("Done."), say("Next."))
    tools = _tools()
    async with opened(tmp_path, *scripts, tools=tools, profile=DEFAULT) as chats:
        session_id = (await chats.say("go")).session_id
        await gate.reached()
        more = await chats.patch("toggle_web_search", session_id, value=True)
        less = await chats.patch("set_tool_disabled", session_id, name="bash", value=True)
        assert (more.applies, less.applies) == ("next_turn", "now")
        gate.open()
        await chats.until(session_id, TurnFinished)
        await chats.said("next", session_id)
        assert tools[0].calls == tools[2].calls == []
        assert await _offered(chats, session_id) == [("bash", "read"), ("read", "web_search")]


async def test_off_and_on_again_in_mid_turn_restores_the_call(tmp_path: Path) -> None:  # T21
    gate, tools = Gate(), _tools()
    async with opened(tmp_path, (gate, *call(use("bash"))), say("Done."), tools=tools, profile=DEFAULT) as chats:
        session_id = (await chats.say("go")).session_id
        await gate.reached()
        await chats.patch("set_tools_enabled", session_id, value=False)
        await chats.patch("set_tools_enabled", session_id, value=None)
        gate.open()
        await chats.until(session_id, TurnFinished)
        assert len(tools[0].calls) == 1


async def test_a_preset_made_in_mid_turn_and_chosen_there_withdraws_only_what_it_lacks(tmp_path: Path) -> None:
    gate, tools = Gate(), _tools()  # T21
    script = (gate, *call(use("bash"), use("read")))
    async with opened(tmp_path, script, say("Done."), tools=tools, profile=DEFAULT) as chats:
        session_id = (await chats.say("go")).session_id
        await gate.reached()
        chats.registry.set_presets([Preset("mine", "Mine", entries=("read",))])
        await chats.patch("set_tools_profile", session_id, toolset="mine")
        gate.open()
        await chats.until(session_id, TurnFinished)
        assert (len(tools[0].calls), len(tools[1].calls)) == (0, 1)


async def test_a_tool_registered_in_mid_turn_is_neither_offered_nor_callable_in_it(tmp_path: Path) -> None:  # T21
    gate, late = Gate(), FakeTool("late", residency="resident")
    tools = _tools()
    async with opened(tmp_path, (gate, *call(use("late"))), say("Done."), tools=tools, profile=DEFAULT) as chats:
        session_id = (await chats.say("go")).session_id
        await gate.reached()
        chats.registry.put("builtin", [*(tool.spec for tool in tools), late.spec])
        gate.open()
        await chats.until(session_id, TurnFinished)
        assert late.calls == []
        assert chats.provider.requests[0].tools == chats.provider.requests[1].tools


async def test_a_call_that_is_running_goes_on_when_its_tool_is_switched_off(tmp_path: Path) -> None:  # T21
    gate = Gate()
    tools = [FakeTool("bash", held(gate))]
    async with opened(tmp_path, call(use("bash")), say("Done."), tools=tools, profile=DEFAULT) as chats:
        session_id = (await chats.say("go")).session_id
        await gate.reached()
        await chats.patch("set_tool_disabled", session_id, name="bash", value=True)
        gate.open()
        await chats.until(session_id, TurnFinished)
        results = [result for message in await chats.branch(session_id) for result in message.results]
        assert [result.status for result in results] == ["ok"]


async def test_the_chip_costs_no_byte_of_the_prefix(tmp_path: Path) -> None:  # C1, C2: promise 2
    scripts = [say(str(number)) for number in range(5)]
    async with opened(tmp_path, *scripts, tools=_tools(), profile=DEFAULT) as chats:
        session_id = await chats.said("0")
        for value in (True, False, None, True):
            await chats.patch("toggle_web_search", session_id, value=value)
            await chats.said("again", session_id)
        requests = chats.provider.requests
    assert {tuple(tool["name"] for tool in request.tools) for request in requests} == {("bash", "read", "web_search")}
    for one, other in pairwise(requests):
        assert other.messages[: len(one.messages)] == one.messages
    notices = [message.text for message in requests[-1].messages if message.role == "notice"]
    assert [line for text in notices for line in text.splitlines() if "web_search" in line] == [
        "Switched off, calls will be refused: web_search.",
        "Switched on again: web_search.",
        "Switched off, calls will be refused: web_search.",
        "Switched on again: web_search.",
    ]


async def test_an_unknown_preset_in_force_starts_no_turn_and_loses_nothing(tmp_path: Path) -> None:  # T13
    mine = [Preset("mine", "Mine", entries=("read",))]
    async with opened(tmp_path, say("Hi."), tools=_tools(), presets=mine, profile=DEFAULT) as chats:
        session_id = await chats.draft()
        await chats.patch("set_tools_profile", session_id, toolset="mine")
        await chats.said("hi", session_id)
    async with opened(tmp_path, say("There."), tools=_tools(), profile=DEFAULT) as chats:
        await chats.say("still there?", session_id)
        raised = await chats.until(session_id, ErrorRaised)
        assert raised.error.code == "unknown_preset"
        assert "coding" in (raised.error.hint or "")
        await chats.rest(session_id)
        assert len(await chats.of(session_id, TurnStarted)) == 1
        assert (await chats.texts(session_id))[-1] == "user: still there?"
        ack = cast(ToolsAck, await chats.do("explain_tools", session_id=session_id))
        assert ack.error is not None
        assert {tool.state for tool in ack.tools} == {"off"}
        await chats.patch("set_tools_profile", session_id, toolset=None)  # intent actions keep working
        await chats.do("continue_turn", session_id=session_id)
        await chats.until(session_id, TurnFinished, 3)
        assert (await chats.texts(session_id))[-2:] == ["user: still there?", "assistant: There."]


@pytest.mark.parametrize(
    ("action", "fields", "error"),
    [
        ("set_tools_profile", {"toolset": "gone"}, UnknownPreset),
        ("set_tool_disabled", {"name": "gone", "value": True}, UnknownTool),
        ("set_tool_disabled", {"name": "web_search", "value": True}, BadField),
        ("pick_tools", {"tools": [f"tool_{n}" for n in range(MAX_PICKED + 1)]}, LimitExceeded),
    ],
)
async def test_a_refused_patch_changes_nothing(
    tmp_path: Path, action: str, fields: dict[str, Any], error: type[Exception]
) -> None:  # P12
    async with opened(tmp_path, tools=_tools(), profile=DEFAULT) as chats:
        session_id = await chats.draft()
        before = await chats.log(session_id)
        with pytest.raises(error):
            await chats.patch(action, session_id, **fields)
        assert await chats.log(session_id) == before
        assert (await chats.store.intent(session_id)).revision == 0


async def test_intents_are_changed_while_the_chat_is_held_by_something_slow(tmp_path: Path) -> None:  # P1
    gate = Gate()
    async with opened(tmp_path, (ResponseStarted(), gate), tools=_tools(), profile=DEFAULT) as chats:
        session_id = (await chats.say("go")).session_id
        await gate.reached()
        async with chats.service._hub.lock(session_id):
            ack = await chats.patch("toggle_web_search", session_id, value=True)
        assert ack.revision == 1
