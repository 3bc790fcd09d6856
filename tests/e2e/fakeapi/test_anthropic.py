"""The fake API with the official anthropic SDK as its client, which checks the wire format."""

from collections.abc import AsyncIterator
from typing import Any

import anthropic
import pytest
import pytest_asyncio

from openprogram.fakeapi.shapes import without
from tests.support.fake import ANTHROPIC_HEADERS, FakeApi, fake_api

pytestmark = pytest.mark.asyncio(loop_scope="module")

READ: Any = {
    "name": "read",
    "description": "Read a file.",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
HI: Any = [{"role": "user", "content": "hi"}]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running() -> AsyncIterator[FakeApi]:
    async with fake_api(moves="requests made by hand") as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="module")
async def fake(running: FakeApi) -> FakeApi:
    await running.reset()
    return running


@pytest_asyncio.fixture(loop_scope="module")
async def client(fake: FakeApi) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(
        base_url=fake.anthropic_url, api_key="test", max_retries=0, _strict_response_validation=True
    ) as made:
        yield made


async def test_text_streams_in_the_documented_order(fake: FakeApi, client: anthropic.AsyncAnthropic) -> None:
    await fake.say("Hel", "lo", " there")
    stream = await client.messages.create(model="demo", max_tokens=50, messages=HI, stream=True)
    events = [event async for event in stream]
    assert [event.type for event in events] == [
        "message_start",
        "content_block_start",
        *["content_block_delta"] * 3,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    deltas = [event.delta for event in events if event.type == "content_block_delta"]
    assert [delta.text for delta in deltas if delta.type == "text_delta"] == ["Hel", "lo", " there"]


async def test_a_ping_and_event_names_are_on_the_wire(fake: FakeApi) -> None:
    await fake.say("x")
    body = {"model": "demo", "max_tokens": 5, "messages": HI, "stream": True}
    async with fake.http.post("/v1/messages", json=body, headers=ANTHROPIC_HEADERS) as response:
        lines = (await response.text()).splitlines()
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["request-id"].startswith("req_")
    assert "event: ping" in lines
    assert lines[0] == "event: message_start"


async def test_the_streamed_message_and_the_whole_one_are_the_same(
    fake: FakeApi, client: anthropic.AsyncAnthropic
) -> None:
    blocks = [
        {"type": "thinking", "text": "let me see"},
        {"type": "text", "text": "I read it."},
        {"type": "tool_use", "name": "read", "input": {"path": "a", "n": [1, {"x": None}]}, "id": "toolu_1"},
        {"type": "tool_use", "name": "read", "input": {}, "id": "toolu_2"},
    ]
    await fake.script({"blocks": blocks, "times": 2})
    asked: dict[str, Any] = {
        "model": "demo",
        "max_tokens": 2000,
        "messages": HI,
        "tools": [READ],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    async with client.messages.stream(**asked) as stream:
        streamed = await stream.get_final_message()
    whole = await client.messages.create(**asked)
    first, second = ([block.to_dict() for block in message.content] for message in (streamed, whole))
    assert [without(block, "parsed_output") for block in first] == second
    assert streamed.stop_reason == whole.stop_reason == "tool_use"
    assert [block.type for block in whole.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert streamed.usage.output_tokens == whole.usage.output_tokens
    details = whole.usage.output_tokens_details or streamed.usage.output_tokens_details
    assert details is not None
    assert details.thinking_tokens > 0


async def test_a_tool_loop_with_thinking_runs_to_its_end(fake: FakeApi, client: anthropic.AsyncAnthropic) -> None:
    messages: list[Any] = [{"role": "user", "content": "read README.md"}]
    asked: dict[str, Any] = {
        "model": "demo",
        "max_tokens": 3000,
        "tools": [READ],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    async with client.messages.stream(messages=messages, **asked) as stream:
        first = await stream.get_final_message()
    [call] = [block for block in first.content if block.type == "tool_use"]
    assert call.input == {"path": "README.md"}
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "# The title"}
    messages += [first.to_param(), {"role": "user", "content": [result]}]
    second = await client.messages.create(messages=messages, **asked)
    assert second.stop_reason == "end_turn"
    assert "# The title" in "".join(block.text for block in second.content if block.type == "text")


async def test_thinking_must_come_back_unchanged(fake: FakeApi, client: anthropic.AsyncAnthropic) -> None:  # C14
    asked: dict[str, Any] = {
        "model": "demo",
        "max_tokens": 3000,
        "tools": [READ],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    task: Any = {"role": "user", "content": "read README.md"}
    first = await client.messages.create(messages=[task], **asked)
    [call] = [block for block in first.content if block.type == "tool_use"]
    results: Any = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "x"}]}
    content: list[Any] = [block.model_dump(exclude_none=True) for block in first.content]
    dropped: Any = {"role": "assistant", "content": content[1:]}
    with pytest.raises(anthropic.BadRequestError, match="Expected `thinking`"):
        await client.messages.create(messages=[task, dropped, results], **asked)
    edited: Any = {"role": "assistant", "content": [{**content[0], "thinking": "edited"}, *content[1:]]}
    with pytest.raises(anthropic.BadRequestError, match="Invalid `signature`"):
        await client.messages.create(messages=[task, edited, results], **asked)


async def test_hidden_thinking_has_a_signature_and_no_text(client: anthropic.AsyncAnthropic) -> None:
    thinking: Any = {"type": "adaptive", "display": "omitted"}
    async with client.messages.stream(
        model="demo", max_tokens=3000, messages=[{"role": "user", "content": "think hard"}], thinking=thinking
    ) as stream:
        first = (await stream.get_final_message()).content[0]
    assert first.type == "thinking"
    assert first.thinking == ""
    assert first.signature


async def test_cached_input_is_reported_exclusively(fake: FakeApi, client: anthropic.AsyncAnthropic) -> None:
    await fake.script({"blocks": [{"type": "text", "text": "ok"}], "times": 3})
    system: Any = [{"type": "text", "text": "rule " * 3000, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
    hi: Any = {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}
    first = (await client.messages.create(model="demo", max_tokens=9, system=system, messages=[hi])).usage
    assert first.cache_creation is not None
    assert first.cache_creation.ephemeral_1h_input_tokens > 3000
    assert first.cache_creation.ephemeral_5m_input_tokens > 0
    assert first.cache_read_input_tokens == 0
    second = (await client.messages.create(model="demo", max_tokens=9, system=system, messages=[hi])).usage
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens
    assert second.cache_creation_input_tokens == 0
    total = second.input_tokens + (second.cache_read_input_tokens or 0)
    counted = await client.messages.count_tokens(model="demo", system=system, messages=[hi])
    assert counted.input_tokens == total
    await fake.advance(3600)
    third = (await client.messages.create(model="demo", max_tokens=9, system=system, messages=[hi])).usage
    assert third.cache_read_input_tokens == 0
    verdicts = [request["cache"] for request in await fake.requests() if request["api"] == "anthropic"]
    assert [verdict["read"] for verdict in verdicts] == [0, second.cache_read_input_tokens, 0]
    assert verdicts[1]["common_prefix"] == verdicts[1]["prompt"]


async def test_max_tokens_cuts_the_answer_and_says_so(fake: FakeApi, client: anthropic.AsyncAnthropic) -> None:
    await fake.say(*["word "] * 100)
    message = await client.messages.create(model="demo", max_tokens=10, messages=HI)
    assert message.stop_reason == "max_tokens"
    assert message.usage.output_tokens <= 10
    prewarm = await client.messages.create(model="demo", max_tokens=0, messages=HI)
    assert (prewarm.content, prewarm.usage.output_tokens) == ([], 0)


@pytest.mark.parametrize(
    ("kind", "error", "status", "type"),
    [
        ("rate_limit", anthropic.RateLimitError, 429, "rate_limit_error"),
        ("overloaded", anthropic.InternalServerError, 529, "overloaded_error"),
        ("server_error", anthropic.InternalServerError, 500, "api_error"),
        ("unauthorised", anthropic.AuthenticationError, 401, "authentication_error"),
        ("forbidden", anthropic.PermissionDeniedError, 403, "permission_error"),
        ("no_credit", anthropic.APIStatusError, 402, "billing_error"),
        ("quota", anthropic.BadRequestError, 400, "invalid_request_error"),
        ("model_not_found", anthropic.NotFoundError, 404, "not_found_error"),
        ("context_too_long", anthropic.BadRequestError, 400, "invalid_request_error"),
    ],
)
async def test_an_error_on_purpose_is_the_real_apis_error(
    fake: FakeApi,
    client: anthropic.AsyncAnthropic,
    kind: str,
    error: type[anthropic.APIStatusError],
    status: int,
    type: str,
) -> None:
    await fake.script({"fault": {"kind": kind, "retry_after": 7}})
    with pytest.raises(error) as caught:
        await client.messages.create(model="demo", max_tokens=9, messages=HI, stream=True)
    assert caught.value.status_code == status
    body: Any = caught.value.body
    assert (body["type"], body["error"]["type"]) == ("error", type)
    assert body["request_id"] == caught.value.request_id
    assert caught.value.response.headers.get("retry-after") == ("7" if kind == "rate_limit" else None)


async def test_an_error_in_mid_stream_is_an_error_event(fake: FakeApi, client: anthropic.AsyncAnthropic) -> None:
    await fake.script(
        {"blocks": [{"type": "text", "chunks": ["a", "b", "c"]}], "fault": {"kind": "stream_error", "after": 2}}
    )
    seen = []
    stream = await client.messages.create(model="demo", max_tokens=9, messages=HI, stream=True)
    with pytest.raises(anthropic.APIStatusError) as caught:  # noqa: PT012 - the events before it count
        async for event in stream:
            seen.append(event)
    assert "overloaded_error" in str(caught.value.body)
    assert sum(event.type == "content_block_delta" for event in seen) == 2


async def test_a_rule_is_named_in_the_record(fake: FakeApi, client: anthropic.AsyncAnthropic) -> None:
    with pytest.raises(anthropic.BadRequestError, match="text content blocks must be non-empty"):
        await client.messages.create(
            model="demo", max_tokens=9, messages=[{"role": "user", "content": [{"type": "text", "text": ""}]}]
        )
    [request] = await fake.requests()
    assert (request["status"], request["rule"]) == (400, "A38")


async def test_models_are_listed_in_anthropics_shape(fake: FakeApi, client: anthropic.AsyncAnthropic) -> None:
    assert [model.id async for model in client.models.list()] == ["demo"]
    await fake.list_models("demo", "claude-opus-5-5", "gpt-6")
    assert [model.id async for model in client.models.list()] == ["demo", "claude-opus-5-5"]
    model = await client.models.retrieve("claude-opus-5-5")
    assert model.max_input_tokens == 1_000_000
    with pytest.raises(anthropic.NotFoundError):
        await client.models.retrieve("gpt-6")


async def test_counting_obeys_the_same_rules(client: anthropic.AsyncAnthropic) -> None:
    with pytest.raises(anthropic.BadRequestError, match="at least one message is required"):
        await client.messages.count_tokens(model="demo", messages=[])
