"""HTTP GET for URLs that someone else supplied: only to public addresses, bounded in size, time and kind (R16).

A name is resolved once and the address that was judged is the address that is dialled: the judgement sits in the
connector's resolver and again in its socket factory, so neither a second look-up nor a numeric spelling nor a redirect
gets past it. The URL that is judged is the object that is requested: nothing is parsed twice.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from openprogram.net.addresses import AddressPolicy
from openprogram.net.errors import NetFailure

Resolve = Callable[[str, int], Awaitable[tuple[str, ...]]]
"""Numeric addresses of a host name. Raises `OSError` where there is none."""

AddrInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[str | int, ...]]

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CHUNK: Final = 65_536


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Seconds for the whole exchange and for connecting, bytes of the decoded body, redirects followed."""

    total_s: float = 30.0
    connect_s: float = 10.0
    max_bytes: int = 5_000_000
    max_redirects: int = 5


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer: the URL it came from after redirects, and its body up to the limit (`truncated` says if it was more).

    `content_type` is lower case without parameters, empty if the server gave none; `charset` likewise.
    """

    url: str
    status: int
    content_type: str
    charset: str
    body: bytes = field(repr=False)
    truncated: bool


async def system_resolve(host: str, port: int) -> tuple[str, ...]:
    """The operating system's resolver."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True)
class GuardedClient:
    """Fetches pages. Holds no connection and no cookie: each fetch stands alone.

    `resolve` is injectable so that tests own the names; `policy` says which addresses may be reached.
    """

    user_agent: str
    policy: AddressPolicy = field(default_factory=AddressPolicy)
    resolve: Resolve = system_resolve
    limits: FetchLimits = FetchLimits()

    async def get(self, url: str, *, accept: Callable[[str], bool], accept_header: str = "*/*") -> Fetched:
        """Fetch `url`, following redirects, each judged anew.

        `accept` is asked with the content type before the body is read. Raises `NetFailure`.
        """
        target = checked_url(url)
        headers = {"User-Agent": self.user_agent, "Accept": accept_header}
        try:
            async with asyncio.timeout(self.limits.total_s), self._session(headers) as session:
                for _ in range(self.limits.max_redirects + 1):
                    async with session.get(target, allow_redirects=False) as response:
                        if response.status not in _REDIRECTS or "Location" not in response.headers:
                            return await self._read(response, accept)
                        target = _next_url(target, response.headers["Location"])
        except TimeoutError as error:
            raise NetFailure("timeout", f"{_site(target)} did not answer in time") from error
        except aiohttp.ClientError as error:
            raise _failure(target, error) from error
        raise NetFailure("redirects", f"{_site(target)} redirects too often")

    def _session(self, headers: dict[str, str]) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=_JudgingResolver(self.resolve, self.policy),
            socket_factory=self._open_socket,
            use_dns_cache=False,
            force_close=True,
        )
        return aiohttp.ClientSession(
            connector=connector,
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self.limits.connect_s),
            trust_env=False,
        )

    def _open_socket(self, info: AddrInfo) -> socket.socket:
        """The last word before dialling, whatever way the address came here."""
        family, kind, protocol, _, address = info
        reason = self.policy.refusal(str(address[0]))
        if reason is not None:
            raise _refused(str(address[0]), reason)
        opened = socket.socket(family=family, type=kind, proto=protocol)
        opened.setblocking(False)
        return opened

    async def _read(self, response: aiohttp.ClientResponse, accept: Callable[[str], bool]) -> Fetched:
        kind = response.content_type.lower() if "Content-Type" in response.headers else ""
        if not accept(kind):
            raise NetFailure("content_type", f"{response.url} is {kind or 'of no stated type'}")
        body = bytearray()
        truncated = False
        async for chunk in response.content.iter_chunked(_CHUNK):
            body += chunk
            if len(body) > self.limits.max_bytes:
                del body[self.limits.max_bytes :]
                truncated = True
                break
        charset = (response.charset or "").lower()
        return Fetched(str(response.url), response.status, kind, charset, bytes(body), truncated)


def checked_url(url: str) -> URL:
    """The URL parsed, if it is one that may be fetched at all. Raises `NetFailure`."""
    try:
        return _checked(URL(url.strip()))
    except ValueError as error:
        raise NetFailure("bad_url", f"not a URL: {error}") from error


def _checked(target: URL) -> URL:
    host, port = target.host, target.port
    if target.scheme not in ("http", "https"):
        raise NetFailure("bad_url", "only http and https addresses can be fetched")
    if not host or port is None:
        raise NetFailure("bad_url", "the address names no host")
    if target.user is not None or target.password is not None:
        raise NetFailure("bad_url", "addresses with a user name or password in them are not fetched")
    return target


def _next_url(base: URL, location: str) -> URL:
    try:
        return _checked(base.join(URL(location)))
    except ValueError as error:
        raise NetFailure("bad_answer", f"{_site(base)} redirects to something that is no URL") from error


async def reachable(host: str, port: int, resolve: Resolve, policy: AddressPolicy) -> tuple[str, ...]:
    """The addresses of a host that may be dialled. Raises `NetFailure` if none may, `OSError` if none exists."""
    addresses = await resolve(host, port)
    if not addresses:
        raise OSError(f"no address for {host}")
    reasons = {address: policy.refusal(address) for address in addresses}
    allowed = tuple(address for address, reason in reasons.items() if reason is None)
    if not allowed:
        address, reason = next(iter(reasons.items()))
        raise _refused(host, reason or "", address)
    return allowed


class _JudgingResolver(AbstractResolver):
    """Resolves once and hands on only the addresses that may be reached."""

    def __init__(self, resolve: Resolve, policy: AddressPolicy) -> None:
        self._resolve = resolve
        self._policy = policy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        allowed = await reachable(host, port, self._resolve, self._policy)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in allowed
        ]

    async def close(self) -> None:
        """Nothing is held."""


def _refused(host: str, reason: str, address: str | None = None) -> NetFailure:
    where = f"{host} ({address})" if address is not None and address != host else host
    return NetFailure("refused", f"{where} is not a public address ({reason}); it is not fetched")


def _failure(target: URL, error: aiohttp.ClientError) -> NetFailure:
    site = _site(target)
    match error:
        case aiohttp.InvalidURL():
            return NetFailure("bad_url", f"{site} is not a usual way to write an address; it is not fetched")
        case aiohttp.ClientConnectorDNSError():
            return NetFailure("unreachable", f"there is no host {target.host}")
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return NetFailure("unreachable", f"{site} has no valid certificate")
        case aiohttp.ClientConnectorError():
            return NetFailure("unreachable", f"{site} cannot be reached ({error.os_error.strerror})")
        case aiohttp.ClientPayloadError() | aiohttp.ClientResponseError():
            return NetFailure("bad_answer", f"{site} gave an answer that is not proper HTTP")
        case _:
            return NetFailure("unreachable", f"the connection to {site} broke ({type(error).__name__})")


def _site(url: URL) -> str:
    return url.authority
