"""The process: its control surface, holds, faults on the wire, pacing, guards and end."""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import orjson
import pytest
import pytest_asyncio

from tests.support.fake import ANTHROPIC_HEADERS, OPENAI_HEADERS, FakeApi, fake_api
from tests.support.tree import ROOT

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATHS = {"anthropic": "/v1/messages", "chat": "/v1/chat/completions"}
HEADERS = {"anthropic": ANTHROPIC_HEADERS, "chat": OPENAI_HEADERS}
APIS = pytest.mark.parametrize("api", list(PATHS))


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running() -> AsyncIterator[FakeApi]:
    async with fake_api() as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="module")
async def fake(running: FakeApi) -> FakeApi:
    await running.reset()
    return running


def ask(fake: FakeApi, api: str, model: str = "demo", *, stream: bool = True, text: str = "hi") -> Any:
    """A request in either wire format, as aiohttp's context manager."""
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": text}], "stream": stream}
    if api == "anthropic":
        body["max_tokens"] = 5000
    return fake.http.post(PATHS[api], json=body, headers=HEADERS[api])


async def read_all(response: aiohttp.ClientResponse) -> tuple[bytes, bool]:
    """What arrives, and whether the connection broke before the end of the body."""
    data = b""
    try:
        async for chunk in response.content.iter_any():
            data += chunk
    except aiohttp.ClientPayloadError:
        return data, True
    return data, False


def ended_well(data: bytes) -> bool:
    return b"event: message_stop" in data or b"data: [DONE]" in data


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


@APIS
async def test_the_benchmark_streams_its_deltas(fake: FakeApi, api: str) -> None:
    async with ask(fake, api, "bench-500-0") as response:
        data, _ = await read_all(response)
    assert data.count(b"text_delta" if api == "anthropic" else b'"delta":{"content":') == 500
    assert ended_well(data)


async def test_a_pace_cannot_be_exceeded(fake: FakeApi) -> None:
    loop = asyncio.get_running_loop()
    start = loop.time()
    async with ask(fake, "chat", "bench-21-100") as response:
        await read_all(response)
    assert loop.time() - start >= 0.2  # 20 intervals of 10 ms; it can be later, never earlier


async def test_scripted_usage_is_merged_and_can_be_left_out(fake: FakeApi) -> None:
    said = [{"type": "text", "text": "x"}]
    await fake.script(
        {"blocks": said, "usage": {"prompt_tokens": 7, "total_tokens": None}}, {"blocks": said, "report_usage": False}
    )
    async with ask(fake, "chat", stream=False) as response:
        usage = (await response.json())["usage"]
    assert usage["prompt_tokens"] == 7
    assert "total_tokens" not in usage
    async with ask(fake, "chat", stream=False) as response:
        assert "usage" not in await response.json()


async def test_the_record_shows_headers_and_body_in_order(fake: FakeApi) -> None:
    for text in ("one", "two"):
        async with ask(fake, "chat", text=text) as response:
            await response.read()
    records = await fake.requests()
    assert [record["body"]["messages"][0]["content"] for record in records] == ["one", "two"]
    assert records[0]["headers"]["authorization"] == "Bearer test"
    assert [record["number"] for record in await fake.requests(since=1)] == [2]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/__fake/script", b"{oops"),
        ("POST", "/__fake/script", b'{"blocks": [{"type": "video"}]}'),
        ("POST", "/__fake/clock", b"{}"),
        ("POST", "/__fake/models", b'{"models": "demo"}'),
        ("GET", "/__fake/wait?meteors=1", b""),
        ("GET", "/__fake/wait?closed=x", b""),
        ("GET", "/__fake/requests?since=x", b""),
    ],
)
async def test_a_wrong_control_request_says_what_is_wrong(fake: FakeApi, method: str, path: str, body: bytes) -> None:
    async with fake.http.request(method, path, data=body) as response:
        assert response.status == 400
        assert (await response.json())["error"]


async def test_a_wait_that_comes_to_nothing_says_so(fake: FakeApi) -> None:
    async with fake.http.get("/__fake/wait?closed=1&timeout=0") as response:
        assert response.status == 408
        assert (await response.json())["closed_by_client"] == 0


async def test_a_reset_breaks_off_what_is_open(fake: FakeApi) -> None:
    await fake.say("a", {"text": "b", "hold": "never"})
    async with ask(fake, "chat") as response:
        await fake.wait(held="never")
        await fake.reset()
        _, broken = await read_all(response)
    assert broken
    assert (await fake.state())["requests"] == 0


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"host": "evil.example"}])
async def test_a_web_page_is_refused(fake: FakeApi, headers: dict[str, str]) -> None:
    async with fake.http.post("/__fake/script", data=b"[]", headers=headers) as response:
        assert response.status == 403
    async with fake.http.get("/v1/models", headers=headers) as response:
        assert response.status == 403


async def test_the_canned_search_says_that_it_is_canned(fake: FakeApi) -> None:
    async with fake.http.get("/search", params={"q": "tides", "format": "json"}) as response:
        found = await response.json()
    assert found["query"] == "tides"
    assert len(found["results"]) == 3
    for result in found["results"]:
        assert result["title"].startswith("[demo] ")
        assert "tides" in result["title"]
        assert {"url", "content", "publishedDate"} <= set(result)
    async with fake.http.get("/search", params={"q": "tides"}) as response:
        assert response.status == 403
    async with fake.http.get("/search", params={"format": "json"}) as response:
        assert response.status == 400


async def test_without_control_nothing_can_be_scripted() -> None:
    async with fake_api("--no-control") as fake:
        async with fake.http.post("/__fake/script", data=b"[]") as response:
            assert response.status == 404
        async with ask(fake, "chat") as response:
            assert ended_well(await response.read())


async def run(*arguments: str) -> tuple[int, str]:
    """Run the program to its end with closed standard input; exit status and standard error."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "openprogram.fakeapi", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    _, errors = await process.communicate()
    return process.returncode or 0, errors.decode()


async def test_it_ends_when_its_input_closes_although_an_answer_is_open() -> None:
    async with aiohttp.ClientSession() as http:
        async with fake_api() as fake:
            await fake.say("a", {"text": "b", "hold": "never"})
            response = await http.post(
                f"{fake.openai_url}/chat/completions",
                json={"model": "demo", "messages": [{"role": "user", "content": "hi"}], "stream": True},
                headers=OPENAI_HEADERS,
            )
            await fake.wait(held="never")
        # Leaving the context waits for the process to end: getting here is the proof.
        _, broken = await read_all(response)
        response.close()
    assert broken


async def test_it_ends_at_once_where_nobody_holds_its_input() -> None:
    assert await run("--exit-with-stdin") == (0, "")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.com"])
async def test_it_serves_loopback_only(host: str) -> None:
    status, errors = await run("--host", host)
    assert status == 2
    assert "loopback only" in errors


async def test_an_impossible_port_is_told_clearly() -> None:
    status, errors = await run("--port", "70000")
    assert status == 2
    assert "0 to 65535" in errors


async def test_a_taken_port_is_told_clearly(fake: FakeApi) -> None:
    port = fake.base_url.rpartition(":")[2]
    status, errors = await run("--port", port)
    assert status == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in errors
