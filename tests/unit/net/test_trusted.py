"""JSON with a configured service (R16: its address is trusted, its answer is not)."""

import asyncio

import pytest
from aiohttp import web

from openprogram.net.errors import NetFailure
from openprogram.net.trusted import JsonRequest, request_json, site
from tests.support.loopback import loopback


async def send(request: JsonRequest, **limits: int) -> object:
    return await request_json(request, user_agent="test/1", timeout_s=limits.pop("timeout_s", 5), **limits)


async def test_a_body_goes_out_as_json_with_the_headers_given():
    async def echo(request: web.Request) -> web.StreamResponse:
        return web.json_response({"got": await request.json(), "type": request.content_type})

    async with loopback(echo) as server:
        request = JsonRequest("POST", f"{server.url}/x", {"X-Key": "k"}, {"q": "ä b&c"}, {"n": 1})
        reply = await request_json(request, user_agent="test/1")
    assert (reply.status, reply.is_json) == (200, True)
    assert reply.value == {"got": {"n": 1}, "type": "application/json"}
    sent = server.requests[0]
    assert (sent.headers["X-Key"], sent.headers["User-Agent"], sent.query["q"]) == ("k", "test/1", "ä b&c")


async def test_an_answer_that_is_no_json_is_said_to_be_none():
    async def page(request: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>", status=403)

    async with loopback(page) as server:
        reply = await request_json(JsonRequest("GET", server.url), user_agent="test/1")
    assert (reply.status, reply.value, reply.is_json) == (403, None, False)


async def test_a_redirect_is_not_followed_since_it_would_carry_the_key_away():
    async def moved(request: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    async with loopback(moved) as server:
        reply = await request_json(JsonRequest("GET", server.url, {"X-Key": "k"}), user_agent="test/1")
    assert reply.status == 307
    assert len(server.requests) == 1


async def test_too_much_is_refused():
    async def much(request: web.Request) -> web.StreamResponse:
        return web.json_response("x" * 10_000)

    async with loopback(much) as server:
        with pytest.raises(NetFailure) as caught:
            await send(JsonRequest("GET", server.url), max_bytes=5_000)
    assert caught.value.kind == "bad_answer"


async def test_silence_runs_into_the_time_limit():
    async def silent(request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    async with loopback(silent) as server:
        with pytest.raises(NetFailure) as caught:
            await request_json(JsonRequest("GET", server.url), user_agent="test/1", timeout_s=0.1)
    assert caught.value.kind == "timeout"


async def test_nothing_there_is_told_without_the_credentials_of_the_address():
    async with loopback(lambda request: asyncio.sleep(0, web.Response())) as server:
        port = server.port
    with pytest.raises(NetFailure) as caught:
        await send(JsonRequest("GET", f"http://user:Geheim@127.0.0.1:{port}/", query={"q": "private"}))
    assert caught.value.kind == "unreachable"
    assert f"127.0.0.1:{port}" in caught.value.message
    assert "Geheim" not in caught.value.message
    assert "private" not in caught.value.message


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://u:p@example.org/x?key=1", "example.org"),
        ("http://example.org:81/", "example.org:81"),
        ("http://[", "the configured address"),
        ("", "the configured address"),
    ],
)
def test_a_site_is_host_and_port(url, shown):
    assert site(url) == shown
