"""Both adapters against the strict fake API, over real HTTP, in both wire formats."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from openprogram.core.errors import NoEndpoint
from openprogram.core.messages import Message, ReasoningBlock, TextBlock, ToolUseBlock
from openprogram.core.ports import Provider
from openprogram.core.prompt import (
    Api,
    CallPiece,
    FailureAction,
    FailureCode,
    ReasoningPiece,
    ResponseStarted,
    RetryScheduled,
    TextPiece,
)
from openprogram.providers.config import ModelEntry
from openprogram.providers.retry import RetryPolicy
from tests.support.fake import FakeApi, fake_api
from tests.support.histories import chain, message, result
from tests.support.providers import (
    APIS,
    collect,
    completed,
    failed,
    only,
    provider_at,
    request,
    shown,
    stream_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

HELLO = message("user", "Hello")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running() -> AsyncIterator[FakeApi]:
    async with fake_api() as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="module")
async def fake(running: FakeApi) -> FakeApi:
    await running.reset()
    return running


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> Api:
    chosen: Api = request.param
    return chosen


@pytest_asyncio.fixture(loop_scope="module")
async def provider(api: Api, fake: FakeApi) -> AsyncIterator[Provider]:
    async with provider_at(api, address(api, fake)) as provider:
        yield provider


def address(api: Api, fake: FakeApi) -> str:
    return fake.anthropic_url if api == "anthropic" else fake.openai_url


async def test_text_streams_as_it_arrives(fake: FakeApi, provider: Provider) -> None:
    chunks = ["Hel", {"text": "lo", "hold": "second"}]
    await fake.script({"blocks": [{"type": "text", "chunks": chunks}]})
    async with aclosing(stream_of(provider, request(HELLO))) as stream:
        assert await anext(stream) == ResponseStarted()
        assert await anext(stream) == TextPiece(0, "Hel")
        await fake.wait(held="second")
        await fake.release("second")
        rest = [event async for event in stream]
    assert rest[0] == TextPiece(0, "lo")
    ending = completed(rest)
    assert (ending.blocks, ending.stop_reason) == ((TextBlock("Hello"),), "end_turn")


async def test_thinking_then_text(fake: FakeApi, provider: Provider, api: Api) -> None:
    await fake.script({"blocks": [{"type": "thinking", "text": "hm hm"}, {"type": "text", "text": "Hello there"}]})
    # Of the models that the fake knows, this one thinks by a budget.
    model = "claude-haiku-4-5" if api == "anthropic" else "demo"
    events = await collect(provider, request(HELLO, model=model, thinking_budget=2000))
    assert "".join(piece.text for piece in only(events, ReasoningPiece)) == "hm hm"
    thought, said = completed(events).blocks
    assert isinstance(thought, ReasoningBlock)
    assert (thought.text, thought.signature is not None, said) == (
        "hm hm",
        api == "anthropic",
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


async def test_a_refusal_by_the_filter_is_a_failure_that_keeps_what_was_said(fake: FakeApi, provider: Provider) -> None:
    await fake.script({"blocks": [{"type": "text", "text": "So first you"}], "stop_reason": "refusal"})
    end = failed(await collect(provider, request(HELLO)))
    assert (end.failure.code, end.blocks) == ("refused", (TextBlock("So first you"),))


FAULTS: list[tuple[str, FailureCode, FailureAction]] = [
    ("rate_limit", "rate_limited", "wait"),
    ("overloaded", "overloaded", "retry"),
    ("server_error", "endpoint_down", "retry"),
    ("unauthorised", "bad_key", "fix_key"),
    ("forbidden", "bad_key", "fix_key"),
    ("no_credit", "no_credit", "add_credit"),
    ("quota", "no_credit", "add_credit"),
    ("model_not_found", "model_not_found", "choose_model"),
    ("context_too_long", "context_too_long", "compact"),
]


@pytest.mark.parametrize(("kind", "code", "action"), FAULTS, ids=[kind for kind, *_ in FAULTS])
async def test_an_error_instead_of_an_answer_is_a_failure_with_an_action(  # P13
    fake: FakeApi, provider: Provider, kind: str, code: FailureCode, action: FailureAction
) -> None:
    await fake.script({"fault": {"kind": kind, "retry_after": 7}})
    [end] = await collect(provider, request(HELLO))
    failure = failed([end]).failure
    assert (failure.code, failure.action) == (code, action)
    assert failure.retry_after_s == (7 if kind == "rate_limit" else None)
    assert failure.status is not None
    assert failure.message.startswith(("e ", "The "))


@pytest.mark.parametrize(
    ("kind", "code"), [("cut", "stream_cut"), ("drop", "stream_cut"), ("bad_json", "bad_response")]
)
async def test_an_answer_that_breaks_keeps_what_arrived_and_is_never_taken_for_whole(  # P13, cases 46
    fake: FakeApi, provider: Provider, kind: str, code: FailureCode
) -> None:
    await fake.script(
        {"blocks": [{"type": "text", "chunks": ["a", "b", "c", "d"]}], "fault": {"kind": kind, "after": 2}}
    )
    events = await collect(provider, request(HELLO))
    end = failed(events)
    assert end.failure.code == code
    assert end.blocks == (TextBlock("ab"),)
    assert shown(events) == "ab"


async def test_an_error_in_the_middle_of_an_answer_keeps_what_arrived(fake: FakeApi, provider: Provider) -> None:  # P13
    fault = {"kind": "stream_error", "after": 2}
    await fake.script({"blocks": [{"type": "text", "chunks": ["a", "b", "c"]}], "fault": fault})
    end = failed(await collect(provider, request(HELLO)))
    assert end.failure.action == "retry"
    assert end.blocks == (TextBlock("ab"),)


async def test_a_call_that_was_cut_short_is_left_out(fake: FakeApi, provider: Provider) -> None:  # P13
    read = {"type": "tool_use", "name": "read", "chunks": ['{"path"', ': "a', '.txt"}']}
    await fake.script({"blocks": [{"type": "text", "chunks": ["I read."]}, read], "fault": {"kind": "cut", "after": 3}})
    assert failed(await collect(provider, request(HELLO))).blocks == (TextBlock("I read."),)


async def test_an_endpoint_that_falls_silent_is_given_up(fake: FakeApi, api: Api) -> None:
    fault = {"kind": "stall", "after": 1}
    await fake.script(
        {"blocks": [{"type": "text", "chunks": ["a", "b"]}], "fault": fault}, {"hold": "never", "blocks": []}
    )
    async with provider_at(api, address(api, fake), stall_timeout_s=0.3) as provider:
        end = failed(await collect(provider, request(HELLO)))
        assert (end.failure.code, end.blocks) == ("stream_cut", (TextBlock("a"),))
        [silent] = await collect(provider, request(HELLO))
        assert failed([silent]).failure.code == "endpoint_down"


async def test_a_retry_follows_where_nothing_was_shown_and_waits_as_asked(fake: FakeApi, api: Api) -> None:  # P14
    await fake.script({"fault": {"kind": "rate_limit", "retry_after": 0.2}}, {"fault": {"kind": "overloaded"}})
    await fake.say("Hi.")
    async with provider_at(api, address(api, fake), policy=RetryPolicy(first_s=0.01)) as provider:
        events = await collect(provider, request(HELLO))
    retries = only(events, RetryScheduled)
    assert [retry.failure.code for retry in retries] == ["rate_limited", "overloaded"]
    assert retries[0].delay_s >= 0.2
    assert completed(events).blocks == (TextBlock("Hi."),)
    assert len(await fake.requests()) == 3


async def test_nothing_is_sent_again_once_something_was_shown(fake: FakeApi, api: Api) -> None:  # P14
    await fake.script({"blocks": [{"type": "text", "chunks": ["a", "b"]}], "fault": {"kind": "cut", "after": 1}})
    async with provider_at(api, address(api, fake), policy=RetryPolicy(first_s=0.01)) as provider:
        assert failed(await collect(provider, request(HELLO))).failure.code == "stream_cut"
    assert len(await fake.requests()) == 1


async def test_an_answer_cut_before_its_first_word_is_asked_for_again(fake: FakeApi, api: Api) -> None:  # P14
    await fake.script({"blocks": [{"type": "text", "chunks": ["a"]}], "fault": {"kind": "cut", "after": 0}})
    await fake.say("Hi.")
    async with provider_at(api, address(api, fake), policy=RetryPolicy(first_s=0.01)) as provider:
        events = await collect(provider, request(HELLO))
    assert len(only(events, ResponseStarted)) == 1
    assert completed(events).blocks == (TextBlock("Hi."),)


async def test_closing_the_stream_closes_the_connection(fake: FakeApi, provider: Provider) -> None:  # P7
    await fake.script({"blocks": [{"type": "text", "chunks": ["a", {"text": "b", "hold": "never"}]}]})
    async with aclosing(stream_of(provider, request(HELLO))) as stream:
        assert [await anext(stream), await anext(stream)] == [ResponseStarted(), TextPiece(0, "a")]
        await fake.wait(held="never")
    await fake.wait_closed()


@pytest.mark.parametrize("hold_first_byte", [False, True])
async def test_cancelling_closes_the_connection(fake: FakeApi, provider: Provider, hold_first_byte: bool) -> None:  # P7
    chunks = ["a", {"text": "b", "hold": "never"}]
    script: dict[str, Any] = {"blocks": [{"type": "text", "chunks": chunks}]}
    await fake.script({**script, "hold": "never"} if hold_first_byte else script)
    task = asyncio.create_task(collect(provider, request(HELLO)))
    await fake.wait(held="never")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await fake.wait_closed()


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


async def test_an_address_where_nothing_listens_is_told(api: Api) -> None:  # P13
    async with provider_at(api, "http://127.0.0.1:1/v1") as provider:
        [end] = await collect(provider, request(HELLO))
    failure = failed([end]).failure
    assert (failure.code, failure.action) == ("endpoint_down", "check_endpoint")
    assert "127.0.0.1:1" in failure.message


async def test_a_base_url_alone_sends_no_key_at_all(fake: FakeApi, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
    async with provider_at(api, address(api, fake), key=None) as provider:
        assert failed(await collect(provider, request(HELLO))).failure.code == "bad_key"
    [received] = await fake.requests()
    assert not {"x-api-key", "authorization"} & set(received["headers"])


async def test_the_demo_model_really_calls_a_tool(provider: Provider) -> None:
    ending = completed(await collect(provider, request(message("user", "read README.md"))))
    assert [block.name for block in ending.blocks if isinstance(block, ToolUseBlock)] == ["read"]
