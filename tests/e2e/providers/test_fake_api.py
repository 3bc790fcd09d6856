"""The adapters against the strict fake API, over real HTTP, in every wire format."""

from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from openprogram.core.errors import NoEndpoint
from openprogram.core.messages import Message, ReasoningBlock, TextBlock, ToolUseBlock
from openprogram.core.ports import Provider
from openprogram.core.prompt import (
    Api,
    CallPiece,
    ReasoningPiece,
    RequestSent,
    ResponseStarted,
    TextPiece,
)
from openprogram.providers.config import ModelEntry
from tests.support.fake import FakeApi
from tests.support.histories import chain, message, result
from tests.support.providers import (
    collect,
    completed,
    failed,
    fake_address,
    only,
    provider_at,
    request,
    stream_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

HELLO = message("user", "Hello")


async def test_text_streams_as_it_arrives(fake: FakeApi, provider: Provider) -> None:
    chunks = ["Hel", {"text": "lo", "hold": "second"}]
    await fake.script({"blocks": [{"type": "text", "chunks": chunks}]})
    async with aclosing(stream_of(provider, request(HELLO))) as stream:
        assert isinstance(await anext(stream), RequestSent)
        assert isinstance(await anext(stream), ResponseStarted)
        assert await anext(stream) == TextPiece(0, "Hel")
        await fake.wait(held="second")
        await fake.release("second")
        rest = [event async for event in stream]
    assert rest[0] == TextPiece(0, "lo")
    ending = completed(rest)
    assert (ending.blocks, ending.stop_reason) == ((TextBlock("Hello"),), "end_turn")


async def test_thinking_then_text(fake: FakeApi, provider: Provider, api: Api) -> None:
    await fake.script({"blocks": [{"type": "thinking", "text": "hm hm"}, {"type": "text", "text": "Hello there"}]})
    # Of the models that the fake knows, the first one thinks by a budget, the last one when it likes.
    model = {"anthropic": "claude-haiku-4-5", "openai-chat": "demo", "openai-responses": "gpt-6.2-sol"}[api]
    events = await collect(provider, request(HELLO, model=model, thinking_budget=2000))
    assert "".join(piece.text for piece in only(events, ReasoningPiece)) == "hm hm"
    thought, said = completed(events).blocks
    assert isinstance(thought, ReasoningBlock)
    assert (thought.text, thought.signature is not None, said) == (
        "hm hm",
        api != "openai-chat",
        TextBlock("Hello there"),
    )


async def test_parallel_calls_and_their_results_make_a_valid_second_request(fake: FakeApi, provider: Provider) -> None:
    await fake.script(
        {
            "blocks": [
                {"type": "text", "text": "I read both."},
                {"type": "tool_use", "name": "read", "input": {"path": "a"}},
                {"type": "tool_use", "name": "read", "input": {"path": "b"}},
            ]
        }
    )
    await fake.say("Both are good.")
    events = await collect(provider, request(HELLO))
    ending = completed(events)
    assert ending.stop_reason == "tool_use"
    calls = [block for block in ending.blocks if isinstance(block, ToolUseBlock)]
    assert [(one.name, one.arguments) for one in calls] == [("read", {"path": "a"}), ("read", {"path": "b"})]
    assert {piece.call_id for piece in only(events, CallPiece)} == {one.call_id for one in calls}

    answer = message("assistant", *ending.blocks, model="e/demo")
    results = message("tool", *(result(one.call_id) for one in reversed(calls)))
    notice = message("notice", "web search is on")
    second = await collect(provider, request(*chain(HELLO, answer, results, notice), previous_length=1))
    assert completed(second).blocks == (TextBlock("Both are good."),)


async def test_signed_thinking_goes_back_unchanged_within_a_tool_loop(fake: FakeApi) -> None:  # C14
    await fake.script(
        {
            "blocks": [
                {"type": "thinking", "text": "I must\nread "},
                {"type": "tool_use", "name": "read", "input": {"path": "a"}},
            ]
        }
    )
    await fake.say("Done.")
    async with provider_at("anthropic", fake.anthropic_url) as provider:
        ending = completed(await collect(provider, request(HELLO, model="claude-haiku-4-5", thinking_budget=2000)))
        [used] = [block for block in ending.blocks if isinstance(block, ToolUseBlock)]
        answer = message("assistant", *ending.blocks, model="e/claude-haiku-4-5")
        history = chain(HELLO, answer, message("tool", result(used.call_id)))
        # The fake refuses a changed signature (A45) and a tool loop that lost its thinking (A46).
        completed(await collect(provider, request(*history, model="claude-haiku-4-5", thinking_budget=2000)))


async def test_the_second_request_reads_what_the_first_wrote(
    fake: FakeApi, api: Api, provider: Provider
) -> None:  # C15, C17
    model = "claude-opus-5" if api == "anthropic" else "gpt-4.1"
    system = ("You help people. " * 400,)
    await fake.say("Hi.", times=2)

    async def usage(*messages: Message, previous: int) -> Any:
        sent = request(*messages, model=model, previous_length=previous)
        return completed(await collect(provider, replace(sent, system=system))).usage

    first = await usage(HELLO, previous=0)
    second = await usage(*chain(HELLO, message("assistant", "Hi."), message("user", "And now?")), previous=1)
    assert first.prompt > 1000
    assert second.cache_read >= (first.prompt if api == "anthropic" else first.prompt // 128 * 128)
    assert second.prompt > second.cache_read
    assert second.uncached + second.cache_read + (second.cache_write_5m or 0) == second.prompt


async def test_usage_that_is_not_reported_is_unknown(fake: FakeApi) -> None:  # C17
    await fake.say("Hi.", report_usage=False)
    async with provider_at("openai-chat", fake.openai_url) as provider:
        usage = completed(await collect(provider, request(HELLO))).usage
    assert (usage.uncached, usage.cache_read, usage.output) == (None, None, None)


async def test_the_output_limit_cuts_and_says_so(fake: FakeApi, provider: Provider) -> None:
    await fake.script({"blocks": [{"type": "text", "text": "one two"}], "stop_reason": "max_tokens"})
    assert completed(await collect(provider, request(HELLO))).stop_reason == "max_tokens"


async def test_the_endpoint_is_asked_for_its_models(fake: FakeApi, api: Api, provider: Provider) -> None:
    await fake.list_models("claude-opus-5" if api == "anthropic" else "gpt-4.1", "demo")
    known, demo = await provider.models()
    assert (demo.id, demo.endpoint, demo.model) == ("e/demo", "e", "demo")
    assert (known.context_window, known.title) == (1_000_000, "Claude Opus 5" if api == "anthropic" else "GPT-4.1")


async def test_configured_models_are_offered_without_asking(api: Api) -> None:
    async with provider_at(api, "http://127.0.0.1:1", models=(ModelEntry("m"),)) as provider:
        assert [model.id for model in await provider.models()] == ["e/m"]


async def test_a_dead_address_is_told_when_models_are_listed(api: Api) -> None:
    async with provider_at(api, "http://127.0.0.1:1") as provider:
        with pytest.raises(NoEndpoint, match="cannot be reached"):
            await provider.models()


async def test_a_base_url_alone_sends_no_key_at_all(fake: FakeApi, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
    async with provider_at(api, fake_address(api, fake), key=None) as provider:
        assert failed(await collect(provider, request(HELLO))).failure.code == "bad_key"
    [received] = await fake.requests()
    assert not {"x-api-key", "authorization"} & set(received["headers"])


async def test_the_demo_model_really_calls_a_tool(provider: Provider) -> None:
    ending = completed(await collect(provider, request(message("user", "read README.md"))))
    assert [block.name for block in ending.blocks if isinstance(block, ToolUseBlock)] == ["read"]
