"""The fake API with the official openai SDK as its client, which checks the wire format of Responses."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
import pytest_asyncio
from openai.types.responses import Response

from tests.support.fake import FakeApi, ask, fake_api, read_all

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCHEMA: Any = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
READ: Any = {"type": "function", "name": "read", "description": "Read a file.", "parameters": SCHEMA, "strict": False}
LATE: Any = {**READ, "name": "late", "defer_loading": True}
SEARCH: Any = {"type": "tool_search", "execution": "client", "description": "d", "parameters": {"type": "object"}}
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


def replayed(response: Response) -> list[Any]:
    """The items of an answer as the next request's input: exactly as they came, without empty fields."""
    return [item.model_dump(mode="json", exclude_none=True) for item in response.output]


async def test_text_streams_in_the_documented_order(fake: FakeApi, client: openai.AsyncOpenAI) -> None:
    await fake.say("Hel", "lo")
    stream = await client.responses.create(model="gpt-6", input="hi", store=False, stream=True)
    events = [event async for event in stream]
    assert [event.type for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in events] == list(range(10))
    assert [event.delta for event in events if event.type == "response.output_text.delta"] == ["Hel", "lo"]


async def test_the_streamed_response_and_the_whole_one_are_the_same(fake: FakeApi, client: openai.AsyncOpenAI) -> None:
    blocks = [
        {"type": "thinking", "text": "let me see"},
        {"type": "text", "text": "I read it."},
        {"type": "tool_use", "name": "read", "input": {"path": "a", "n": [1, {"x": None}]}, "id": "call_1"},
        {"type": "tool_use", "name": "tool_search", "input": {"query": "late"}, "id": "call_2"},
    ]
    await fake.script({"blocks": blocks, "times": 2})
    asked: dict[str, Any] = {
        "model": "gpt-6",
        "input": HI,
        "store": False,
        "tools": [READ, SEARCH],
        "reasoning": {"effort": "high", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
    }
    async with client.responses.stream(**asked) as stream:
        async for event in stream:
            if event.type == "response.function_call_arguments.done":
                assert event.arguments == '{"path":"a","n":[1,{"x":null}]}'
        streamed = await stream.get_final_response()
    whole = await client.responses.create(**asked)
    kinds = ["reasoning", "message", "function_call", "tool_search_call"]
    for response in (streamed, whole):
        assert [item.type for item in response.output] == kinds
        assert response.output_text == "I read it."
        assert response.status == "completed"
        assert response.usage is not None
        assert response.usage.output_tokens_details.reasoning_tokens > 0
    first, second = replayed(streamed), replayed(whole)
    assert [{**item, "id": ""} for item in second] == [
        {key: value for key, value in {**item, "id": ""}.items() if key != "parsed_arguments"} for item in first
    ]
    assert second[0]["summary"] == [{"type": "summary_text", "text": "let me see"}]
    assert second[3]["arguments"] == {"query": "late"}
    assert second[3]["execution"] == "client"


async def test_a_tool_loop_with_reasoning_runs_to_its_end(client: openai.AsyncOpenAI) -> None:
    items: list[Any] = [{"role": "user", "content": "read README.md"}]
    first = await client.responses.create(model="demo", input=items, tools=[READ], store=False)
    [call] = [item for item in first.output if item.type == "function_call"]
    assert call.arguments == '{"path":"README.md"}'
    items += [*replayed(first), {"type": "function_call_output", "call_id": call.call_id, "output": "# The title"}]
    second = await client.responses.create(model="demo", input=items, tools=[READ], store=False)
    assert "# The title" in second.output_text


async def test_reasoning_is_sealed_and_counts_when_it_comes_back(client: openai.AsyncOpenAI) -> None:
    items: list[Any] = [{"role": "user", "content": "think hard about tides"}]
    first = await client.responses.create(model="gpt-6", input=items, store=False)
    thought = first.output[0]
    assert thought.type == "reasoning"
    assert thought.summary == []
    assert thought.encrypted_content
    items += [*replayed(first), {"role": "user", "content": "more"}]
    second = await client.responses.create(model="gpt-6", input=items, store=False)
    less = await client.responses.create(model="gpt-6", input=[items[0], *items[2:]], store=False)
    assert second.usage is not None
    assert less.usage is not None
    assert first.usage is not None
    dropped = second.usage.input_tokens - less.usage.input_tokens
    assert dropped == first.usage.output_tokens_details.reasoning_tokens + 1
    silent = await client.responses.create(model="gpt-6", input=items[:1], store=False, reasoning={"effort": "none"})
    assert [item.type for item in silent.output] == ["message"]
    items[1]["encrypted_content"] = items[1]["encrypted_content"][:-12]
    with pytest.raises(openai.BadRequestError, match="could not be verified"):
        await client.responses.create(model="gpt-6", input=items, store=False)


async def test_tools_added_later_can_be_called_and_move_no_cached_token(client: openai.AsyncOpenAI) -> None:
    added: Any = {"type": "additional_tools", "role": "developer", "tools": [{**READ, "name": "late"}]}
    asked: dict[str, Any] = {"model": "gpt-6", "tools": [READ], "store": False, "instructions": "rule " * 2000}
    items: list[Any] = [{"role": "user", "content": 'call late {"path": "a"}'}]
    first = await client.responses.create(input=items, **asked)
    assert [item.type for item in first.output] == ["message"]
    second = await client.responses.create(input=[*items, added], **asked)
    [call] = [item for item in second.output if item.type == "function_call"]
    assert (call.name, call.arguments) == ("late", '{"path":"a"}')
    assert first.usage is not None
    assert second.usage is not None
    wrote = first.usage.input_tokens_details.cache_write_tokens
    assert second.usage.input_tokens_details.cached_tokens == wrote == first.usage.input_tokens > 2000


async def test_the_client_searches_for_tools(client: openai.AsyncOpenAI) -> None:
    items: list[Any] = [{"role": "user", "content": 'call late {"path": "a"}'}]
    asked: dict[str, Any] = {"model": "gpt-5.5", "tools": [READ, SEARCH], "store": False}
    first = await client.responses.create(input=items, **asked)
    [search] = [item for item in first.output if item.type == "tool_search_call"]
    output = {"type": "tool_search_output", "call_id": search.call_id, "execution": "client", "tools": [LATE]}
    items += [*replayed(first), {**output, "status": "completed"}]
    second = await client.responses.create(input=items, **asked)
    assert [item.name for item in second.output if item.type == "function_call"] == ["late"]


async def test_the_provider_searches_for_tools(client: openai.AsyncOpenAI) -> None:
    items: list[Any] = [{"role": "user", "content": 'call late {"path": "a"}'}]
    asked: dict[str, Any] = {"model": "gpt-6", "tools": [READ, LATE, {"type": "tool_search"}], "store": False}
    async with client.responses.stream(input=items, **asked) as stream:
        first = await stream.get_final_response()
    kinds = [item.type for item in first.output]
    assert kinds == ["message", "tool_search_call", "tool_search_output", "function_call"]
    [call] = [item for item in first.output if item.type == "function_call"]
    replay = [{key: v for key, v in item.items() if key != "parsed_arguments"} for item in replayed(first)]
    items += [*replay, {"type": "function_call_output", "call_id": call.call_id, "output": "done"}]
    second = await client.responses.create(input=items, **asked)
    assert "done" in second.output_text


async def test_a_mask_narrows_what_is_called_and_keeps_the_cache(client: openai.AsyncOpenAI) -> None:
    asked: dict[str, Any] = {"model": "gpt-6", "tools": [READ, {**READ, "name": "grep"}], "store": False}
    items: Any = [{"role": "user", "content": "read README.md " + "word " * 2000}]
    first = await client.responses.create(input=items, **asked)
    assert "function_call" in [item.type for item in first.output]
    mask: Any = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "grep"}]}
    second = await client.responses.create(input=items, tool_choice=mask, **asked)
    assert [item.type for item in second.output] == ["message"]
    assert second.usage is not None
    assert second.usage.input_tokens_details.cached_tokens == second.usage.input_tokens


