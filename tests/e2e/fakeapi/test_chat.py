"""The fake API with the official openai SDK as its client, which checks the wire format."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
import pytest_asyncio

from tests.support.fake import OPENAI_HEADERS, FakeApi, fake_api

pytestmark = pytest.mark.asyncio(loop_scope="module")

READ: Any = {
    "type": "function",
    "function": {
        "name": "read",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
HI: Any = [{"role": "user", "content": "hi"}]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running() -> AsyncIterator[FakeApi]:
    async with fake_api() as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="module")
async def fake(running: FakeApi) -> FakeApi:
    await running.reset()
    return running


@pytest_asyncio.fixture(loop_scope="module")
async def client(fake: FakeApi) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url=fake.openai_url, api_key="test", max_retries=0, _strict_response_validation=True
    ) as made:
        yield made


async def test_text_streams_with_role_finish_and_usage(fake: FakeApi, client: openai.AsyncOpenAI) -> None:
    await fake.say("Hel", "lo")
    stream = await client.chat.completions.create(
        model="demo", messages=HI, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [c.choices[0].delta.content for c in chunks[1:3]] == ["Hel", "lo"]
    assert chunks[3].choices[0].finish_reason == "stop"
    assert chunks[4].choices == []
    assert chunks[4].usage is not None
    assert chunks[4].usage.total_tokens == chunks[4].usage.prompt_tokens + chunks[4].usage.completion_tokens
    assert all(chunk.usage is None for chunk in chunks[:4])
    assert len({chunk.id for chunk in chunks}) == 1


async def test_usage_comes_only_if_asked_for(fake: FakeApi, client: openai.AsyncOpenAI) -> None:
    await fake.say("x")
    stream = await client.chat.completions.create(model="demo", messages=HI, stream=True)
    chunks = [chunk async for chunk in stream]
    assert all(chunk.usage is None and chunk.choices for chunk in chunks)


async def test_the_stream_ends_with_done(fake: FakeApi) -> None:
    await fake.say("x")
    body = {"model": "demo", "messages": HI, "stream": True}
    async with fake.http.post("/v1/chat/completions", json=body, headers=OPENAI_HEADERS) as response:
        assert (await response.text()).endswith("data: [DONE]\n\n")


async def test_parallel_calls_stream_by_index_and_equal_the_whole(fake: FakeApi, client: openai.AsyncOpenAI) -> None:
    blocks = [
        {"type": "text", "text": "Two files."},
        {"type": "tool_use", "name": "read", "input": {"path": "a"}, "id": "call_1"},
        {"type": "tool_use", "name": "read", "input": {"path": "b"}, "id": "call_2"},
    ]
    await fake.script({"blocks": blocks, "times": 2})
    stream = await client.chat.completions.create(model="demo", messages=HI, tools=[READ], stream=True)
    names: dict[int, tuple[str, str]] = {}
    arguments: dict[int, str] = {}
    finish = None
    async for chunk in stream:
        choice = chunk.choices[0]
        finish = choice.finish_reason or finish
        for call in choice.delta.tool_calls or ():
            assert call.function is not None
            if call.id:
                names[call.index] = (call.id, call.function.name or "")
            arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
    whole = (await client.chat.completions.create(model="demo", messages=HI, tools=[READ])).choices[0]
    made = [
        (c.id, c.function.name, c.function.arguments) for c in whole.message.tool_calls or () if c.type == "function"
    ]
    assert made == [(*names[index], arguments[index]) for index in sorted(names)]
    assert arguments == {0: '{"path":"a"}', 1: '{"path":"b"}'}
    assert finish == whole.finish_reason == "tool_calls"
    assert whole.message.content == "Two files."


async def test_a_tool_loop_runs_to_its_end(client: openai.AsyncOpenAI) -> None:
    messages: list[Any] = [{"role": "user", "content": "read README.md"}]
    first = (await client.chat.completions.create(model="demo", messages=messages, tools=[READ])).choices[0].message
    assert first.tool_calls is not None
    messages += [
        first.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "# The title"},
    ]
    second = (await client.chat.completions.create(model="demo", messages=messages, tools=[READ])).choices[0]
    assert second.finish_reason == "stop"
    assert "# The title" in (second.message.content or "")


async def test_reasoning_streams_beside_the_content(client: openai.AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="demo",
        messages=[{"role": "user", "content": "think hard about tides"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    reasoning, usage = "", None
    async for chunk in stream:
        usage = chunk.usage
        if chunk.choices:
            reasoning += getattr(chunk.choices[0].delta, "reasoning_content", None) or ""
    assert "scripted chain of thought" in reasoning
    assert usage is not None
    assert usage.completion_tokens_details is not None
    assert (usage.completion_tokens_details.reasoning_tokens or 0) > 50


async def test_cached_input_is_reported_inclusively(fake: FakeApi, client: openai.AsyncOpenAI) -> None:
    system: Any = {"role": "system", "content": "rule " * 3000}
    usages = []
    for text in ("hi", "hello"):
        await fake.say("ok")
        answer = await client.chat.completions.create(
            model="demo", messages=[system, {"role": "user", "content": text}]
        )
        assert answer.usage is not None
        usages.append(answer.usage)
    details = usages[1].prompt_tokens_details
    assert details is not None
    assert details.cached_tokens == 2944  # the largest multiple of 128 in the 3,004 common tokens
    assert usages[1].prompt_tokens > 3000
    [first, _] = await fake.requests()
    assert first["cache"]["read"] == 0


async def test_max_tokens_cuts_the_answer_and_says_so(fake: FakeApi, client: openai.AsyncOpenAI) -> None:
    await fake.say(*["word "] * 100)
    answer = await client.chat.completions.create(model="demo", max_completion_tokens=10, messages=HI)
    assert answer.choices[0].finish_reason == "length"


@pytest.mark.parametrize(
    ("kind", "error", "status", "code"),
    [
        ("rate_limit", openai.RateLimitError, 429, "rate_limit_exceeded"),
        ("overloaded", openai.InternalServerError, 503, "overloaded"),
        ("server_error", openai.InternalServerError, 500, None),
        ("unauthorised", openai.AuthenticationError, 401, "invalid_api_key"),
        ("forbidden", openai.PermissionDeniedError, 403, "insufficient_permissions"),
        ("no_credit", openai.APIStatusError, 402, None),
        ("quota", openai.RateLimitError, 429, "insufficient_quota"),
        ("model_not_found", openai.NotFoundError, 404, "model_not_found"),
        ("context_too_long", openai.BadRequestError, 400, "context_length_exceeded"),
    ],
)
async def test_an_error_on_purpose_is_the_real_apis_error(
    fake: FakeApi,
    client: openai.AsyncOpenAI,
    kind: str,
    error: type[openai.APIStatusError],
    status: int,
    code: str | None,
) -> None:
    await fake.script({"fault": {"kind": kind}})
    with pytest.raises(error) as caught:
        await client.chat.completions.create(model="demo", messages=HI)
    assert (caught.value.status_code, caught.value.code) == (status, code)
    assert caught.value.response.headers.get("retry-after") == ("1" if kind == "rate_limit" else None)


async def test_models_are_listed_in_openais_shape(fake: FakeApi, client: openai.AsyncOpenAI) -> None:
    await fake.list_models("demo", "claude-opus-5-5", "gpt-6")
    assert [model.id async for model in client.models.list()] == ["demo", "gpt-6"]


async def test_models_with_breakpoints_report_what_they_wrote(fake: FakeApi) -> None:
    body = {"model": "gpt-6", "messages": [{"role": "user", "content": "word " * 2000}]}
    seen = []
    for _ in range(2):
        async with fake.http.post("/v1/chat/completions", json=body, headers=OPENAI_HEADERS) as response:
            details = (await response.json())["usage"]["prompt_tokens_details"]
            seen.append((details["cached_tokens"], details["cache_write_tokens"]))
    assert seen[0][0] == seen[1][1] == 0
    assert seen[0][1] == seen[1][0] > 2000
