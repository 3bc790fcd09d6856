"""R9 to R11: who is let in, decided before the upgrade and before any route."""

import json

import pytest

from openprogram.core.protocol.codec import ACTIONS
from tests.support.edge import BEARER, TOKEN, Served, serving

UPGRADE = (
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)
AUTHORIZED = f"Authorization: Bearer {TOKEN}"


def cookie(edge: Served) -> str:
    return f"{edge.edge.access.cookie_name}={edge.edge.access.cookie_value}"


async def upgrade(edge: Served, *lines: str, host: str | None = None) -> tuple[int, dict[str, str]]:
    """Ask for an upgrade; the status and, if it was refused, the error frame."""
    status, answer = await edge.raw(f"Host: {host or f'127.0.0.1:{edge.port}'}", *UPGRADE, *lines)
    return status, {} if status == 101 else json.loads(answer.partition("\r\n\r\n")[2])


async def test_a_bearer_token_opens_the_socket_without_an_origin() -> None:
    async with serving() as edge:
        assert await upgrade(edge, AUTHORIZED) == (101, {})
        assert edge.edge.metrics.refused == {}


async def test_a_page_of_this_server_opens_the_socket_with_its_cookie() -> None:
    async with serving() as edge:
        for origin in (edge.url, f"http://localhost:{edge.port}", f"http://[::1]:{edge.port}"):
            assert (await upgrade(edge, f"Origin: {origin}", f"Cookie: {cookie(edge)}"))[0] == 101


@pytest.mark.parametrize(
    ("lines", "status", "says"),
    [
        ([], 401, "credential is missing"),
        (["Authorization: Bearer wrong"], 401, "token is wrong"),
        (["Authorization: Bearer"], 401, "token is wrong"),
        (["Authorization: Bearer wrong", "Cookie: {cookie}", "Origin: {origin}"], 401, "token is wrong"),
        (["Cookie: {cookie}"], 401, "without an Origin"),
        (["Cookie: openprogram_1={value}", "Origin: {origin}"], 401, "credential is missing"),
        (["Cookie: {name}=wrong", "Origin: {origin}"], 401, "credential is missing"),
        (["Cookie: {cookie}", "Origin: http://evil.example"], 403, "http://evil.example"),
        (["Cookie: {cookie}", "Origin: null"], 403, "null"),
        (["Cookie: {cookie}", "Origin: http://127.0.0.1:1"], 403, "http://127.0.0.1:1"),
        (["Cookie: {cookie}", "Origin: {origin}.evil.example"], 403, "evil.example"),
        ([AUTHORIZED, "Origin: https://evil.example"], 403, "https://evil.example"),
        ([AUTHORIZED, "Authorization: Bearer wrong"], 400, "more than one authorization"),
    ],
)
async def test_the_upgrade_is_refused_with_a_reason(lines: list[str], status: int, says: str) -> None:
    async with serving() as edge:
        access = edge.edge.access
        filled = [
            line.format(cookie=cookie(edge), name=access.cookie_name, value=access.cookie_value, origin=edge.url)
            for line in lines
        ]
        answer = await upgrade(edge, *filled)
        assert answer[0] == status
        assert answer[1]["code"] == "unauthorised"
        assert says in answer[1]["message"]
        assert edge.edge.metrics.sockets_opened == 0


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "127.0.0.1.nip.example:{port}"])
async def test_a_rebound_name_is_refused_even_with_the_token(host: str) -> None:
    async with serving() as edge:
        status, error = await upgrade(edge, AUTHORIZED, host=host.format(port=edge.port))
        assert (status, error["code"]) == (403, "unauthorised")
        assert "--allow-host" in error["hint"]
        async with edge.http(Host=host.format(port=edge.port)) as http, http.get("/") as page:
            assert page.status == 403


