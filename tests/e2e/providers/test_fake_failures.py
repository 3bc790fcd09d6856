"""Bad days at the strict fake API, over real HTTP, in both wire formats: failures, retries, closing (P7, P13, P14)."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from openprogram.core.messages import TextBlock
from openprogram.core.ports import Provider
from openprogram.core.prompt import (
    Api,
    FailureAction,
    FailureCode,
    RequestSent,
    ResponseStarted,
    RetryScheduled,
    TextPiece,
)
from openprogram.providers.retry import RetryPolicy
from tests.support.fake import FakeApi
from tests.support.histories import message
from tests.support.providers import (
    collect,
    completed,
    failed,
    fake_address,
    only,
    provider_at,
    request,
    shown,
    stream_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

HELLO = message("user", "Hello")


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
    [_, end] = await collect(provider, request(HELLO))
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
    async with provider_at(api, fake_address(api, fake), stall_timeout_s=0.3) as provider:
        end = failed(await collect(provider, request(HELLO)))
        assert (end.failure.code, end.blocks) == ("stream_cut", (TextBlock("a"),))
        [_, silent] = await collect(provider, request(HELLO))
        assert failed([silent]).failure.code == "endpoint_down"


async def test_a_retry_follows_where_nothing_was_shown_and_waits_as_asked(fake: FakeApi, api: Api) -> None:  # P14
    await fake.script({"fault": {"kind": "rate_limit", "retry_after": 0.2}}, {"fault": {"kind": "overloaded"}})
    await fake.say("Hi.")
    async with provider_at(api, fake_address(api, fake), policy=RetryPolicy(first_s=0.01)) as provider:
        events = await collect(provider, request(HELLO))
    retries = only(events, RetryScheduled)
    assert [retry.failure.code for retry in retries] == ["rate_limited", "overloaded"]
    assert retries[0].delay_s >= 0.2
    assert completed(events).blocks == (TextBlock("Hi."),)
    assert len(await fake.requests()) == 3


async def test_nothing_is_sent_again_once_something_was_shown(fake: FakeApi, api: Api) -> None:  # P14
    await fake.script({"blocks": [{"type": "text", "chunks": ["a", "b"]}], "fault": {"kind": "cut", "after": 1}})
    async with provider_at(api, fake_address(api, fake), policy=RetryPolicy(first_s=0.01)) as provider:
        assert failed(await collect(provider, request(HELLO))).failure.code == "stream_cut"
    assert len(await fake.requests()) == 1


async def test_an_answer_cut_before_its_first_word_is_asked_for_again(fake: FakeApi, api: Api) -> None:  # P14
    await fake.script({"blocks": [{"type": "text", "chunks": ["a"]}], "fault": {"kind": "cut", "after": 0}})
    await fake.say("Hi.")
    async with provider_at(api, fake_address(api, fake), policy=RetryPolicy(first_s=0.01)) as provider:
        events = await collect(provider, request(HELLO))
    assert len(only(events, ResponseStarted)) == 1
    assert completed(events).blocks == (TextBlock("Hi."),)


async def test_closing_the_stream_closes_the_connection(fake: FakeApi, provider: Provider) -> None:  # P7
    await fake.script({"blocks": [{"type": "text", "chunks": ["a", {"text": "b", "hold": "never"}]}]})
    async with aclosing(stream_of(provider, request(HELLO))) as stream:
        sent, started, shown = [await anext(stream) for _ in range(3)]
        assert isinstance(sent, RequestSent)
        assert isinstance(started, ResponseStarted)
        assert shown == TextPiece(0, "a")
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


async def test_an_address_where_nothing_listens_is_told(api: Api) -> None:  # P13
    async with provider_at(api, "http://127.0.0.1:1/v1") as provider:
        [_, end] = await collect(provider, request(HELLO))
    failure = failed([end]).failure
    assert (failure.code, failure.action) == ("endpoint_down", "check_endpoint")
    assert "127.0.0.1:1" in failure.message
