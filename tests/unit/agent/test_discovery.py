"""Deferred tools in a turn: named, found, loaded and called."""

import asyncio
from dataclasses import replace

import pytest

from openprogram.agent.freeze import residency
from openprogram.agent.tool_search import tool_search
from openprogram.core.events import LoadedChanged, StepStarted, ToolCallFinished
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import decode_object
from openprogram.core.prompt import Residency
from tests.support.agent import Chat, FakeTool, held
from tests.support.deferral import (
    TTL,
    chat_with,
    declared,
    deferred,
    say_more,
    search,
    select,
    strict,
    system,
    text,
)
from tests.support.script import Gate, ScriptedProvider, call, say, use

# -- T16: what a fresh session is shown -------------------------------------------------------------------------


async def test_a_deferred_tool_is_named_in_the_system_prompt_and_not_declared() -> None:  # T16
    chat = chat_with(FakeTool("read"), deferred("weather"), deferred("apply_patch"), scripts=[say("Hi.")])
    await chat.run()
    (request,) = chat.provider.requests
    assert declared(request) == ["read", "tool_search"]
    assert system(request).splitlines()[-2:] == ["apply_patch", "weather"]
    (step,) = chat.emit.of(StepStarted)
    assert (step.resident, step.loaded, step.deferred_count) == (("read", "tool_search"), (), 2)


async def test_nothing_about_loading_is_said_when_nothing_is_deferred() -> None:  # T16: the catalog is empty text
    chat = chat_with(FakeTool("read"), scripts=[say("Hi.")])
    bare = Chat(ScriptedProvider(say("Hi.")), FakeTool("read"))
    await chat.run()
    await bare.run()
    assert chat.provider.requests[0].system == bare.provider.requests[0].system


async def test_nothing_is_deferred_where_nothing_could_find_it() -> None:
    chat = Chat(ScriptedProvider(say("Hi.")), FakeTool("read"), deferred("weather"))
    await chat.run()
    assert declared(chat.provider.requests[0]) == ["read", "weather"]


@pytest.mark.parametrize("declared_as", ["resident", "deferred"])
async def test_tool_search_is_never_deferred(declared_as: Residency) -> None:  # T16
    chat = chat_with(deferred("weather"), scripts=[say("Hi.")])
    chat.registry.put("builtin", [replace(tool_search, residency=declared_as), deferred("weather").spec])
    setup = await chat.prepare()
    assert residency(setup.contract) == {"tool_search": "resident", "weather": "deferred"}
    await chat.run()
    assert declared(chat.provider.requests[0]) == ["tool_search"]


async def test_a_disabled_tool_is_neither_declared_nor_named() -> None:  # T16: off is not deferred
    chat = chat_with(FakeTool("read"), deferred("weather"), deferred("notes"), scripts=[say("Hi.")])
    chat.intent = ToolIntent(toolset="full", disabled=("weather", "read"))
    await chat.run()
    (request,) = chat.provider.requests
    assert declared(request) == ["tool_search"]
    assert "weather" not in system(request)
    assert system(request).splitlines()[-1] == "notes"


# -- T17: finding and loading -----------------------------------------------------------------------------------


async def test_a_free_text_returns_full_schemas_and_loads_nothing() -> None:  # T17
    weather = strict("weather_forecast")
    chat = chat_with(weather, deferred("apply_patch"), scripts=[call(search("forecast for a city")), say(".")])
    await chat.run()
    (result,) = chat.results
    assert decode_object(text(result).splitlines()[0]) == weather.spec.declaration
    assert declared(chat.provider.requests[1]) == ["tool_search"]
    assert chat.loaded.names == ()
    assert chat.emit.of(LoadedChanged) == []


async def test_a_free_text_returns_at_most_eight() -> None:  # T17
    tools = [deferred(f"weather_{number}") for number in range(20)]
    chat = chat_with(*tools, scripts=[call(search("weather")), say(".")])
    await chat.run()
    assert len(text(chat.results[0]).splitlines()) == 9  # and the line that says how to load them


async def test_a_group_is_loaded_as_one() -> None:  # T17
    trees = [deferred(f"worktree_{verb}", group="worktree") for verb in ("create", "list", "remove")]
    chat = chat_with(*trees, deferred("weather"), scripts=[call(select("worktree_list")), say(".")])
    await chat.run()
    assert declared(chat.provider.requests[1]) == [
        "tool_search",
        "worktree_list",
        "worktree_create",
        "worktree_remove",
    ]


