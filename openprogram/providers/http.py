"""HTTP to an OpenAI-compatible endpoint, by aiohttp; every exception of the library becomes a `Fault`."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Final

import aiohttp

from openprogram import __version__
from openprogram.core.jsonio import JsonObject, canonical
from openprogram.providers.faults import Cut, Fault, Garbled, Rejected, Stalled, Unreachable
from openprogram.providers.hosts import is_loopback
from openprogram.providers.streaming import Chunks
from openprogram.providers.wire import read_chunk

CONNECT_TIMEOUT_S: Final = 10.0
_MAX_ERROR_BYTES: Final = 64 * 1024
_NOT_A_STREAM: Final = ("application/json", "text/html")


def check_stream(content_type: str) -> None:
    """Raises `Garbled` for a successful response that is no event stream."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind in _NOT_A_STREAM:
        raise Garbled(f"expected an event stream, found {kind}; does the endpoint stream at all?")


class HttpClient:
    """One endpoint's connections. Not used before the event loop runs."""

    def __init__(self, base_url: str, key: str | None, stall_timeout_s: float) -> None:
        self._base_url = base_url
        self._headers = {"User-Agent": f"openprogram/{__version__}", "Accept-Encoding": "identity"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._stall_s = stall_timeout_s
        self._session: aiohttp.ClientSession | None = None

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
                trust_env=not is_loopback(self._base_url),
            )
        return self._session

    @asynccontextmanager
    async def stream(self, path: str, body: JsonObject) -> AsyncIterator[Chunks]:
        """POST, and the chunks of a successful response. Leaving early closes the connection."""
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        response = await self._request("POST", path, headers, canonical(body))
        try:
            check_stream(response.headers.get("Content-Type", ""))
            async with aclosing(self._chunks(response)) as chunks:
                yield chunks
        finally:
            _let_go(response)

    async def get(self, path: str) -> JsonObject:
        """GET a JSON object."""
        response = await self._request("GET", path, {"Accept": "application/json"}, None)
        try:
            async with asyncio.timeout(self._stall_s):
                return read_chunk(await response.read())
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._fault(error, began=True) from error
        finally:
            _let_go(response)

    async def aclose(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _request(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> aiohttp.ClientResponse:
        """The response to a request; raises a `Fault` where it is none of success."""
        session = self._open_session()
        try:
            async with asyncio.timeout(self._stall_s):
                response = await session.request(
                    method, f"{self._base_url}{path}", headers=headers, data=body, allow_redirects=False
                )
                if response.status == 200:
                    return response
                error_body = await response.content.read(_MAX_ERROR_BYTES)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._fault(error, began=False) from error
        headers_in = {name.lower(): value for name, value in response.headers.items()}
        response.close()
        raise Rejected(response.status, headers_in, error_body)

    async def _chunks(self, response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
        watch = _StallWatch(response.content, self._stall_s)
        try:
            async for chunk in response.content.iter_any():
                watch.seen()
                yield chunk
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._fault(error, began=True) from error
        finally:
            watch.close()

    def _fault(self, error: aiohttp.ClientError | TimeoutError, *, began: bool) -> Fault:
        match error:
            case aiohttp.ConnectionTimeoutError():
                return Unreachable(f"no connection within {CONNECT_TIMEOUT_S:.0f} seconds")
            case TimeoutError():
                return Stalled(self._stall_s, began)
            case _ if began:
                return Cut(str(error) or type(error).__name__)
            case aiohttp.ClientConnectorError():
                return Unreachable(str(error.os_error))
            case aiohttp.ClientConnectionError():
                return Unreachable(str(error) or type(error).__name__)
            case _:
                return Garbled(str(error) or type(error).__name__)


class _StallWatch:
    """Ends a body that brings nothing for `stall_s`. aiohttp's own read timeout makes a timer for each chunk, which at
    one small chunk a delta costs as much as parsing it; this one is made once a `stall_s`."""

    def __init__(self, body: aiohttp.StreamReader, stall_s: float) -> None:
        self._body = body
        self._stall_s = stall_s
        self._loop = asyncio.get_running_loop()
        self._seen_at = self._loop.time()
        self._timer = self._loop.call_at(self._seen_at + stall_s, self._check)

    def seen(self) -> None:
        """Something came."""
        self._seen_at = self._loop.time()

    def close(self) -> None:
        """Watch no more."""
        self._timer.cancel()

    def _check(self) -> None:
        if self._loop.time() >= self._seen_at + self._stall_s:
            self._body.set_exception(TimeoutError())
        else:
            self._timer = self._loop.call_at(self._seen_at + self._stall_s, self._check)


def _let_go(response: aiohttp.ClientResponse) -> None:
    """Back to the pool where it was read to its end, closed at once where it was not."""
    if response.content.at_eof():
        response.release()
    else:
        response.close()