async def test_writes_are_reported_by_lifetime_and_a_key_separates_caches(
    fake: FakeApi, client: openai.AsyncOpenAI
) -> None:
    long = "rule " * 2000
    marked: Any = {"type": "input_text", "text": long, "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}}
    items: Any = [{"role": "developer", "content": [marked]}, {"role": "user", "content": long}]

    async def details(key: str, **more: Any) -> Any:
        answer = await client.responses.create(model="gpt-6", input=items, store=False, prompt_cache_key=key, **more)
        assert answer.usage is not None
        return answer.usage.input_tokens_details

    first = await details("a")
    assert first.cached_tokens == 0
    assert first.cache_write_tokens_details.ttl_12h_tokens > 2000
    assert first.cache_write_tokens_details.ttl_30m_tokens > 2000
    assert (await details("a")).cached_tokens == first.cache_write_tokens
    assert (await details("b")).cached_tokens == 0
    assert (await details("a", reasoning={"effort": "high"})).cached_tokens == 0
    await fake.advance(1800)
    again = await details("a")
    assert again.cached_tokens == first.cache_write_tokens_details.ttl_12h_tokens
    assert again.cache_write_tokens_details.ttl_30m_tokens == first.cache_write_tokens_details.ttl_30m_tokens


async def test_older_models_cache_in_steps_and_bill_no_writes(client: openai.AsyncOpenAI) -> None:
    items: Any = [{"role": "user", "content": "word " * 2000}]
    for cached in (0, 1920):
        answer = await client.responses.create(model="gpt-5.5", input=items, store=False)
        assert answer.usage is not None
        assert answer.usage.input_tokens_details.cached_tokens == cached
        assert answer.usage.input_tokens_details.cache_write_tokens == 0


async def test_a_cut_answer_says_so(fake: FakeApi, client: openai.AsyncOpenAI) -> None:
    await fake.say(*["word "] * 100)
    async with client.responses.stream(model="gpt-6", input="hi", max_output_tokens=16, store=False) as stream:
        events = [event.type async for event in stream]
    assert events[-1] == "response.incomplete"
    await fake.say(*["word "] * 100)
    answer = await client.responses.create(model="gpt-6", input="hi", max_output_tokens=16, store=False)
    assert answer.incomplete_details is not None
    assert answer.incomplete_details.reason == "max_output_tokens"
    assert [item.status for item in answer.output if item.type == "message"] == ["incomplete"]


@pytest.mark.parametrize(
    ("kind", "error", "status", "code"),
    [
        ("rate_limit", openai.RateLimitError, 429, "rate_limit_exceeded"),
        ("overloaded", openai.InternalServerError, 503, "overloaded"),
        ("server_error", openai.InternalServerError, 500, None),
        ("unauthorised", openai.AuthenticationError, 401, "invalid_api_key"),
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
        await client.responses.create(model="gpt-6", input="hi", store=False)
    assert (caught.value.status_code, caught.value.code) == (status, code)


async def test_an_error_in_mid_stream_is_an_error_event(fake: FakeApi, client: openai.AsyncOpenAI) -> None:
    fault = {"kind": "stream_error", "after": 2}
    await fake.script({"blocks": [{"type": "text", "chunks": ["a", "b", "c"]}], "fault": fault})
    stream = await client.responses.create(model="gpt-6", input="hi", store=False, stream=True)
    events = [event async for event in stream]
    assert sum(event.type == "response.output_text.delta" for event in events) == 2
    assert events[-1].type == "error"
    assert events[-1].code == "overloaded"


@pytest.mark.parametrize("block", [{"type": "thinking", "text": "a b c d e"}, {"type": "text", "text": "a b c d e"}])
async def test_a_cut_stream_ends_without_its_last_event(fake: FakeApi, block: dict[str, Any]) -> None:
    await fake.script({"blocks": [block], "fault": {"kind": "cut", "after": 2}})
    async with ask(fake, "responses") as response:
        data, broken = await read_all(response)
    assert not broken
    assert b"response.created" in data
    assert b"response.completed" not in data
    assert b"output_item.done" not in data


async def test_a_rule_is_named_in_the_record(fake: FakeApi, client: openai.AsyncOpenAI) -> None:
    call: Any = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}
    with pytest.raises(openai.BadRequestError, match="No tool output found"):
        await client.responses.create(model="gpt-6", input=[*HI, call], store=False)
    [request] = await fake.requests()
    assert (request["status"], request["rule"]) == (400, "R35")