async def test_groups_of_two_servers_are_two_groups() -> None:  # T17
    chat = chat_with(scripts=[call(select("a_list")), say(".")])
    chat.registry.put("mcp:a", [deferred("a_list", group="files").spec, deferred("a_put", group="files").spec])
    chat.registry.put("mcp:b", [deferred("b_list", group="files").spec])
    await chat.run()
    assert chat.loaded.names == ("a_list", "a_put")


async def test_search_finds_nothing_that_the_chat_may_not_use() -> None:  # T17, T4
    chat = chat_with(
        deferred("weather_secret"),
        deferred("weather_open", group="weather"),
        deferred("weather_gone", group="weather"),
        scripts=[call(search("weather"), select("weather_secret", "weather_open")), say(".")],
    )
    chat.intent = ToolIntent(toolset="full", disabled=("weather_secret",))
    chat.switches.off.add("weather_gone")  # switched off after the turn was frozen
    await chat.run()
    found, selected = map(text, chat.results)
    assert "weather_open" in found
    assert "weather_secret" not in found
    assert "weather_gone" not in found + selected
    assert "Not a tool of this chat: weather_secret." in selected
    assert chat.loaded.names == ("weather_open",)


async def test_what_needs_no_loading_is_said_to_be_ready() -> None:
    chat = chat_with(FakeTool("read"), scripts=[call(select("read")), say(".")])
    await chat.run()
    assert (chat.results[0].status, text(chat.results[0])) == ("ok", "Ready already: read.")
    assert chat.loaded.names == ()


@pytest.mark.parametrize("query", ["select:", "select: , ", "   "])
async def test_an_empty_query_is_a_mistake_that_is_explained(query: str) -> None:
    chat = chat_with(deferred("weather"), scripts=[call(use("tool_search", query=query)), say(".")])
    await chat.run()
    assert chat.results[0].status == "error"


# -- T18, T22: in the same turn, in place, in the order of the calls --------------------------------------------


async def test_a_selected_tool_is_callable_in_the_next_step_of_the_same_turn() -> None:  # T18
    weather = deferred("weather")
    chat = chat_with(weather, FakeTool("read"), scripts=[call(select("weather")), call(use("weather")), say(".")])
    await chat.run()
    before, after, last = chat.provider.requests
    assert declared(after) == [*declared(before), "weather"]
    assert after.tools[:-1] == before.tools
    assert after.system == before.system == last.system  # the catalog moves at a rebase only
    assert weather.calls == [{}]
    assert [step.loaded for step in chat.emit.of(StepStarted)] == [(), ("weather",), ("weather",)]
    assert [step.deferred_count for step in chat.emit.of(StepStarted)] == [1, 0, 0]
    assert [step.reason for step in chat.emit.of(StepStarted)] == ["first_request", "discovered", "unchanged"]


async def test_a_loaded_tool_leaves_the_catalog_at_the_next_rebase() -> None:  # T18
    scripts = [call(select("weather")), call(use("weather")), say("."), say("Later.")]
    chat = chat_with(deferred("weather"), deferred("notes"), scripts=scripts)
    chat.inbox.waiting = ["and now?"]
    await chat.run()
    assert "weather" in system(chat.provider.requests[2]).splitlines()
    chat.inbox.waiting = []
    chat.now += TTL + 1
    say_more(chat, "tomorrow")
    chat.provider.scripts.append(say("Hello again."))
    await chat.run()
    last = chat.provider.requests[-1]
    assert declared(last) == ["tool_search", "weather"]
    assert "weather" not in system(last).splitlines()
    assert "notes" in system(last).splitlines()


async def test_discoveries_join_in_the_order_of_the_calls_not_of_their_ends() -> None:  # T22
    gate = Gate()
    slow = FakeTool("slow", held(gate), parallel_safe=True)
    answer = call(use("slow"), select("zebra"), select("ant"), select("mole", "ant"))
    chat = chat_with(slow, *map(deferred, ("ant", "mole", "zebra")), scripts=[answer, say(".")])
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        assert chat.loaded.names == ()
        gate.open()
    assert declared(chat.provider.requests[1]) == ["slow", "tool_search", "zebra", "ant", "mole"]
    (changed,) = chat.emit.of(LoadedChanged)
    assert (changed.loaded, changed.added) == (("zebra", "ant", "mole"), ("zebra", "ant", "mole"))


