"""Answers on the wire: holds, clients that go away, faults and pacing, in both wire formats."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import orjson
import pytest
import pytest_asyncio

from tests.support.fake import PATHS, FakeApi, ask, ended_well, fake_api, read_all

pytestmark = pytest.mark.asyncio(loop_scope="module")

APIS = pytest.mark.parametrize("api", list(PATHS))


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running() -> AsyncIterator[FakeApi]:
    async with fake_api() as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="module")
async def fake(running: FakeApi) -> FakeApi:
    await running.reset()
    return running


@APIS
async def test_a_hold_keeps_the_rest_back_until_it_is_released(fake: FakeApi, api: str) -> None:
    await fake.say("first", {"text": "second", "hold": "h"})
    async with ask(fake, api) as response:
        seen = b""
        while b"first" not in seen:
            seen += await response.content.readany()
        await fake.wait(held="h")
        assert b"second" not in seen
        await fake.release("h")
        rest, broken = await read_all(response)
    assert b"second" in rest
    assert ended_well(rest)
    assert not broken


@APIS
@pytest.mark.parametrize("stream", [True, False])
async def test_a_hold_before_the_first_byte_keeps_everything_back(fake: FakeApi, api: str, stream: bool) -> None:
    await fake.say("x", hold="start")

    async def post() -> int:
        async with ask(fake, api, stream=stream) as response:
            await response.read()
            return int(response.status)

    task = asyncio.create_task(post())
    await fake.wait(held="start", open=1)
    assert not task.done()
    await fake.release("start")
    assert await task == 200


async def test_a_hold_released_early_holds_nobody(fake: FakeApi) -> None:
    await fake.say("x", hold="h")
    await fake.release("h")
    async with ask(fake, "chat") as response:
        assert ended_well(await response.read())


@APIS
@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_that_goes_away_is_noticed(fake: FakeApi, api: str, stream: bool) -> None:
    await fake.say("a", {"text": "b", "hold": "never"})
    async with aiohttp.ClientSession(fake.base_url) as http:
        request = asyncio.create_task(ask(FakeApi(fake.base_url, http), api, stream=stream).__aenter__())
        await fake.wait(held="never")
        if stream:
            (await request).close()
        else:
            request.cancel()
            with pytest.raises(asyncio.CancelledError):
                await request
    state = await fake.wait_closed()
    assert state["closed_by_client"] == 1
    assert state["open"] == []
    [record] = await fake.requests()
    assert record["stream"] == "closed_by_client"


@APIS
async def test_a_cut_stream_ends_cleanly_without_a_finish(fake: FakeApi, api: str) -> None:
    async with ask(fake, api, "demo-cut") as response:
        data, broken = await read_all(response)
    assert not broken
    assert not ended_well(data)
    assert b"stop_reason" not in data.partition(b"content_block_start")[2]
    assert b'"finish_reason":"' not in data


@APIS
async def test_a_dropped_stream_breaks_the_connection(fake: FakeApi, api: str) -> None:
    await fake.script({"blocks": [{"type": "text", "chunks": ["a", "b"]}], "fault": {"kind": "drop", "after": 1}})
    async with ask(fake, api) as response:
        data, broken = await read_all(response)
    assert broken
    assert b'"a"' in data
    assert b'"b"' not in data


@APIS
async def test_a_stalled_stream_stays_open_until_the_client_leaves(fake: FakeApi, api: str) -> None:
    async with ask(fake, api, "demo-stall") as response:
        assert await response.content.readany()
        assert len((await fake.state())["open"]) == 1
        response.close()
    await fake.wait_closed()


@APIS
async def test_a_broken_chunk_is_broken_and_the_rest_follows(fake: FakeApi, api: str) -> None:
    async with ask(fake, api, "demo-badjson") as response:
        data, _ = await read_all(response)
    broken = 0
    for line in data.splitlines():
        payload = line.removeprefix(b"data: ")
        if not line.startswith(b"data: ") or payload == b"[DONE]":
            continue
        try:
            orjson.loads(payload)
        except orjson.JSONDecodeError:
            broken += 1
    assert broken == 1
    assert ended_well(data)


@APIS
async def test_an_error_in_the_middle_ends_the_stream(fake: FakeApi, api: str) -> None:
    async with ask(fake, api, "demo-error") as response:
        data, _ = await read_all(response)
    assert b"overloaded" in data
    assert not ended_well(data)


async def test_the_first_byte_can_be_slow(fake: FakeApi) -> None:
    await fake.script({"blocks": [{"type": "text", "text": "x"}], "fault": {"kind": "slow", "delay": 0.2}})
    loop = asyncio.get_running_loop()
    start = loop.time()
    async with ask(fake, "chat") as response:
        assert loop.time() - start >= 0.2  # it cannot be earlier, however loaded the machine is
        assert ended_well(await response.read())


@APIS
@pytest.mark.parametrize("name", ["demo-429", "demo-401", "demo-500", "demo-404"])
async def test_a_faulty_models_name_gives_its_status(fake: FakeApi, api: str, name: str) -> None:
    async with ask(fake, api, name) as response:
        assert response.status == int(name.removeprefix("demo-"))
        assert "error" in await response.json()


DELTAS = {
    "anthropic": b"text_delta",
    "chat": b'"delta":{"content":',
    "responses": b"event: response.output_text.delta",
}


@APIS
async def test_the_benchmark_streams_its_deltas(fake: FakeApi, api: str) -> None:
    async with ask(fake, api, "bench-500-0") as response:
        data, _ = await read_all(response)
    assert data.count(DELTAS[api]) == 500
    assert ended_well(data)


async def test_a_pace_cannot_be_exceeded(fake: FakeApi) -> None:
    loop = asyncio.get_running_loop()
    start = loop.time()
    async with ask(fake, "chat", "bench-21-100") as response:
        await read_all(response)
    assert loop.time() - start >= 0.2  # 20 intervals of 10 ms; it can be later, never earlier
