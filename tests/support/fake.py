"""A fake API process for one test, and a client of its control surface.

    async with fake_api() as fake:
        await fake.script({"blocks": [{"type": "text", "chunks": ["Hel", {"text": "lo", "hold": "h"}]}]})
        ...                              # talk to fake.anthropic_url or fake.openai_url
        await fake.wait(held="h")        # the answer stands before its second chunk
        await fake.release("h")
        [request] = await fake.requests()

What was recorded is checked at the end of the block and before a reset: each request of a conversation extends the one
before it, unless `moves` gives the reason why it does not (spec cache.md C22).

The process ends with the test, however the test ends. `docs/fake-api.md` describes scripts and faults.
"""

import asyncio
import io
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import orjson
import pytest

from tests.support.extension import broken
from tests.support.tree import ROOT
from tests.support.ws import WAIT_S

ANTHROPIC_HEADERS = {"x-api-key": "test", "anthropic-version": "2023-06-01"}
OPENAI_HEADERS = {"authorization": "Bearer test"}
_LARGE = 1 << 20  # of such a body aiohttp wants to be given a file
PATHS = {"anthropic": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses"}
HEADERS = {"anthropic": ANTHROPIC_HEADERS, "chat": OPENAI_HEADERS, "responses": OPENAI_HEADERS}


class FakeApi:
    """A running fake API. `http` is a client whose base is the process, for requests made by hand.

    `moves` is the reason why requests need not extend the ones before them; empty where they have to.
    """

    def __init__(self, base_url: str, http: aiohttp.ClientSession, moves: str = "") -> None:
        self.base_url = base_url
        self.http = http
        self.moves = moves

    @property
    def anthropic_url(self) -> str:
        """Base URL for an Anthropic client."""
        return self.base_url

    @property
    def openai_url(self) -> str:
        """Base URL for an OpenAI-compatible client."""
        return f"{self.base_url}/v1"

    async def script(self, *scripts: dict[str, Any]) -> None:
        """Queue answers. A script that the fake API does not understand fails the test."""
        await self._post("/__fake/script", list(scripts))

    async def say(self, *chunks: str | dict[str, str], **options: Any) -> None:
        """Queue an answer of one text block with exactly these chunks."""
        await self.script({"blocks": [{"type": "text", "chunks": list(chunks)}], **options})

    async def release(self, name: str) -> None:
        """Let past what waits, or will wait, at the hold `name`."""
        await self._post(f"/__fake/release/{name}", None)

    async def requests(self, since: int = 0) -> list[dict[str, Any]]:
        """The recorded requests in order, without the first `since`."""
        got = await self._get(f"/__fake/requests?since={since}")
        requests: list[dict[str, Any]] = got["requests"]
        return requests

    async def state(self) -> dict[str, Any]:
        """Open streams, and how many ended in each way."""
        return await self._get("/__fake/state")

    async def wait(self, **conditions: int | str) -> dict[str, Any]:
        """Wait for `closed`, `finished`, `open`, `requests` (numbers) or `held` (a name); returns the state.

        Fails the test after `WAIT_S`.
        """
        query = "&".join(f"{name}={value}" for name, value in conditions.items())
        return await self._get(f"/__fake/wait?timeout={WAIT_S:g}&{query}")

    async def wait_closed(self, count: int = 1) -> dict[str, Any]:
        """Wait until the client has closed `count` answers in the middle."""
        return await self.wait(closed=count)

    async def advance(self, seconds: float) -> None:
        """Let time pass for the caches."""
        await self._post("/__fake/clock", {"advance": seconds})

    async def list_models(self, *names: str) -> None:
        """Set what `GET /v1/models` lists."""
        await self._post("/__fake/models", {"models": list(names)})

    async def count_times(self, factor: float) -> None:
        """Report so many input tokens for one of o200k."""
        await self._post("/__fake/tokenizer", {"factor": factor})

    async def fail(self, *faults: dict[str, Any]) -> None:
        """Faults for coming requests, until they are used up or taken back by calling it with none."""
        await self._post("/__fake/faults", list(faults))

    async def refuse(self, *features: str, model: str | None = None) -> None:
        """Refuse these features with 400 from now on, and no others."""
        await self._post("/__fake/refuse", {"features": features, "model": model})

    async def bill(self) -> dict[str, Any]:
        """Tokens billed: `finished` and `unfinished` answers, and both for each of `models`."""
        return await self._get("/__fake/bill")

    async def reset(self) -> None:
        """As if the process had just started."""
        await self.check()
        await self._post("/__fake/reset", None)

    async def check(self) -> None:
        """Fail the test where a request does not extend the one before it, unless `moves` says why."""
        if not self.moves:
            places = broken(await self.requests())
            assert not places, "the cached prefix moved (a test that means it says why):\n" + "\n".join(places)

    @asynccontextmanager
    async def for_test(self, moves: str) -> AsyncIterator["FakeApi"]:
        """The process for one test of several: as if just started, and checked at its end."""
        await self._post("/__fake/reset", None)
        self.moves = moves
        yield self
        await self.check()
        self.moves = "checked already"

    async def _post(self, path: str, body: Any) -> dict[str, Any]:
        data = b"" if body is None else orjson.dumps(body)
        async with self.http.post(path, data=io.BytesIO(data) if len(data) > _LARGE else data) as response:
            return await _checked(response)

    async def _get(self, path: str) -> dict[str, Any]:
        async with self.http.get(path) as response:
            return await _checked(response)


async def _checked(response: aiohttp.ClientResponse) -> dict[str, Any]:
    body: dict[str, Any] = orjson.loads(await response.read())
    assert response.status == 200, body
    return body


@asynccontextmanager
async def fake_api(*arguments: str, pace: float = 0, moves: str = "") -> AsyncIterator[FakeApi]:
    """Start a fake API on a free port and end it afterwards. `pace` is the demo model's speed in tokens a second."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "openprogram.fakeapi", "--exit-with-stdin", "--pace", f"{pace:g}", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = await process.stdout.readline()
        assert line, f"the fake API ended with {await process.wait()} before it listened"
        base_url = orjson.loads(line)["base_url"]
        # Each request has a connection of its own: none is sent on one that the other side is just closing as idle.
        connector = aiohttp.TCPConnector(force_close=True)
        async with aiohttp.ClientSession(base_url, connector=connector) as http:
            fake = FakeApi(base_url, http, moves)
            yield fake
            await fake.check()
    finally:
        process.stdin.close()
        await process.wait()


def moves_of(request: pytest.FixtureRequest) -> str:
    """The reason that a test's mark `moves` gives, for a fixture; empty without one."""
    mark = request.node.get_closest_marker("moves")
    return str(mark.args[0]) if mark else ""


def ask(fake: FakeApi, api: str, model: str = "demo", *, stream: bool = True, text: str = "hi") -> Any:
    """A request in the wire format `api` (anthropic, chat, responses), as aiohttp's context manager."""
    body: dict[str, Any] = {"model": model, "stream": stream}
    body["input" if api == "responses" else "messages"] = [{"role": "user", "content": text}]
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
    """Whether a stream has come to its documented end."""
    return any(end in data for end in (b"event: message_stop", b"data: [DONE]", b"event: response.completed"))