async def test_two_host_headers_are_a_bad_request() -> None:
    async with serving() as edge:
        host = f"Host: 127.0.0.1:{edge.port}"
        assert (await edge.raw(host, host, *UPGRADE, AUTHORIZED))[0] == 400
        assert (await edge.raw(host, "Host: evil.example", *UPGRADE, AUTHORIZED))[0] == 400
        assert (await edge.raw(host, host, path="/healthz"))[0] == 400
        assert (await edge.raw(*UPGRADE, AUTHORIZED))[0] == 400
        assert edge.edge.metrics.sockets_opened == 0


async def test_two_origins_are_a_bad_request() -> None:
    async with serving() as edge:
        lines = (f"Host: 127.0.0.1:{edge.port}", AUTHORIZED, f"Origin: {edge.url}", "Origin: http://evil.example")
        assert (await edge.raw(*lines, *UPGRADE))[0] == 400
        assert (await edge.raw(*lines, path="/metrics"))[0] == 400


async def test_allowed_names_and_the_public_url_are_let_in_as_host_and_origin() -> None:
    async with serving(allow_hosts=("box.local",), public_url="https://chat.example.com") as edge:
        port = edge.port
        for host, origin in [
            ("box.local", "http://box.local"),
            (f"box.local:{port}", f"http://box.local:{port}"),
            ("BOX.local", "https://box.local"),
            ("chat.example.com", "https://chat.example.com"),
            ("chat.example.com:443", "https://chat.example.com"),
            (f"127.0.0.1:{port}", "https://chat.example.com"),
        ]:
            assert (await upgrade(edge, f"Origin: {origin}", f"Cookie: {cookie(edge)}", host=host))[0] == 101
        for host, origin in [
            ("box.local:1", f"http://box.local:{port}"),
            ("box.local", "http://box.local:1"),
            ("chat.example.com", "http://chat.example.com"),
            ("chat.example.com", "https://chat.example.com:8443"),
        ]:
            assert (await upgrade(edge, f"Origin: {origin}", f"Cookie: {cookie(edge)}", host=host))[0] == 403


async def test_every_address_but_the_exempt_ones_needs_a_credential() -> None:
    async with serving() as edge, edge.http() as http:
        for action in (*ACTIONS, "no_such_action"):
            async with http.post(f"/api/actions/{action}", json={}) as answer:
                assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        for path in ("/metrics", "/api/sessions/s_1/events"):
            async with http.get(path) as answer:
                assert (answer.status, (await answer.json())["code"]) == (401, "unauthorised")
        assert edge.service.performed == []
        for path in ("/healthz", "/readyz"):
            async with http.get(path) as answer:
                assert answer.status == 200


async def test_probes_answer_under_any_name_and_readiness_tells_the_truth() -> None:
    async with serving(ready=False) as edge, edge.http(Host="10.1.2.3:8790") as http:
        async with http.get("/healthz") as answer:
            assert (answer.status, await answer.text()) == (200, "ok")
        async with http.get("/readyz") as answer:
            assert (answer.status, await answer.text()) == (503, "not ready")


async def test_state_changing_http_with_a_cookie_needs_the_origin_of_this_server() -> None:
    async with serving() as edge:
        for origin, status in [(None, 401), ("http://evil.example", 403), (edge.url, 200)]:
            headers = {"Cookie": cookie(edge)} | ({"Origin": origin} if origin else {})
            async with edge.http(**headers) as http, http.post("/api/actions/create_session", json={}) as answer:
                assert answer.status == status
        assert len(edge.service.performed) == 1


async def test_the_cookie_does_not_disclose_the_token() -> None:
    async with serving() as edge:
        assert TOKEN not in edge.edge.access.cookie_value
        assert TOKEN not in repr(edge.edge.access)
        cookie_as_token = f"Authorization: Bearer {edge.edge.access.cookie_value}"
        assert (await upgrade(edge, cookie_as_token))[0] == 401
        assert BEARER["Authorization"].endswith(TOKEN)
