"""Who gets in, at the real sockets of the whole program (spec trust.md R9 to R11, R13, R15; report 41)."""

import asyncio
from collections.abc import Mapping
from typing import Final

import aiohttp
import orjson
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.support.fake import FakeApi
from tests.support.server import PROTOCOL, Server

pytestmark = pytest.mark.asyncio(loop_scope="session")

WRONG: Final = {"authorization": "Bearer not-the-token"}


async def upgrade(server: Server, headers: Mapping[str, str]) -> int:
    """The status that an upgrade request with these headers gets; 101 means that `hello` came too."""
    try:
        async with connect(
            server.ws_url, subprotocols=[PROTOCOL], additional_headers=headers, proxy=None, compression=None
        ) as socket:
            assert orjson.loads(await socket.recv())["type"] == "hello"
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def bearer(server: Server) -> dict[str, str]:
    return {"authorization": f"Bearer {server.token}"}


async def cookie_of(server: Server) -> str:
    """The `Cookie` header of a browser that has opened the link with the token."""
    async with aiohttp.ClientSession() as http, http.get(server.sign_in_url, allow_redirects=False) as response:
        assert response.status == 303
        [cookie] = response.headers.getall("set-cookie")
        return cookie.partition(";")[0]


async def test_the_token_is_needed_always(server: Server, fake: FakeApi) -> None:  # R10
    own = {"origin": server.url}
    for headers in ({}, WRONG, own, own | WRONG, {"authorization": "Basic eDp5"}, {"authorization": server.token}):
        assert await upgrade(server, headers) == 401
    assert await upgrade(server, bearer(server)) == 101
    assert await upgrade(server, bearer(server) | own) == 101
    assert "handshake" not in server.log  # who is refused is no fault of the server's (R22)


@pytest.mark.parametrize("origin", ["http://evil.example", "https://evil.example", "null", "http://127.0.0.1:1", "x"])
async def test_a_page_of_another_site_is_refused_before_the_upgrade(
    server: Server, fake: FakeApi, origin: str
) -> None:  # R11, report 41: whatever it has
    cookie = await cookie_of(server)
    for headers in ({}, bearer(server), {"cookie": cookie}):
        assert await upgrade(server, headers | {"origin": origin}) == 403
    async with aiohttp.ClientSession(headers={"origin": origin, "cookie": cookie} | bearer(server)) as http:
        async with http.post(f"{server.url}/api/actions/create_session", json={}) as response:
            assert response.status == 403
            assert (await response.json())["code"] == "unauthorised"
        async with http.get(f"{server.url}/") as response:
            assert response.status == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}"]
)
async def test_a_name_that_was_rebound_to_this_machine_is_refused(server: Server, fake: FakeApi, host: str) -> None:
    """R11, report 41: DNS rebinding. The probes answer under any name."""
    named = {"host": host.format(port=server.port)}
    cookie = {"cookie": await cookie_of(server)}
    async with aiohttp.ClientSession() as http:
        for path in ("/", "/metrics", "/assets/x.js", "/ws"):
            async with http.get(server.url + path, headers=named | cookie | bearer(server)) as response:
                assert response.status == 403, path
        for path in ("/healthz", "/readyz"):
            async with http.get(server.url + path, headers=named) as response:
                assert response.status == 200, path


async def test_loopback_names_with_the_port_are_this_server(server: Server, fake: FakeApi) -> None:
    async with aiohttp.ClientSession() as http:
        for name in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST"):
            headers = bearer(server) | {"host": f"{name}:{server.port}"}
            async with http.get(f"{server.url}/metrics", headers=headers) as response:
                assert response.status == 200, name


async def test_more_than_one_host_header_is_400(server: Server, fake: FakeApi) -> None:
    request = (
        f"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nHost: evil.example\r\n"
        f"Authorization: Bearer {server.token}\r\nConnection: close\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(request.encode())
    status = await reader.readline()
    writer.close()
    await writer.wait_closed()
    assert b" 400 " in status


async def test_a_browser_signs_in_by_the_link_and_comes_back_by_its_cookie(server: Server, fake: FakeApi) -> None:
    async with aiohttp.ClientSession() as http:
        async with http.get(f"{server.url}/") as response:
            assert response.status == 401
        async with http.get(f"{server.url}/?token=wrong", allow_redirects=False) as response:
            assert (response.status, "set-cookie" in response.headers) == (401, False)
        async with http.get(server.sign_in_url, allow_redirects=False) as response:
            assert (response.status, response.headers["location"]) == (303, "/")
            cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert str(server.port) in cookie.partition("=")[0]
    assert server.token not in cookie
    signed_in = {"cookie": cookie.partition(";")[0]}
    assert await upgrade(server, signed_in | {"origin": server.url}) == 101
    assert await upgrade(server, signed_in) == 401  # without Origin only a Bearer token counts
    assert await upgrade(server, {"origin": server.url, "cookie": signed_in["cookie"][:-1]}) == 401


async def test_what_changes_state_over_http_needs_its_own_origin_or_a_token(server: Server, fake: FakeApi) -> None:
    cookie = {"cookie": await cookie_of(server)}
    async with aiohttp.ClientSession() as http:
        for headers, status in (
            ({}, 401),
            (WRONG, 401),
            (cookie, 401),
            (cookie | {"origin": "http://evil.example"}, 403),
            (cookie | {"origin": server.url}, 200),
            (bearer(server), 200),
        ):
            async with http.post(f"{server.url}/api/actions/ping", json={}, headers=headers) as response:
                assert response.status == status, headers
            async with http.get(f"{server.url}/api/sessions/s_1/events", headers=headers) as response:
                assert response.status == (404 if status == 200 else status)


async def test_only_probes_sign_in_and_static_files_are_exempt(server: Server, fake: FakeApi) -> None:
    async with aiohttp.ClientSession() as http:
        for path, status in (("/healthz", 200), ("/readyz", 200), ("/metrics", 401), ("/api/sessions/s_1/events", 401)):
            async with http.get(server.url + path) as response:
                assert response.status == status, path
            async with http.get(server.url + path, headers=WRONG) as response:
                assert response.status == status, path


async def test_every_page_carries_the_policy(server: Server, fake: FakeApi) -> None:  # R13
    async with aiohttp.ClientSession() as http:
        for path in ("/", "/healthz", "/nothing"):
            async with http.get(server.url + path) as response:
                policy = response.headers["content-security-policy"]
                assert "default-src 'none'" in policy
                assert "unsafe" not in policy
                assert response.headers["x-content-type-options"] == "nosniff"


async def test_paths_do_not_lead_out_of_the_interface(server: Server, fake: FakeApi) -> None:  # R15
    for path in (
        "/../../pyproject.toml",
        "/%2e%2e/%2e%2e/pyproject.toml",
        "/assets/..%2f..%2f..%2fapp/serve.py",
        "//etc/passwd",
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        assert b" 404 " in answer.partition(b"\r\n")[0], (path, answer[:200])


async def test_refusals_are_counted(server: Server, fake: FakeApi) -> None:
    await upgrade(server, WRONG)
    async with aiohttp.ClientSession() as http, http.get(f"{server.url}/metrics", headers=bearer(server)) as response:
        text = await response.text()
    assert 'openprogram_requests_refused_total{reason="unauthorised"}' in text
