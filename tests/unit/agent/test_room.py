"""Tool tokens in the budget for the next prompt, before it is sent (spec tools.md section 5)."""

from dataclasses import replace

from openprogram.agent.room import fixed_tokens, next_prompt, text_tokens
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import canonical
from openprogram.core.prompt import ProviderRequest
from openprogram.core.usage import Usage
from openprogram.providers.pricing import wire_tool
from openprogram.tokens import count_tokens
from tests.support.agent import Chat, FakeTool
from tests.support.deferral import chat_with, declared, deferred, say_more, select
from tests.support.script import MODEL, ScriptedProvider, call, say, use


def tools_of(request: ProviderRequest) -> int:
    return sum(count_tokens(canonical(wire_tool("openai-chat", tool)).decode()) for tool in request.tools)


def system_of(request: ProviderRequest) -> int:
    return sum(map(text_tokens, request.system))


async def test_a_first_prompt_counts_what_is_declared_the_floor_and_the_names_of_what_waits() -> None:
    waiting = [deferred(f"take_notes_of_part_{number}") for number in range(20)]
    chat = chat_with(FakeTool("look"), *waiting, scripts=[say("Hello.")])
    chat.intent = ToolIntent(toolset="full", disabled=("look",))
    chat.floor = ("look",)
    estimate = next_prompt(chat.environment, await chat.prepare())
    await chat.run()
    (request,) = chat.provider.requests
    assert declared(request) == ["look", "tool_search"]
    assert "take_notes_of_part_19" in "".join(request.system)
    sent = tools_of(request) + system_of(request) + text_tokens(request.messages[0].text)
    assert 0.95 * sent <= estimate <= 1.1 * sent


async def test_another_model_is_counted_the_loaded_tools_that_it_is_shown() -> None:
    ant = deferred("ant", description="word " * 500)
    chat = chat_with(ant, scripts=[call(select("ant")), call(use("ant")), say("There."), say("Here.")])
    await chat.run()
    say_more(chat, "and more")
    chat.model = replace(MODEL, id="fake/other")
    estimate = fixed_tokens(chat.environment, await chat.prepare())
    await chat.run()
    request = chat.provider.requests[-1]
    assert declared(request) == ["ant", "tool_search"]
    sent = tools_of(request) + system_of(request)
    assert 0.95 * sent <= estimate <= 1.1 * sent


async def test_tools_that_join_with_the_next_request_are_counted_before_it() -> None:
    chat = Chat(ScriptedProvider(say("Hello.", usage=Usage(uncached=1_000, output=10)), say("Here.")), FakeTool("look"))
    await chat.run()
    late = [FakeTool(f"late_{number}", description="word " * 500) for number in range(10)]
    chat.registry.put("mcp:late", [tool.spec for tool in late])
    say_more(chat, "and more")
    estimate = next_prompt(chat.environment, await chat.prepare())
    await chat.run()
    before, after = map(tools_of, chat.provider.requests)
    assert after - before > 5_000
    assert estimate >= 1_000 + after - before