async def test_a_call_that_ends_last_and_was_first_joins_first() -> None:  # T22
    gate = Gate()
    slow = deferred("slow", act=held(gate), parallel_safe=True)
    chat = chat_with(slow, deferred("ant"), scripts=[call(use("slow"), select("ant")), say(".")])
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        gate.open()
    assert [event.discovered for event in chat.emit.of(ToolCallFinished)] == [("ant",), ("slow",)]
    assert chat.loaded.names == ("slow", "ant")


async def test_the_loaded_set_and_the_results_are_one_commit() -> None:  # T23: a safe point
    chat = chat_with(deferred("weather"), scripts=[call(select("weather")), say(".")])
    await chat.run()
    (commit,) = [one for one in chat.emit.commits if any(isinstance(event, LoadedChanged) for event in one)]
    assert [event.type for event in commit] == ["loaded_changed", "message_added"]


async def test_only_a_discovery_grows_the_loaded_set() -> None:  # T22
    weather = deferred("weather")
    chat = chat_with(FakeTool("read"), scripts=[call(use("read")), call(use("read")), say(".")])
    chat.registry.put("builtin", [tool_search, FakeTool("read").spec, weather.spec])
    await chat.run()
    assert {step.loaded for step in chat.emit.of(StepStarted)} == {()}
    assert chat.emit.of(LoadedChanged) == []


async def test_a_loaded_tool_runs_as_it_was_frozen_whatever_the_registry_holds_by_then() -> None:  # T22
    gate = Gate()
    old, new = deferred("weather"), deferred("weather")
    chat = chat_with(old, scripts=[call(select("weather")), (gate, *call(use("weather"))), say(".")])
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        chat.registry.put("builtin", [tool_search, new.spec])
        gate.open()
    assert (len(old.calls), len(new.calls)) == (1, 0)


async def test_a_tool_registered_in_mid_turn_cannot_be_found_in_it() -> None:  # T21
    gate = Gate()
    chat = chat_with(deferred("notes"), scripts=[(gate, *call(search("weather"), select("weather"))), say(".")])
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        chat.registry.put("plugin:weather", [deferred("weather").spec])
        gate.open()
    assert [result.status for result in chat.results] == ["ok", "error"]
    assert all('"name":"weather"' not in text(result) for result in chat.results)
    assert chat.loaded.names == ()


# -- T20: called without having been loaded ---------------------------------------------------------------------


async def test_a_deferred_tool_that_is_called_outright_is_loaded_and_executed() -> None:  # T20
    weather = strict("weather")
    chat = chat_with(weather, scripts=[call(use("weather", city="Rome")), say(".")])
    await chat.run()
    assert (chat.results[0].status, weather.calls) == ("ok", [{"city": "Rome"}])
    assert declared(chat.provider.requests[1]) == ["tool_search", "weather"]
    (finished,) = chat.emit.of(ToolCallFinished)
    assert finished.discovered == ("weather",)


async def test_one_that_is_called_with_wrong_arguments_gets_its_schema() -> None:  # T20
    weather = strict("weather")
    chat = chat_with(weather, scripts=[call(use("weather", town="Rome")), call(use("weather", city="Rome")), say(".")])
    await chat.run()
    refused, done = chat.results
    assert (refused.status, done.status) == ("error", "ok")
    schema = text(refused).partition("Its schema: ")[2]
    assert decode_object(schema) == weather.spec.declaration
    assert weather.calls == [{"city": "Rome"}]


async def test_a_tool_without_a_check_of_its_own_is_checked_by_its_schema() -> None:  # T20: an MCP tool
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    remote = deferred("weather", parameters=parameters)
    answer = call(use("weather"), use("weather", city=5), use("weather", city="Rome"))
    chat = chat_with(remote, scripts=[answer, say(".")])
    await chat.run()
    assert [result.status for result in chat.results] == ["error", "error", "ok"]
    assert remote.calls == [{"city": "Rome"}]


async def test_a_deferred_tool_that_is_off_is_refused_like_any_other() -> None:  # T20, T21
    weather = deferred("weather")
    chat = chat_with(weather, scripts=[call(use("weather")), say(".")])
    chat.switches.off.add("weather")
    await chat.run()
    assert (chat.results[0].status, weather.calls, chat.loaded.names) == ("denied", [], ())
