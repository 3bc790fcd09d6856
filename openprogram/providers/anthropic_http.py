"""HTTP to an Anthropic endpoint, by the vendor's SDK used the fast way.

Import this module at first use, in a thread (`anthropic.load_client`): the SDK takes two seconds of CPU and 80 MB. Its
parsed streams cost ten times what reading the bytes does, so of its streaming only the connection is used. Every
exception of the libraries becomes a `Fault`.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final

import aiohttp
import anthropic
import httpx2
from anthropic import AsyncAnthropic, DefaultAioHttpClient, Omit
from anthropic._response import AsyncAPIResponse

from openprogram.core.jsonio import JsonObject, canonical, decode_object
from openprogram.providers.faults import Cut, Fault, Rejected, Stalled, Unreachable
from openprogram.providers.hosts import is_loopback
from openprogram.providers.http import CONNECT_TIMEOUT_S, check_stream
from openprogram.providers.streaming import Chunks
from openprogram.providers.wire import read_chunk

_ERRORS: Final = (anthropic.AnthropicError, httpx2.HTTPError, httpx2.InvalidURL, aiohttp.ClientError, TimeoutError)


class SdkClient:
    """One endpoint's connections. Making it costs some milliseconds for TLS certificates."""

    def __init__(self, base_url: str, key: str | None, stall_timeout_s: float) -> None:
        self._stall_s = stall_timeout_s
        self._headers = {} if key else {"Authorization": Omit()}
        timeout = httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S, read=stall_timeout_s)
        self._client = AsyncAnthropic(
            # Given none, the SDK looks for credentials of its own in the environment and on the disk.
            api_key=key or "none",
            base_url=base_url,
            max_retries=0,
            timeout=timeout,
            open_telemetry=False,
            http_client=DefaultAioHttpClient(
                timeout=timeout,
                limits=httpx2.Limits(max_connections=None),
                follow_redirects=False,
                trust_env=not is_loopback(base_url),
            ),
        )
        # Their modules are imported on first access: now, in this thread, and not on the event loop.
        self._messages = self._client.messages.with_streaming_response
        self._models = self._client.models.with_streaming_response

    @asynccontextmanager
    async def stream(self, body: JsonObject, beta: str | None = None) -> AsyncIterator[Chunks]:
        """POST to `/v1/messages`, and the chunks of a successful response. Leaving early closes the connection."""
        # In `extra_body` the SDK passes the body on as it is; as arguments it would walk through the whole history.
        # Its encoder keeps the order of keys, so they are put into ours first: the same values, the same bytes.
        opening = self._messages.create(
            model="",
            max_tokens=0,
            messages=[],
            stream=True,
            extra_body=decode_object(canonical(body)),
            extra_headers=self._headers if beta is None else {**self._headers, "anthropic-beta": beta},
        )
        try:
            response = await opening.__aenter__()
        except _ERRORS as error:
            raise self._fault(error, began=False) from error
        try:
            check_stream(response.headers.get("content-type", ""))
            async with aclosing(self._chunks(response)) as chunks:
                yield chunks
        finally:
            await opening.__aexit__(None, None, None)

    async def list_models(self) -> JsonObject:
        """GET `/v1/models`."""
        listing = self._models.list(limit=1000, extra_headers=self._headers)
        try:
            async with listing as response:
                return read_chunk(await response.read())
        except _ERRORS as error:
            raise self._fault(error, began=False) from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def _chunks(self, response: AsyncAPIResponse[Any]) -> AsyncGenerator[bytes, None]:
        try:
            async for chunk in response.iter_bytes():
                yield chunk
        except _ERRORS as error:
            raise self._fault(error, began=True) from error

    def _fault(self, error: Exception, *, began: bool) -> Fault:
        if isinstance(error, anthropic.APIStatusError):
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            return Rejected(error.status_code, headers, error.response.content)
        causes: list[BaseException] = [error]
        while (cause := causes[-1].__cause__) is not None:
            causes.append(cause)
        if any(isinstance(cause, httpx2.ConnectTimeout | aiohttp.ConnectionTimeoutError) for cause in causes):
            return Unreachable(f"no connection within {CONNECT_TIMEOUT_S:.0f} seconds")
        if any(isinstance(cause, httpx2.TimeoutException | TimeoutError) for cause in causes):
            return Stalled(self._stall_s, began)
        innermost = causes[-1]
        reason = str(innermost) or type(innermost).__name__
        return Cut(reason) if began else Unreachable(reason)
