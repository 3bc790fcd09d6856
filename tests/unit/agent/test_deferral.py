"""Deferred tools over turns, rebases and switches: what each request declares, names and keeps."""

import asyncio
from itertools import pairwise

import pytest

from openprogram.agent.environment import Resumed
from openprogram.agent.tool_search import tool_search
from openprogram.core.events import ErrorRaised, LoadedChanged, StepStarted
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import canonical
from openprogram.core.messages import ToolResultBlock
from tests.support.agent import Chat, FakeTool, held
from tests.support.deferral import (
    TTL,
    below,
    chat_with,
    declared,
    deferred,
    say_more,
    search,
    select,
    system,
)
from tests.support.script import Gate, ScriptedProvider, call, say, use

# -- over turns -------------------------------------------------------------------------------------------------


async def test_the_loaded_set_is_kept_over_turns() -> None:  # T22
    weather = deferred("weather")
    chat = chat_with(weather, scripts=[call(select("weather")), say("."), call(use("weather")), say(".")])
    chat.inbox.waiting = ["now the weather"]
    await chat.run()
    assert all(declared(request) == ["tool_search", "weather"] for request in chat.provider.requests[1:])
    assert weather.calls == [{}]


async def test_what_is_no_longer_authorised_leaves_the_loaded_set() -> None:  # T22
    scripts = [call(select("weather", "notes")), say("."), say(".")]
    chat = chat_with(deferred("weather"), deferred("notes"), scripts=scripts)
    chat.inbox.waiting = ["go on"]
    chat.provider.scripts[1] = (Gate(), *say("."))
    gate = chat.provider.scripts[1][0]
    assert isinstance(gate, Gate)
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        chat.intent = ToolIntent(toolset="full", disabled=("weather",))
        gate.open()
    assert chat.loaded.names == ("notes",)
    assert declared(chat.provider.requests[2]) == declared(chat.provider.requests[1])  # masked, not taken out
    assert chat.emit.of(StepStarted)[-1].plan.masked == ("weather",)


async def test_a_tool_that_is_away_for_a_turn_stays_loaded() -> None:  # T22, C5, report 17
    scripts = [call(select("weather")), say("."), say("."), call(use("weather")), say(".")]
    chat = chat_with(scripts=scripts)
    weather = deferred("weather")
    chat.registry.put("mcp:sky", [weather.spec])
    chat.inbox.waiting = ["go on"]
    await chat.run()
    before = chat.provider.requests[-1]
    chat.registry.remove("mcp:sky")
    say_more(chat, "still there?")
    chat.provider.scripts[:] = [say("No.")]
    await chat.run()
    chat.registry.put("mcp:sky", [weather.spec])
    say_more(chat, "and now?")
    chat.provider.scripts[:] = [call(use("weather")), say("Sunny.")]
    await chat.run()
    assert chat.loaded.names == ("weather",)
    assert weather.calls == [{}]
    assert canonical(list(chat.provider.requests[-1].tools)) == canonical(list(before.tools))


async def test_a_rebase_at_the_start_of_a_turn_drops_what_was_loaded_and_never_called() -> None:
    scripts = [call(select("weather", "notes")), call(use("notes")), say(".")]
    chat = chat_with(deferred("weather"), deferred("notes"), scripts=scripts)
    await chat.run()
    chat.now += TTL + 1
    say_more(chat, "tomorrow")
    chat.provider.scripts[:] = [say("Hi.")]
    await chat.run()
    last = chat.provider.requests[-1]
    assert declared(last) == ["notes", "tool_search"]
    assert system(last).splitlines()[-1] == "weather"
    assert chat.emit.of(LoadedChanged)[-1] == LoadedChanged(("notes",))


async def test_a_rebase_keeps_a_group_of_which_one_was_called() -> None:
    trees = [deferred(f"worktree_{verb}", group="worktree") for verb in ("create", "list")]
    chat = chat_with(*trees, scripts=[call(use("worktree_list")), say(".")])
    await chat.run()
    chat.now += TTL + 1
    say_more(chat, "tomorrow")
    chat.provider.scripts[:] = [say("Hi.")]
    await chat.run()
    assert declared(chat.provider.requests[-1]) == ["tool_search", "worktree_create", "worktree_list"]


async def test_a_rebase_in_mid_turn_drops_nothing_that_was_selected() -> None:  # T18
    gate = Gate()
    slow = FakeTool("slow", held(gate))
    weather = deferred("weather")
    scripts = [call(select("weather")), call(use("slow")), call(use("weather")), say(".")]
    chat = chat_with(slow, weather, scripts=scripts)
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        chat.now += TTL + 1
        gate.open()
    assert chat.emit.of(StepStarted)[2].reason == "cold"
    assert "weather" in declared(chat.provider.requests[2])
    assert weather.calls == [{}]


# -- C2: a switch costs nothing, where discovery is there -------------------------------------------------------


