"""The process: its control surface, its guards, its beginning and its end."""

import asyncio
import sys
from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio

from tests.support.fake import OPENAI_HEADERS, FakeApi, ask, ended_well, fake_api, read_all
from tests.support.tree import ROOT

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running() -> AsyncIterator[FakeApi]:
    async with fake_api(moves="requests made by hand") as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="module")
async def fake(running: FakeApi) -> FakeApi:
    await running.reset()
    return running


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
    async with fake_api("--no-control", moves="no control, no records") as fake:
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
        async with fake_api(moves="requests made by hand") as fake:
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
