"""The proxy that a browser stands behind: public addresses and no others, whatever is asked for (R16)."""

import asyncio
from ipaddress import ip_network

import aiohttp
import pytest
from aiohttp import web

from openprogram.net.addresses import AddressPolicy
from openprogram.net.errors import NetFailure
from openprogram.net.proxy import GuardedProxy
from tests.support.loopback import loopback
from tests.unit.net.test_guarded import Names

ONLY_SECOND = AddressPolicy((ip_network("127.0.0.2/32"),))


async def echo(request: web.Request) -> web.StreamResponse:
    body = await request.text()
    return web.Response(text=f"{request.method} {request.path_qs} {request.headers['Host']} {body}")


def names() -> Names:
    return Names(
        **{"site.test": ("127.0.0.2",), "inside.test": ("127.0.0.1",), "meta.test": ("169.254.169.254", "10.0.0.1")}
    )


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_request_to_an_allowed_address_goes_through(method: str) -> None:
    async with loopback(echo, host="127.0.0.2") as site, GuardedProxy(ONLY_SECOND, names()) as proxy:
        url = f"http://site.test:{site.port}/a%20b?q=%C3%A4"
        data, texts = (b"xxxxx" if method == "POST" else None), []
        async with aiohttp.ClientSession() as http:
            for _ in range(2):
                async with http.request(method, url, data=data, proxy=proxy.url) as got:
                    texts.append(await got.text())
                    assert got.headers["Connection"] == "close"
        sent = "xxxxx" if method == "POST" else ""
        assert texts == 2 * [f"{method} /a%20b?q=%C3%A4 site.test:{site.port} {sent}"]
        assert "Proxy-Connection" not in site.requests[0].headers


@pytest.mark.parametrize("host", ["inside.test", "meta.test", "127.0.0.1", "10.0.0.1"])
async def test_any_other_address_is_refused_with_the_reason(host: str) -> None:
    known = names()
    known.hosts |= {"127.0.0.1": ("127.0.0.1",), "10.0.0.1": ("10.0.0.1",)}
    async with loopback(echo) as inside, GuardedProxy(ONLY_SECOND, known) as proxy:
        url = f"http://{host}:{inside.port}/secret"
        async with aiohttp.ClientSession() as http, http.get(url, proxy=proxy.url) as got:
            assert got.status == 403
            assert "is not a public address" in await got.text()
        assert "is not a public address" in (proxy.refusal(host) or "")
        with pytest.raises(NetFailure, match="not a public address"):
            await proxy.check(url)
        assert inside.requests == []


async def _connect(proxy: GuardedProxy, target: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
    port = int(proxy.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
    return reader, writer, await reader.readuntil(b"\r\n\r\n")


async def test_a_tunnel_is_judged_like_a_request() -> None:
    async with loopback(echo, host="127.0.0.2") as site, GuardedProxy(ONLY_SECOND, names()) as proxy:
        reader, writer, head = await _connect(proxy, f"site.test:{site.port}")
        assert head.startswith(b"HTTP/1.1 200 ")
        writer.write(b"GET /in HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).endswith(b"GET /in x ")
        writer.close()
        for target in (f"inside.test:{site.port}", "meta.test:80", "nowhere.test:443", "site.test:x", "no-port"):
            _, writer, head = await _connect(proxy, target)
            assert head.split(b" ")[1] in (b"403", b"502")
            writer.close()


async def test_each_name_is_asked_once_per_connection() -> None:
    known = names()
    async with loopback(echo, host="127.0.0.2") as site, GuardedProxy(ONLY_SECOND, known) as proxy:
        async with aiohttp.ClientSession() as http, http.get(f"http://site.test:{site.port}/", proxy=proxy.url):
            pass
        assert known.asked == ["site.test"]  # what was judged is what was dialled


async def test_nonsense_is_answered_and_the_end_cuts_what_is_open() -> None:
    async with loopback(echo, host="127.0.0.2") as site:
        async with GuardedProxy(ONLY_SECOND, names()) as proxy:
            port = int(proxy.url.rpartition(":")[2])
            for head in (b"nonsense\r\n\r\n", b"GET /relative HTTP/1.1\r\n\r\n", b"GET ftp://x/ HTTP/1.1\r\n\r\n"):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(head)
                assert (await reader.read()).split(b" ")[1] in (b"403", b"502")
                writer.close()
            open_reader, open_writer, _ = await _connect(proxy, f"site.test:{site.port}")
        assert await open_reader.read() == b""
        open_writer.close()


async def test_a_fault_of_a_connection_ends_no_task_that_uses_the_proxy() -> None:  # law 10
    """The browser's proxy is begun by the first call that needs a page, and closed at the end by another task."""

    async def broken(host: str, port: int) -> tuple[str, ...]:
        raise ZeroDivisionError

    proxy = GuardedProxy(ONLY_SECOND, broken)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def first_call() -> str:
        await proxy.__aenter__()
        begun.set()
        await go_on.wait()
        return "done"

    call = asyncio.create_task(first_call())
    await begun.wait()
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    writer.write(b"CONNECT site.test:80 HTTP/1.1\r\n\r\n")
    assert await reader.read() == b""
    writer.close()
    go_on.set()
    assert await call == "done"
    with pytest.raises(ExceptionGroup) as raised:
        await proxy.__aexit__(None, None, None)
    assert [type(error) for error in raised.value.exceptions] == [ZeroDivisionError]


async def test_a_proxy_that_one_task_began_is_closed_by_another() -> None:  # law 10
    async with loopback(echo, host="127.0.0.2") as site:
        proxy = await asyncio.create_task(GuardedProxy(ONLY_SECOND, names()).__aenter__())
        port = int(proxy.url.rpartition(":")[2])
        reader, writer, head = await _connect(proxy, f"site.test:{site.port}")
        assert head.startswith(b"HTTP/1.1 200 ")
        await asyncio.create_task(proxy.__aexit__(None, None, None))
        assert await reader.read() == b""
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
