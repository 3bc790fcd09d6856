"""Fetching what someone else supplied: real sockets on loopback, names owned by the test (R16)."""

import asyncio
from collections.abc import Callable
from ipaddress import ip_network

import pytest
from aiohttp import web

from openprogram.net.addresses import AddressPolicy
from openprogram.net.errors import NetFailure
from openprogram.net.guarded import FetchLimits, GuardedClient, checked_url
from tests.support.loopback import loopback

ONLY_FIRST = AddressPolicy((ip_network("127.0.0.1/32"),))


class Names:
    """A resolver that knows the names of one test."""

    def __init__(self, **hosts: tuple[str, ...]) -> None:
        self.hosts = hosts
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> tuple[str, ...]:
        self.asked.append(host)
        if host not in self.hosts:
            raise OSError("no such host")
        return self.hosts[host]


def anything(kind: str) -> bool:
    return True


async def hello(request: web.Request) -> web.StreamResponse:
    return web.Response(text="hello", content_type="text/plain", charset="utf-8")


async def fails(client: GuardedClient, url: str, accept: Callable[[str], bool] = anything) -> NetFailure:
    with pytest.raises(NetFailure) as caught:
        await client.get(url, accept=accept)
    return caught.value


async def test_a_name_is_resolved_once_and_the_judged_address_is_dialled():
    resolve = Names(site=("127.0.0.1",))
    async with loopback(hello) as server:
        client = GuardedClient("test", ONLY_FIRST, resolve)
        page = await client.get(f"http://site:{server.port}/a?b=c", accept=anything)
    assert (page.status, page.content_type, page.charset, page.body) == (200, "text/plain", "utf-8", b"hello")
    assert page.url == f"http://site:{server.port}/a?b=c"
    assert resolve.asked == ["site"]
    assert server.requests[0].headers["Host"] == f"site:{server.port}"


async def test_a_name_that_answers_otherwise_the_second_time_does_not_get_in():
    answers = iter([("127.0.0.1",), ("127.0.0.2",)])

    async def rebinding(host, port):
        return next(answers)

    async with loopback(hello) as server:
        client = GuardedClient("test", ONLY_FIRST, rebinding)
        assert (await client.get(f"http://site:{server.port}/", accept=anything)).body == b"hello"
        assert (await fails(client, f"http://site:{server.port}/")).kind == "refused"
    assert len(server.requests) == 1


async def test_of_several_addresses_only_the_allowed_are_dialled():
    resolve = Names(mixed=("127.0.0.9", "127.0.0.1"))
    async with loopback(hello) as server:
        page = await GuardedClient("test", ONLY_FIRST, resolve).get(f"http://mixed:{server.port}/", accept=anything)
    assert page.body == b"hello"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "localhost", "0x7f000001", "0"],
)
async def test_loopback_is_refused_however_it_is_spelled(host):
    async with loopback(hello) as server:
        failure = await fails(GuardedClient("test"), f"http://{host}:{server.port}/")
    assert failure.kind in ("refused", "bad_url")
    assert server.requests == []


async def test_the_socket_is_the_last_check(monkeypatch):
    """A resolver that hands on what it should not is caught where the connection is opened."""
    monkeypatch.setattr("openprogram.net.guarded._JudgingResolver", _Careless)
    async with loopback(hello) as server:
        failure = await fails(GuardedClient("test"), f"http://site:{server.port}/")
    assert failure.kind == "refused"
    assert server.requests == []


class _Careless:
    def __init__(self, resolve, policy):
        pass

    async def resolve(self, host, port=0, family=0):
        return [{"hostname": host, "host": "127.0.0.1", "port": port, "family": 2, "proto": 0, "flags": 0}]

    async def close(self):
        pass


async def test_each_redirect_is_judged_anew():
    async def to_metadata(request):
        raise web.HTTPFound("http://169.254.169.254/latest/meta-data/")

    async with loopback(to_metadata) as server:
        failure = await fails(GuardedClient("test", ONLY_FIRST), f"{server.url}/")
    assert failure.kind == "refused"
    assert "169.254.169.254" in failure.message


@pytest.mark.parametrize("location", ["file:///etc/passwd", "gopher://127.0.0.1/", "http://u:p@127.0.0.1/"])
async def test_a_redirect_cannot_leave_http_or_bring_a_password(location):
    async def away(request):
        return web.Response(status=302, headers={"Location": location})

    async with loopback(away) as server:
        assert (await fails(GuardedClient("test", ONLY_FIRST), f"{server.url}/")).kind == "bad_url"


