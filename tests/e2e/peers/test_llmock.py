"""A tool loop and bad days in both wire formats against llmock, which was not written here and judges its client."""

from collections.abc import Iterator

import pytest
from llmock.scenarios import Fail, StreamFault, ToolFault
from llmock.verdict import judge

from openprogram.core.messages import TextBlock, ToolUseBlock
from openprogram.core.prompt import Api, FailureCode, RequestSent, RetryScheduled
from openprogram.providers.answer import INVALID_ARGUMENTS
from openprogram.providers.retry import RetryPolicy
from tests.support.histories import chain, message, result
from tests.support.peers import Llmock, llmock_server
from tests.support.providers import APIS, collect, completed, failed, only, provider_at, request, shown

ASKED = message("user", "Please read the file notes.txt")
QUICK = RetryPolicy(first_s=0.1)
MODELS: dict[Api, str] = {"anthropic": "claude-opus-4-5", "openai-chat": "gpt-4.1"}


@pytest.fixture(scope="module")
def running() -> Iterator[Llmock]:
    with llmock_server() as peer:
        yield peer


@pytest.fixture
def peer(running: Llmock) -> Llmock:
    running.server.state.reset()
    return running


def assert_well_behaved(peer: Llmock) -> None:
    """Its verdict on this client: no early retry, no retry of what cannot succeed, no storm, no missing back-off."""
    judge(peer.server.state.journal.records(wait=2.0)).assert_ok(strict=True)


@pytest.mark.parametrize("api", APIS)
async def test_streaming_with_a_tool_call_and_its_result(peer: Llmock, api: Api) -> None:
    async with provider_at(api, peer.address(api)) as provider:
        first = completed(await collect(provider, request(ASKED, model=MODELS[api])))
        [call] = [block for block in first.blocks if isinstance(block, ToolUseBlock)]
        assert call.name == "read"
        assert isinstance(call.arguments["path"], str)
        history = chain(ASKED, message("assistant", *first.blocks), message("tool", result(call.call_id)))
        events = await collect(provider, request(*history, model=MODELS[api], previous_length=1))
        assert completed(events).stop_reason == "end_turn"
        assert completed(events).blocks == (TextBlock(shown(events)),)
        assert shown(events)
    assert_well_behaved(peer)


@pytest.mark.parametrize("api", APIS)
async def test_rate_limits_and_overload_are_waited_out(peer: Llmock, api: Api) -> None:  # P14
    peer.server.state.scenarios.add(Fail(429, retry_after=0.5), Fail(503), Fail(529))
    async with provider_at(api, peer.address(api), policy=QUICK) as provider:
        events = await collect(provider, request(ASKED, model=MODELS[api]))
    assert [retry.failure.code for retry in only(events, RetryScheduled)] == [
        "rate_limited",
        "overloaded",
        "overloaded",
    ]
    completed(events)
    assert_well_behaved(peer)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("status", "code"), [(401, "bad_key"), (403, "bad_key"), (402, "no_credit"), (422, "bad_request")]
)
async def test_what_cannot_succeed_is_not_sent_again(peer: Llmock, api: Api, status: int, code: FailureCode) -> None:
    peer.server.state.scenarios.add(Fail(status))
    async with provider_at(api, peer.address(api), policy=QUICK) as provider:
        events = await collect(provider, request(ASKED, model=MODELS[api]))
    assert failed(events).failure.code == code
    assert len(only(events, RequestSent)) == 1
    assert only(events, RetryScheduled) == []
    assert_well_behaved(peer)


@pytest.mark.parametrize("api", APIS)
async def test_a_prompt_that_is_too_long_is_told_as_that(peer: Llmock, api: Api) -> None:  # P13
    overflow = Fail(400, message="This model's maximum context length was exceeded.", code="context_length_exceeded")
    peer.server.state.scenarios.add(overflow)
    async with provider_at(api, peer.address(api), policy=QUICK) as provider:
        assert failed(await collect(provider, request(ASKED, model=MODELS[api]))).failure.code == "context_too_long"
    assert_well_behaved(peer)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("kind", ["disconnect", "truncate"])
async def test_an_answer_cut_before_its_first_word_is_asked_for_again(peer: Llmock, api: Api, kind: str) -> None:  # P14
    peer.server.state.scenarios.add(StreamFault(kind, after_chunks=0))  # type: ignore[arg-type]
    async with provider_at(api, peer.address(api), policy=QUICK) as provider:
        events = await collect(provider, request(message("user", "Tell me"), model=MODELS[api], tools=False))
    assert [retry.failure.code for retry in only(events, RetryScheduled)] == ["stream_cut"]
    completed(events)
    assert_well_behaved(peer)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("kind", "code"), [("disconnect", "stream_cut"), ("truncate", "stream_cut"), ("malformed", "bad_response")]
)
async def test_an_answer_that_breaks_keeps_what_was_shown_and_is_not_sent_again(  # P13, P14
    peer: Llmock, api: Api, kind: str, code: FailureCode
) -> None:
    peer.server.state.scenarios.add(StreamFault(kind, after_chunks=6))  # type: ignore[arg-type]
    async with provider_at(api, peer.address(api), policy=QUICK) as provider:
        events = await collect(provider, request(message("user", "Tell me"), model=MODELS[api], tools=False))
    end = failed(events)
    assert end.failure.code == code
    assert end.blocks == (TextBlock(shown(events)),)
    assert shown(events)
    assert len(peer.server.state.journal.records(wait=2.0)) == 1


@pytest.mark.parametrize("api", APIS)
async def test_a_stream_that_falls_silent_is_given_up(peer: Llmock, api: Api) -> None:
    peer.server.state.scenarios.add(StreamFault("stall", after_chunks=6, stall_seconds=30))
    async with provider_at(api, peer.address(api), stall_timeout_s=0.5) as provider:
        events = await collect(provider, request(message("user", "Tell me"), model=MODELS[api], tools=False))
    assert failed(events).failure.code == "stream_cut"
    assert_well_behaved(peer)


@pytest.mark.parametrize("api", APIS)
async def test_a_call_with_broken_arguments_is_told_from_one_without(peer: Llmock, api: Api) -> None:
    peer.server.state.scenarios.add(ToolFault("malformed_arguments"))
    async with provider_at(api, peer.address(api)) as provider:
        blocks = completed(await collect(provider, request(ASKED, model=MODELS[api]))).blocks
    [call] = [block for block in blocks if isinstance(block, ToolUseBlock)]
    assert list(call.arguments) == [INVALID_ARGUMENTS]


@pytest.mark.parametrize("api", APIS)
async def test_its_models_are_listed(peer: Llmock, api: Api) -> None:
    async with provider_at(api, peer.address(api)) as provider:
        assert await provider.models()