async def test_a_preset_that_brings_tools_in_moves_no_byte_and_tells_their_names() -> None:  # C2, T5
    read, bash, weather = FakeTool("read"), FakeTool("bash"), deferred("weather")
    chat = chat_with(read, bash, weather, scripts=[say("Hi.")])
    chat.intent = ToolIntent(picked=("read", "tool_search"))
    await chat.run()
    chat.intent = ToolIntent(toolset="full")
    say_more(chat, "more")
    chat.provider.scripts[:] = [call(select("bash")), call(use("bash")), say("."), say(".")]
    await chat.run()
    first, second, third, _ = chat.provider.requests
    assert (first.tools, first.system) == (second.tools, second.system)
    assert "More tools that can be loaded: bash, weather." in second.messages[-1].text
    assert declared(third) == [*declared(first), "bash"]
    assert bash.calls == [{}]
    told = [message for message in chat.history.messages if "bash, weather" in message.text]
    assert len(told) == 1


@pytest.mark.parametrize(
    "narrower", [ToolIntent(toolset="full", disabled=("tool_search",)), ToolIntent(picked=("read", "weather"))]
)
async def test_a_switch_that_takes_the_finding_away_declares_nothing(narrower: ToolIntent) -> None:  # C2
    weather = deferred("weather")
    chat = chat_with(FakeTool("read"), weather, deferred("notes"), scripts=[say("Hi.")])
    await chat.run()
    chat.intent = narrower
    say_more(chat, "go on")
    chat.provider.scripts[:] = [say(".")]
    await chat.run()
    first, second = chat.provider.requests
    assert (first.tools, first.system) == (second.tools, second.system)
    chat.now += TTL + 1
    say_more(chat, "and later?")
    chat.provider.scripts[:] = [call(use("weather")), say(".")]
    await chat.run()
    assert "weather" in declared(chat.provider.requests[2])  # where the prompt is cold it costs nothing
    assert weather.calls == [{}]


async def test_what_a_preset_without_the_finding_brings_in_is_declared() -> None:
    weather = deferred("weather")
    chat = chat_with(FakeTool("read"), weather, scripts=[say("Hi.")])
    chat.intent = ToolIntent(picked=("read",))
    await chat.run()
    chat.intent = ToolIntent(picked=("read", "weather"))
    say_more(chat, "go on")
    chat.provider.scripts[:] = [call(use("weather")), say(".")]
    await chat.run()
    assert declared(chat.provider.requests[1]) == [*declared(chat.provider.requests[0]), "weather"]
    assert weather.calls == [{}]


async def test_more_tools_than_the_model_takes_is_said_where_none_can_wait() -> None:  # report 40: no silent drop
    tools = [deferred(f"tool_{number:03}") for number in range(130)]
    chat = Chat(ScriptedProvider(say(".")), *tools)
    await chat.run()
    assert len(chat.provider.requests[0].tools) == 128
    (raised,) = chat.emit.of(ErrorRaised)
    assert (raised.error.code, "130 tools are on" in raised.error.message) == ("too_many_tools", True)


async def test_each_request_extends_the_one_before_through_discoveries() -> None:  # law 4, C22
    scripts = [call(search("weather")), call(select("weather")), call(use("weather")), call(use("notes")), say(".")]
    chat = chat_with(deferred("weather"), deferred("notes"), scripts=scripts)
    await chat.run()
    for before, after in pairwise(chat.provider.requests):
        assert after.messages[: len(before.messages)] == before.messages
        assert after.tools[: len(before.tools)] == before.tools
        assert after.system == before.system


async def test_calls_of_tools_that_are_gone_replay_as_they_were() -> None:  # T24
    chat = chat_with(deferred("weather"), scripts=[call(use("weather", city="Rome")), say("Sunny.")])
    await chat.run()
    before = chat.provider.requests[-1]
    chat.registry.put("builtin", [tool_search])
    chat.now += TTL + 1
    say_more(chat, "and tomorrow?")
    chat.provider.scripts[:] = [say("Who knows.")]
    await chat.run()
    last = chat.provider.requests[-1]
    assert declared(last) == ["tool_search"]
    assert last.messages[: len(before.messages)] == before.messages


async def test_a_resumed_turn_loads_what_its_finished_calls_had_asked_for() -> None:  # T23
    weather = deferred("weather")
    chat = chat_with(weather, FakeTool("read"), scripts=[call(use("weather")), say(".")])
    calls = (select("weather", call_id="c_done"), use("read", "c_left"))
    chat.history.append(below(chat, "assistant", calls))
    done = ToolResultBlock("c_done", "ok", ())
    await chat.run(Resumed("t_1", 1, {"c_done": done}, "", {"c_done": ("weather",)}))
    assert declared(chat.provider.requests[0]) == ["read", "tool_search", "weather"]
    assert weather.calls == [{}]


async def test_nothing_is_inferred_from_the_text_of_results() -> None:  # T23
    chat = chat_with(deferred("weather"), scripts=[say(".")])
    chat.history.append(below(chat, "assistant", (select("weather", call_id="c_1"),)))
    done = ToolResultBlock("c_1", "ok", ())
    await chat.run(Resumed("t_1", 1, {"c_1": done}, ""))
    assert declared(chat.provider.requests[0]) == ["tool_search"]
