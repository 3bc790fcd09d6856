"""What the loop makes of strategies other than `append`: bridged calls, tools that wait, rewrites that pay."""

from dataclasses import replace

from openprogram.agent.deferral import newest_search
from openprogram.agent.tool_search import tool_search
from openprogram.core.events import StepStarted, ToolCallStarted
from openprogram.core.jsonio import JsonObject, JsonValue
from openprogram.core.messages import Block, Role, ToolResultBlock, ToolUseBlock
from openprogram.core.surface import Capability, Strategy
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.core.usage import Usage
from openprogram.surface.wanted import Place
from tests.support.agent import Chat, FakeTool
from tests.support.deferral import chat_with, declared, deferred, say_more, search, select, text
from tests.support.script import Script, call, chain, say, use


def chat_on(strategy: Strategy, *tools: FakeTool, scripts: list[Script]) -> Chat:
    """A chat with `tool_search` at an endpoint that is said to do this."""
    chat = chat_with(*tools, scripts=scripts)
    chat.model = replace(chat.model, capability=Capability(strategy=strategy))
    return chat


def bridged(name: str, **arguments: JsonValue) -> ToolUseBlock:
    return replace(use("call_tool"), arguments={"name": name, "arguments": arguments})


async def test_everyone_sees_the_inner_call_of_a_bridge() -> None:  # C8
    weather = deferred("weather")
    scripts = [call(select("weather")), call(bridged("weather", city="Bern")), say(".")]
    chat = chat_on("bridge", weather, scripts=scripts)
    await chat.run()
    assert weather.calls == [{"city": "Bern"}]
    assert [event.name for event in chat.emit.of(ToolCallStarted)] == ["tool_search", "weather"]
    [made] = [used for message in chat.history.messages for used in message.calls if used.bridged]
    assert (made.name, made.arguments) == ("weather", {"city": "Bern"})
    assert {tuple(declared(request)) for request in chat.provider.requests} == {("call_tool", "tool_search")}


async def test_a_bridge_leads_to_nothing_that_is_off() -> None:  # T4, law 6
    weather = deferred("weather")
    chat = chat_on("bridge", weather, scripts=[call(bridged("weather"), bridged("nothing")), say(".")])
    chat.switches.off.add("weather")
    await chat.run()
    assert [result.status for result in chat.results] == ["denied", "denied"]
    assert weather.calls == []


async def test_a_call_that_is_none_of_the_bridges_is_explained() -> None:
    chat = chat_on("bridge", deferred("weather"), scripts=[call(use("call_tool", city="Bern")), say(".")])
    await chat.run()
    assert [result.status for result in chat.results] == ["denied"]
    assert "takes the name of a loaded tool" in text(chat.results[0])


async def test_what_a_bridge_reached_is_worth_keeping_at_a_rebase() -> None:  # C4
    scripts = [call(select("weather", "notes")), call(bridged("weather")), say("."), say(".")]
    chat = chat_on("bridge", deferred("weather"), deferred("notes"), scripts=scripts)
    await chat.run()
    chat.now += 1000
    say_more(chat, "And now?")
    await chat.run()
    assert "weather" in declared(chat.provider.requests[-1])


async def test_on_frozen_what_comes_later_is_neither_told_of_nor_found_until_a_rebase() -> None:
    late = deferred("weather")
    scripts = [say("."), call(search("weather"), select("weather")), say("."), say(".")]
    chat = chat_on("frozen", deferred("notes"), scripts=scripts)
    await chat.run()
    chat.registry.put("mcp:sky", [late.spec])
    say_more(chat, "Weather?")
    await chat.run()
    first, second, *_ = chat.provider.requests
    assert first.tools == second.tools
    assert "weather" not in "".join(message.text for message in second.messages if message.role == "notice")
    assert "Loaded" not in "".join(map(text, chat.results))
    assert chat.loaded.names == ()
    chat.now += 1000
    say_more(chat, "And now?")
    await chat.run()
    assert declared(chat.provider.requests[-1]) == ["notes", "tool_search", "weather"]


async def test_dead_weight_goes_after_many_turns_though_the_cache_is_warm() -> None:  # C4
    usage = Usage(uncached=100, cache_read=0, output=5)
    heavy = FakeTool("heavy", description="word " * 2000)
    chat = chat_on("append", heavy, FakeTool("read"), scripts=[say(".", usage=usage) for _ in range(40)])

    async def switched_off(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        chat.intent = replace(chat.intent, disabled=("heavy",))
        return ToolOutput.text("off")

    chat.registry.put("builtin", [tool_search, heavy.spec, FakeTool("read", switched_off).spec])
    chat.provider.scripts.insert(0, call(use("read"), usage=usage))
    chat.inbox.waiting = ["Go on"] * 39
    await chat.run()
    rebases = [place for place, event in enumerate(chat.emit.of(StepStarted)) if event.plan.reason == "economy"]
    assert len(rebases) == 1
    assert rebases[0] > 10
    assert declared(chat.provider.requests[rebases[0] - 1]) == ["heavy", "read", "tool_search"]
    assert declared(chat.provider.requests[rebases[0]]) == ["read", "tool_search"]


def test_only_a_result_that_nothing_was_answered_to_takes_what_was_found() -> None:
    found, failed = ToolResultBlock("c_1", "ok", ()), ToolResultBlock("c_2", "error", ())
    asked: tuple[Role, tuple[Block, ...]] = (
        "assistant",
        (select("weather", call_id="c_1"), select("x", call_id="c_2"), search("y")),
    )
    history = chain(("user", "a"), asked, ("tool", (found, failed)), ("notice", "b"))
    assert newest_search(history) == Place(history[2].id, "c_1")
    assert newest_search([*history, *chain(("assistant", "c"))]) is None
    assert newest_search(history[:1]) is None
