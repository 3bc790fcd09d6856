"""`web_fetch`: pages as text, over real sockets; private addresses refused (R16)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from openprogram.core.tooling import ToolSpec
from openprogram.net.guarded import FetchLimits
from openprogram.tools.builtin.web_fetch import FetchConfig, is_text, web_fetch_tool
from tests.support.loopback import loopback
from tests.support.tool_calls import Caller, display_of, text_of

PAGE = """<!doctype html><html><head><title>Widgets &amp; more</title><style>p {color: red}</style></head><body>
<nav><a href="/">Home</a></nav><main><h1>Widgets</h1>
<p>Install the <b>widget</b> with <code>make install</code>, then read <a href="/next">the next page</a> about it.</p>
<pre><code>widget.run(1,
    2)</code></pre><script>alert("never shown")</script></main></body></html>"""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture
def call(tmp_path):
    return Caller(tmp_path)


def fetcher(**limits: float) -> ToolSpec:
    bounds = FetchLimits(total_s=limits.get("total_s", 30.0), max_bytes=int(limits.get("max_bytes", 5_000_000)))
    return web_fetch_tool(FetchConfig(allow=("127.0.0.1/32",), limits=bounds))


def serving(body: str | bytes, content_type: str, status: int = 200) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        data = body.encode() if isinstance(body, str) else body
        return web.Response(body=data, headers={"Content-Type": content_type}, status=status)

    return handle


async def test_a_page_becomes_readable_text_with_title_and_links(call):
    async with loopback(serving(PAGE, "text/html; charset=utf-8")) as server:
        output = await call(fetcher(), url=f"{server.url}/docs")
    text = text_of(output)
    assert text.startswith(f"URL: {server.url}/docs\nTitle: Widgets & more\nTruncated: no\n\n# Widgets\n")
    assert f"[the next page]({server.url}/next)" in text
    assert "`make install`" in text
    assert "widget.run(1,\n    2)" in text
    assert "never shown" not in text
    assert "color: red" not in text
    assert display_of(output) == {"url": f"{server.url}/docs", "title": "Widgets & more", "status": 200}


async def test_the_server_is_told_honestly_who_asks(call):
    async with loopback(serving("x", "text/plain")) as server:
        await call(fetcher(), url=server.url)
    assert "openprogram/" in server.requests[0].headers["User-Agent"]


async def test_text_stays_as_it_is_and_json_is_indented(call):
    async with loopback(serving("a\n  b\n<c>", "text/plain")) as server:
        assert text_of(await call(fetcher(), url=server.url)).endswith("\n\na\n  b\n<c>")
    for kind in ("application/json", "application/problem+json"):
        async with loopback(serving('{"a":[1,2]}', kind)) as server:
            assert text_of(await call(fetcher(), url=server.url)).endswith('{\n  "a": [\n    1,\n    2\n  ]\n}')


@pytest.mark.parametrize(
    ("body", "content_type", "shown"),
    [
        ("café".encode("latin-1"), "text/plain; charset=iso-8859-1", "café"),
        ("café".encode(), "text/plain", "café"),
        ("“café”".encode("cp1252"), "text/plain", "“café”"),
        ("café".encode("utf-16"), "text/plain", "café"),
        (b"\xef\xbb\xbfcaf\xc3\xa9", "text/plain; charset=latin-1", "café"),
        ("<html><meta charset=shift_jis><p>日本語</p>".encode("shift_jis"), "text/html", "日本語"),
        ("café".encode(), "text/plain; charset=no-such", "café"),
        ("café".encode(), "text/plain; charset=base64", "café"),
    ],
)
async def test_text_is_decoded_by_what_is_known_of_it(call, body, content_type, shown):
    async with loopback(serving(body, content_type)) as server:
        assert text_of(await call(fetcher(), url=server.url)).endswith(f"\n\n{shown}")


async def test_a_long_text_is_shown_in_parts_that_join(call):
    text = "".join(f"line {number}\n" for number in range(8_000))
    seen = ""
    async with loopback(serving(text, "text/plain")) as server:
        while len(seen) < len(text):
            output = text_of(await call(fetcher(), url=server.url, start=len(seen)))
            head, _, part = output.partition("\n\n")
            assert len(output) < 30_000
            assert ("Truncated: no" in head) is (len(seen) + len(part) == len(text))
            seen += part
        assert seen == text
        assert "nothing starts at" in await call.fails(fetcher(), url=server.url, start=len(text) + 1)


async def test_a_body_over_the_limit_is_said_to_be_cut(call):
    async with loopback(serving("é" * 600, "text/plain; charset=utf-8")) as server:
        text = text_of(await call(fetcher(max_bytes=1_001), url=server.url))
    assert text.endswith("\n\n" + "é" * 500)
    assert "Truncated: the page is larger" in text


@pytest.mark.parametrize(
    ("body", "content_type", "message"),
    [
        (b"%PDF-1.7 ...", "application/pdf", "PDF files cannot be shown"),
        (b"%PDF-1.7 ...", "text/html", "PDF file"),
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png", "only pages and text"),
        (b"\x7fELF\0\0\0", "text/plain", "is a binary file"),
        (b"PK\3\4", "application/zip", "only pages and text"),
        (b"x", "application/octet-stream", "only pages and text"),
    ],
)
async def test_what_is_no_text_is_refused_with_its_kind(call, body, content_type, message):
    async with loopback(serving(body, content_type)) as server:
        assert message in await call.fails(fetcher(), url=server.url)


async def test_an_error_page_is_an_error_with_what_it_says(call):
    async with loopback(serving("<html><title>Gone</title><p>No such page here</p>", "text/html", 404)) as server:
        output = await call(fetcher(), url=server.url)
    assert output.status == "error"
    assert "Status: HTTP 404" in text_of(output)
    assert "No such page here" in text_of(output)
    assert display_of(output)["status"] == 404


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.2/",
        "http://localhost/",
        "http://[::1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://2130706433/",
        "http://0x7f.1/",
    ],
)
async def test_private_addresses_are_refused(call, url):
    message = await call.fails(web_fetch_tool(FetchConfig()), url=url)
    assert "not a public address" in message or "not a usual way" in message


async def test_a_redirect_to_a_private_address_is_refused(call):
    async def away(request: web.Request) -> web.StreamResponse:
        raise web.HTTPFound("http://192.168.0.1/admin")

    async with loopback(away) as server:
        assert "192.168.0.1" in await call.fails(fetcher(), url=server.url)


async def test_bad_addresses_and_silence_are_told(call):
    assert "only http and https" in await call.fails(fetcher(), url="file:///etc/passwd")

    async def silent(request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    async with loopback(silent) as server:
        assert "in time" in await call.fails(fetcher(total_s=0.2), url=server.url)


@asynccontextmanager
async def raw(answer: bytes) -> AsyncIterator[tuple[str, asyncio.Event, asyncio.Event]]:
    """A server that sends these bytes and waits for the end of the connection: `(url, asked, gone)`."""
    asked, gone = asyncio.Event(), asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        asked.set()
        await reader.read()
        writer.close()
        gone.set()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked, gone


async def test_cancelling_closes_the_connection(call):
    async with raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nbegun") as (
        url,
        asked,
        gone,
    ):
        task = asyncio.create_task(call(fetcher(), url=url))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await gone.wait()


async def test_a_server_that_states_no_kind_is_judged_by_what_it_sends(call):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n"
    async with raw(head + b"<html><p>A page it is.</p>".ljust(30)) as (url, _, _):
        assert text_of(await call(fetcher(), url=url)).endswith("\n\nA page it is.")
    async with raw(head + b"plain <b>text</b>".ljust(30, b".")) as (url, _, _):
        assert text_of(await call(fetcher(), url=url)).endswith("\n\nplain <b>text</b>.............")
    async with raw(head + b"\0" * 30) as (url, _, _):
        assert "is a binary file" in await call.fails(fetcher(), url=url)


async def test_what_is_no_http_is_told(call):
    async with raw(b"SSH-2.0-OpenSSH_9.2\r\n\r\n") as (url, _, _):
        assert "not proper HTTP" in await call.fails(fetcher(), url=url)


@pytest.mark.parametrize("kind", ["text/css", "application/xml", "image/svg+xml", "application/atom+xml", ""])
def test_kinds_of_text(kind):
    assert is_text(kind)


@pytest.mark.parametrize("kind", ["application/pdf", "image/png", "application/zip", "video/mp4", "font/woff2"])
def test_kinds_that_are_no_text(kind):
    assert not is_text(kind)
