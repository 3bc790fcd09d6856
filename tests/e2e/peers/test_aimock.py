"""A tool loop in each wire format against aimock, a server that was not written here."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from openprogram.core.messages import Block, ReasoningBlock, TextBlock, ToolUseBlock
from openprogram.core.prompt import Api, Completed, ReasoningPiece
from openprogram.providers.retry import RetryPolicy
from tests.support.histories import chain, message, result
from tests.support.peers import Aimock, aimock
from tests.support.providers import collect, completed, failed, only, provider_at, request, shown

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASKED = message("user", "What is the weather?")
MODELS: dict[Api, str] = {"anthropic": "claude-opus-4-5", "openai-chat": "o4-mini", "openai-responses": "o4-mini"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def peer() -> AsyncIterator[Aimock]:
    # Chunks of three UTF-16 units cut emoji in half, as JavaScript servers do.
    async with aimock("--chunk-size", "3") as running:
        yield running


def said(answer: Completed) -> list[Block]:
    """What is meant for the user: the Responses API has each answer begin with reasoning that is not shown."""
    return [block for block in answer.blocks if not isinstance(block, ReasoningBlock)]


@pytest.mark.parametrize("api", MODELS)
async def test_streaming_with_parallel_tool_calls_and_their_results(peer: Aimock, api: Api) -> None:
    model = MODELS[api]
    async with provider_at(api, peer.address(api)) as provider:
        events = await collect(provider, request(ASKED, model=model))
        first = completed(events)
        calls = [block for block in first.blocks if isinstance(block, ToolUseBlock)]
        assert [call.arguments for call in calls] == [{"path": "alpha.txt"}, {"path": "漢字.txt"}]
        assert first.stop_reason == "tool_use"
        assert TextBlock(shown(events)) in first.blocks

        answer = message("assistant", *first.blocks, model=f"e/{model}")
        results = message("tool", *(result(call.call_id) for call in calls))
        history = chain(ASKED, answer, results)
        second = completed(await collect(provider, request(*history, model=model, previous_length=1)))
        assert (said(second), second.stop_reason) == ([TextBlock("It is sunny ☀️, 21 °C.")], "end_turn")

        closing = chain(*history, message("assistant", *second.blocks, model=f"e/{model}"), message("user", "thanks"))
        third = completed(await collect(provider, request(*closing, model=model, previous_length=3)))
        assert said(third) == [TextBlock("You are welcome.")]


@pytest.mark.parametrize("api", MODELS)
async def test_reasoning_is_streamed_and_kept(peer: Aimock, api: Api) -> None:
    async with provider_at(api, peer.address(api)) as provider:
        events = await collect(provider, request(ASKED, model=MODELS[api]))
    thought = completed(events).blocks[0]
    assert isinstance(thought, ReasoningBlock)
    assert thought.text == "Two files — «alpha» and 漢字."
    assert "".join(piece.text for piece in only(events, ReasoningPiece)) == thought.text


async def test_usage_arrives_with_chat_completions(peer: Aimock) -> None:
    async with provider_at("openai-chat", peer.address("openai-chat")) as provider:
        usage = completed(await collect(provider, request(message("user", "thanks"), model="o4-mini"))).usage
    assert usage.prompt is not None
    assert usage.output is not None


@pytest.mark.parametrize("api", MODELS)
async def test_what_it_received_is_what_was_sent(peer: Aimock, api: Api) -> None:
    async with provider_at(api, peer.address(api)) as provider:
        await collect(provider, request(message("user", "thanks"), model=MODELS[api]))
    body = (await peer.journal())[-1]["body"]
    assert body["model"] == MODELS[api]
    assert body["stream"] is True


@pytest.mark.parametrize("api", MODELS)
async def test_a_request_that_it_does_not_know_is_a_failure_after_retries(peer: Aimock, api: Api) -> None:
    policy = RetryPolicy(retries=1, first_s=0.01)
    async with provider_at(api, peer.address(api), policy=policy) as provider:
        end = failed(await collect(provider, request(message("user", "no fixture"), model=MODELS[api])))
    assert (end.failure.code, end.failure.status) == ("overloaded", 503)
