"""JSON over HTTP with a service from the configuration: its address is trusted, its answer is not (R16)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import aiohttp
from yarl import URL

from openprogram.core.errors import BadJson
from openprogram.core.jsonio import JsonObject, JsonValue, decode, encode
from openprogram.net.errors import NetFailure

_CHUNK: Final = 65_536


@dataclass(frozen=True, slots=True)
class JsonRequest:
    """One request. `body` is sent as JSON, `query` is appended to the URL; neither appears in an error."""

    method: Literal["GET", "POST"]
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: JsonObject | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class JsonReply:
    """What came back. `value` is None where the body is not JSON, which is left to the caller to judge."""

    status: int
    value: JsonValue = field(repr=False)
    is_json: bool


async def request_json(
    request: JsonRequest, *, user_agent: str, timeout_s: float = 15.0, max_bytes: int = 4_000_000
) -> JsonReply:
    """Send and read the answer whole. Raises `NetFailure`.

    Redirects are not followed: they would carry the key in the headers to another host.
    """
    try:
        async with asyncio.timeout(timeout_s), aiohttp.ClientSession(trust_env=False) as session:
            return await _exchange(session, request, user_agent, max_bytes)
    except TimeoutError as error:
        raise NetFailure("timeout", f"{site(request.url)} did not answer within {timeout_s:g} s") from error
    except aiohttp.InvalidURL as error:
        raise NetFailure("bad_url", "the configured address is not a URL") from error
    except aiohttp.ClientError as error:
        raise NetFailure("unreachable", f"{site(request.url)} cannot be reached ({_cause(error)})") from error


def site(url: str) -> str:
    """Host and port of a URL, without the credentials it may hold."""
    try:
        parsed = URL(url)
        host, port = parsed.host, parsed.explicit_port
    except ValueError:
        return "the configured address"
    return host or "the configured address" if port is None else f"{host}:{port}"


async def _exchange(session: aiohttp.ClientSession, request: JsonRequest, user_agent: str, max_bytes: int) -> JsonReply:
    headers = {"Accept": "application/json", "User-Agent": user_agent, **request.headers}
    data = None
    if request.body is not None:
        data = encode(request.body)
        headers["Content-Type"] = "application/json"
    async with session.request(
        request.method,
        request.url,
        params=dict(request.query) or None,
        data=data,
        headers=headers,
        allow_redirects=False,
    ) as response:
        body = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK):
            body += chunk
            if len(body) > max_bytes:
                raise NetFailure("bad_answer", f"{site(request.url)} sent more than {max_bytes:,} bytes")
        try:
            return JsonReply(response.status, decode(bytes(body)), is_json=True)
        except BadJson:
            return JsonReply(response.status, None, is_json=False)


def _cause(error: aiohttp.ClientError) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        return error.os_error.strerror or "no connection"
    return type(error).__name__