async def test_relative_redirects_are_followed_and_the_last_url_is_told():
    async def twice(request):
        if request.path == "/a":
            raise web.HTTPMovedPermanently("b/c?x=1")
        if request.path == "/b/c":
            raise web.HTTPSeeOther("/end")
        return web.Response(text=request.path)

    async with loopback(twice) as server:
        page = await GuardedClient("test", ONLY_FIRST).get(f"{server.url}/a", accept=anything)
    assert (page.body, page.url) == (b"/end", f"{server.url}/end")


async def test_endless_redirects_end():
    async def round_and_round(request):
        raise web.HTTPFound("/again")

    async with loopback(round_and_round) as server:
        client = GuardedClient("test", ONLY_FIRST, limits=FetchLimits(max_redirects=3))
        assert (await fails(client, f"{server.url}/")).kind == "redirects"
    assert len(server.requests) == 4


async def test_a_body_is_cut_at_the_limit_and_said_to_be():
    async def long(request):
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        for _ in range(1000):
            await response.write(b"x" * 10_000)
        return response

    async with loopback(long) as server:
        client = GuardedClient("test", ONLY_FIRST, limits=FetchLimits(max_bytes=25_000))
        page = await client.get(f"{server.url}/", accept=anything)
    assert (len(page.body), page.truncated) == (25_000, True)


async def test_a_compressed_body_is_bounded_by_what_it_unpacks_to():
    async def bomb(request):
        response = web.Response(body=b"\0" * 20_000_000, content_type="text/plain")
        response.enable_compression(web.ContentCoding.gzip)
        return response

    async with loopback(bomb) as server:
        client = GuardedClient("test", ONLY_FIRST, limits=FetchLimits(max_bytes=100_000))
        page = await client.get(f"{server.url}/", accept=anything)
    assert (len(page.body), page.truncated) == (100_000, True)


async def test_a_server_that_never_answers_runs_into_the_time_limit():
    async def silent(request):
        await asyncio.Event().wait()

    async with loopback(silent) as server:
        client = GuardedClient("test", ONLY_FIRST, limits=FetchLimits(total_s=0.2))
        assert (await fails(client, f"{server.url}/")).kind == "timeout"


async def test_the_kind_is_asked_before_the_body_is_read():
    async def picture(request):
        return web.Response(body=b"\x89PNG", content_type="image/png")

    async with loopback(picture) as server:
        failure = await fails(GuardedClient("test", ONLY_FIRST), f"{server.url}/", lambda kind: "image" not in kind)
    assert failure.kind == "content_type"
    assert "image/png" in failure.message


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "/etc/passwd",
        "file:///etc/passwd",
        "ftp://example.org/",
        "data:text/plain,x",
        "http://",
        "http:///path",
        "http://user@example.org/",
        "http://user:Geheim@example.org/",
        "http://:Geheim@example.org/",
        "http://example.org:99999/",
        "http://[::1",
    ],
)
def test_only_http_urls_without_credentials_are_urls_to_fetch(url):
    with pytest.raises(NetFailure) as caught:
        checked_url(url)
    assert caught.value.kind == "bad_url"
    assert "Geheim" not in caught.value.message


async def test_the_environment_names_no_proxy(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with loopback(hello) as server:
        page = await GuardedClient("test", ONLY_FIRST).get(f"{server.url}/", accept=anything)
    assert page.body == b"hello"


async def test_no_cookie_is_carried_along_a_redirect():
    async def set_and_move(request):
        if request.path == "/":
            raise web.HTTPFound("/next", headers={"Set-Cookie": "id=1"})
        return web.Response(text=request.headers.get("Cookie", "none"))

    async with loopback(set_and_move) as server:
        page = await GuardedClient("test", ONLY_FIRST).get(f"{server.url}/", accept=anything)
    assert page.body == b"none"


async def test_nothing_listening_and_no_such_host_are_told_apart():
    async with loopback(hello) as server:
        port = server.port
    client = GuardedClient("test", ONLY_FIRST, Names())
    assert "cannot be reached" in (await fails(client, f"http://127.0.0.1:{port}/")).message
    assert (await fails(client, "http://nowhere/")).message == "there is no host nowhere"
