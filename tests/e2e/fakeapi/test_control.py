"""The control surface: bad hours, the bill and the diagnosis, seen over the wire."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tests.support.fake import HEADERS, PATHS, FakeApi, ask, fake_api, read_all

pytestmark = pytest.mark.asyncio(loop_scope="module")

APIS = pytest.mark.parametrize("api", sorted(PATHS))
SCHEMA: Any = {"type": "object"}
LONG = "rule " * 1500
MARK: Any = {"type": "ephemeral"}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running() -> AsyncIterator[FakeApi]:
    async with fake_api(moves="requests made by hand") as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="module")
async def fake(running: FakeApi) -> FakeApi:
    await running.reset()
    return running


async def send(fake: FakeApi, api: str, body: dict[str, Any]) -> tuple[int, Any]:
    """A request that does not stream: status and answer."""
    async with fake.http.post(PATHS[api], json=body, headers=HEADERS[api]) as response:
        return response.status, await response.json()


async def status(fake: FakeApi, api: str, model: str = "demo") -> int:
    async with ask(fake, api, model) as response:
        await response.read()
        return int(response.status)


@APIS
async def test_a_standing_fault_strikes_so_many_requests_and_no_more(fake: FakeApi, api: str) -> None:
    await fake.fail({"kind": "overloaded", "times": 2})
    await fake.say("still here")
    overloaded = 529 if api == "anthropic" else 503
    assert [await status(fake, api) for _ in range(3)] == [overloaded, overloaded, 200]
    assert (await fake.state())["scripts"] == 0


@APIS
async def test_a_standing_fault_holds_until_it_is_taken_back(fake: FakeApi, api: str) -> None:
    await fake.fail({"kind": "rate_limit", "match": {"model": "demo-x"}}, {"kind": "server_error"})
    assert [await status(fake, api, name) for name in ("demo-x", "demo", "demo-x")] == [429, 500, 429]
    await fake.fail()
    assert await status(fake, api) == 200


@APIS
async def test_a_standing_fault_spoils_streams_too(fake: FakeApi, api: str) -> None:
    await fake.fail({"kind": "drop", "after": 1, "times": 1})
    async with ask(fake, api) as response:
        data, broken = await read_all(response)
    assert broken
    assert data
    assert await status(fake, api) == 200


TOOLS: Any = [
    {"name": "read", "input_schema": SCHEMA},
    {"name": "late", "input_schema": SCHEMA, "defer_loading": True},
]
FUNCTION: Any = {"type": "function", "name": "read", "parameters": SCHEMA}


def messages(*more: Any, **other: Any) -> dict[str, Any]:
    return {"model": "demo", "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}, *more], **other}


def chat(*more: Any, **other: Any) -> dict[str, Any]:
    return {"model": "demo", "messages": [{"role": "user", "content": "hi"}, *more], **other}


def responses(*more: Any, **other: Any) -> dict[str, Any]:
    return {"model": "demo", "input": [{"role": "user", "content": "hi"}, *more], "store": False, **other}


KINDS = ("uncached", "read", "write_5m", "write_1h", "write_30m", "write_12h", "output")


async def test_the_bill_is_the_sum_of_what_was_reported(fake: FakeApi) -> None:  # C17
    hour: Any = {"type": "text", "text": LONG, "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    sums = dict.fromkeys(KINDS, 0)
    for text in ("hi", "hi", "list the files"):
        body = messages(system=[hour], cache_control=MARK)
        body["messages"][0]["content"] = text + LONG
        usage = (await send(fake, "anthropic", body))[1]["usage"]
        sums["uncached"] += usage["input_tokens"]
        sums["read"] += usage["cache_read_input_tokens"]
        sums["write_5m"] += usage["cache_creation"]["ephemeral_5m_input_tokens"]
        sums["write_1h"] += usage["cache_creation"]["ephemeral_1h_input_tokens"]
        sums["output"] += usage["output_tokens"]
    for ttl in ("30m", "12h", "12h"):
        body = responses({"role": "user", "content": ttl + LONG}, prompt_cache_options={"ttl": ttl})
        usage = (await send(fake, "responses", body))[1]["usage"]
        details = usage["input_tokens_details"]
        sums["uncached"] += usage["input_tokens"] - details["cached_tokens"] - details["cache_write_tokens"]
        sums["read"] += details["cached_tokens"]
        sums["write_30m"] += details["cache_write_tokens_details"]["ttl_30m_tokens"]
        sums["write_12h"] += details["cache_write_tokens_details"]["ttl_12h_tokens"]
        sums["output"] += usage["output_tokens"]
    for _ in range(2):
        usage = (await send(fake, "chat", chat({"role": "user", "content": LONG})))[1]["usage"]
        cached = usage["prompt_tokens_details"]["cached_tokens"]
        sums["read"] += cached
        sums["uncached"] += usage["prompt_tokens"] - cached
        sums["output"] += usage["completion_tokens"]
    await fake.fail({"kind": "rate_limit", "times": 1})
    assert (await send(fake, "chat", chat()))[0] == 429
    assert (await send(fake, "chat", {"model": "demo"}))[0] == 400
    bill = await fake.bill()
    assert {kind: bill["finished"][kind] for kind in KINDS} == sums
    assert all(sums.values())
    assert bill["finished"]["answers"] == 8
    assert bill["unfinished"]["answers"] == 0
    assert [(entry["api"], entry["finished"]["answers"]) for entry in bill["models"]] == [
        ("anthropic", 3),
        ("chat", 2),
        ("responses", 3),
    ]


@APIS
async def test_an_answer_that_breaks_off_is_billed_apart_with_what_was_sent(fake: FakeApi, api: str) -> None:
    chunks = ["one", " two", " three", " four"]
    await fake.script(
        {"blocks": [{"type": "text", "chunks": chunks}], "times": 2, "fault": {"kind": "drop", "after": 2}}
    )
    async with ask(fake, api) as response:
        await read_all(response)
    await fake.wait(open=0)
    bill = await fake.bill()
    assert bill["finished"] == dict.fromkeys(bill["finished"], 0)
    assert (bill["unfinished"]["answers"], bill["unfinished"]["output"]) == (1, 3)
    assert bill["unfinished"]["uncached"] > 0


async def test_a_script_may_lie_about_usage_but_not_about_the_bill(fake: FakeApi) -> None:
    await fake.say("ok", usage={"output_tokens": 10_000})
    assert (await send(fake, "anthropic", messages()))[1]["usage"]["output_tokens"] == 10_000
    assert (await fake.bill())["finished"]["output"] == 2


async def test_anthropic_says_why_the_cache_was_missed(fake: FakeApi) -> None:  # C18
    first = messages(system=LONG, tools=TOOLS, cache_control=MARK)
    answer = (await send(fake, "anthropic", first | {"diagnostics": {"previous_message_id": None}}))[1]
    assert "diagnostics" not in answer
    compared = {"diagnostics": {"previous_message_id": answer["id"]}}

    async def reason(**changed: Any) -> Any:
        said = (await send(fake, "anthropic", {**first, **compared, **changed}))[1].get("diagnostics")
        return None if said is None else said["cache_miss_reason"]

    longer = [*first["messages"], {"role": "assistant", "content": "hello"}, *first["messages"]]
    assert await reason() is None
    assert await reason(messages=longer) is None
    assert (await reason(model="demo-x"))["type"] == "model_changed"
    assert (await reason(system="other"))["type"] == "system_changed"
    tools = await reason(tools=[*TOOLS[1:], {"name": "b", "input_schema": SCHEMA}])
    assert tools["type"] == "tools_changed"
    assert tools["cache_missed_input_tokens"] > 1500
    other = [{"role": "user", "content": "hello there"}]
    assert (await reason(messages=other)) == {"type": "messages_changed", "cache_missed_input_tokens": 2}
    assert (await reason(tool_choice={"type": "none"})) == {"type": "unavailable"}
    unknown = {"previous_message_id": "msg_gone"}
    assert (await reason(diagnostics=unknown)) == {"type": "previous_message_not_found"}


async def test_openai_says_why_the_cache_was_missed(fake: FakeApi) -> None:  # C18
    first = responses({"role": "user", "content": LONG}, tools=[FUNCTION])
    answer = (await send(fake, "responses", first))[1]
    assert "prompt_cache_diagnostics" not in answer

    async def said(compared: str = answer["id"], **changed: Any) -> Any:
        options = {"prompt_cache_options": {"comparison_response_id": compared}}
        return (await send(fake, "responses", {**first, **options, **changed}))[1]["prompt_cache_diagnostics"]

    size = answer["usage"]["input_tokens"]
    assert await said() == {"type": "cache_hit"}
    assert await said(input=[*first["input"], *first["input"]]) == {"type": "cache_hit"}
    assert await said("resp_gone") == {"type": "comparison_response_not_found"}
    assert await said(parallel_tool_calls=False) == {"type": "unavailable"}
    for changed, reason in (
        ({"model": "gpt-6"}, "model_changed"),
        ({"prompt_cache_key": "k"}, "prompt_cache_key_changed"),
        ({"tools": [FUNCTION, {**FUNCTION, "name": "b"}]}, "tools_changed"),
        ({"reasoning": {"effort": "high"}}, "reasoning_effort_changed"),
        ({"text": {"verbosity": "low"}}, "verbosity_changed"),
        ({"service_tier": "flex"}, "service_tier_changed"),
    ):
        miss = await said(**changed)
        assert (miss["type"], miss["reason"]) == ("cache_miss", reason)
        assert miss["cache_missed_tokens"] == miss["comparison_reusable_tokens"] == size
    edited = await said(input=[first["input"][0], {"role": "user", "content": f"{LONG}!"}])
    assert edited["reason"] == "input_changed"
    assert 0 < edited["cache_missed_tokens"] < 5


async def test_faults_and_features_are_forgotten_by_a_reset(fake: FakeApi) -> None:
    await fake.fail({"kind": "overloaded"})
    await fake.refuse("tool_changes")
    await fake.reset()
    assert await status(fake, "chat") == 200
    await fake.reset()
    assert (await fake.bill())["models"] == []


async def test_a_wrong_fault_is_a_mistake_of_the_test(fake: FakeApi) -> None:
    async with fake.http.post("/__fake/faults", json={"kind": "earthquake"}) as response:
        assert isinstance(response, aiohttp.ClientResponse)
        assert response.status == 400


async def test_requests_are_told_without_their_bodies_where_that_is_asked_for(fake: FakeApi) -> None:
    async with ask(fake, "chat") as response:
        await response.read()
    async with fake.http.get("/__fake/requests?bodies=0") as response:
        [bare] = (await response.json())["requests"]
    [whole] = await fake.requests()
    assert whole["body"]["messages"]
    assert bare == {**whole, "body": None}
