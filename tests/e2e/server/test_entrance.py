"""Signing in, and the interface's files."""

import re
from pathlib import Path

import aiohttp
import pytest

from tests.support.edge import BEARER, TOKEN, Served, serving


@pytest.fixture
def static(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<p>the interface</p>")
    (tmp_path / "icon.svg").write_text("<svg/>")
    (tmp_path / "assets" / "index-4f2a.js").write_text("export {}")
    (tmp_path.parent / "secret").write_text("not yours")
    (tmp_path / "assets" / "link.js").symlink_to(tmp_path.parent / "secret")
    return tmp_path


async def page(edge: Served, path: str, **headers: str) -> tuple[aiohttp.ClientResponse, str]:
    async with edge.http(**headers) as http, http.get(path, allow_redirects=False) as answer:
        return answer, await answer.text()


async def test_the_link_signs_in_and_leads_to_the_interface(static: Path) -> None:
    async with serving(static=static) as edge:
        answer, _ = await page(edge, f"/?token={TOKEN}")
        assert (answer.status, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith(f"openprogram_{edge.port}=")
        assert {part.strip().lower() for part in cookie.split(";")[1:]} == {
            "httponly",
            "samesite=strict",
            "path=/",
            "max-age=31536000",
        }
        answer, text = await page(edge, "/", Cookie=cookie.partition(";")[0])
        assert (answer.status, text) == (200, "<p>the interface</p>")
        assert answer.headers["cache-control"] == "no-cache"


async def test_the_cookie_is_secure_where_the_server_is_reached_by_https(static: Path) -> None:
    async with serving(static=static, public_url="https://chat.example.com") as edge:
        answer, _ = await page(edge, f"/?token={TOKEN}", Host="chat.example.com")
        assert "; secure" in answer.headers["set-cookie"].lower()
        answer, _ = await page(edge, f"/?token={TOKEN}")
        assert "secure" not in answer.headers["set-cookie"].lower()


async def test_without_a_credential_there_is_a_sign_in_page_and_no_cookie(static: Path) -> None:
    async with serving(static=static) as edge:
        for path, wrong in (("/", False), ("/?token=", True), ("/?token=wrong", True)):
            answer, text = await page(edge, path)
            assert answer.status == 401
            assert "set-cookie" not in answer.headers
            assert 'name="token"' in text
            assert ("not the right one" in text) is wrong
            assert "the interface" not in text


async def test_the_sign_in_page_runs_no_script_and_loads_nothing(static: Path) -> None:
    async with serving(static=static) as edge:
        answer, text = await page(edge, "/?token=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
        assert "<script" not in text
        assert not re.search(r"\bon\w+=|src=|href=|style=", text)
        policy = answer.headers["content-security-policy"]
        assert "script-src 'none'" in policy
        assert "unsafe" not in policy
        assert "form-action 'self'" in policy


async def test_a_link_from_another_site_reloads_once_to_bring_the_strict_cookie(static: Path) -> None:
    async with serving(static=static) as edge:
        _, text = await page(edge, "/", **{"Sec-Fetch-Site": "cross-site"})
        assert 'http-equiv="refresh" content="0; url=/"' in text
        _, text = await page(edge, "/", **{"Sec-Fetch-Site": "same-origin"})
        assert "refresh" not in text


async def test_a_missing_interface_is_explained(tmp_path: Path) -> None:
    async with serving(static=tmp_path) as edge:
        answer, text = await page(edge, "/", **BEARER)
        assert answer.status == 503
        assert "scripts/build" in text
        answer, _ = await page(edge, "/assets/index-4f2a.js")
        assert answer.status == 404


async def test_hashed_files_are_kept_for_ever_and_others_are_asked_for_again(static: Path) -> None:
    async with serving(static=static) as edge:
        script, _ = await page(edge, "/assets/index-4f2a.js")
        assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert script.content_type in ("text/javascript", "application/javascript")
        icon, _ = await page(edge, "/icon.svg")
        assert icon.headers["cache-control"] == "no-cache"
        again, text = await page(edge, "/icon.svg", **{"If-None-Match": icon.headers["etag"]})
        assert (again.status, text) == (304, "")
        assert again.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path",
    [
        "/%2e%2e/secret",
        "/assets/..%2f..%2fsecret",
        "/assets/link.js",
        "/..%5csecret",
        "/%00",
        "/assets/",
        f"/{'a' * 3000}",
    ],
)
async def test_nothing_outside_the_static_directory_is_served(static: Path, path: str) -> None:
    async with serving(static=static) as edge:
        status, answer = await edge.raw(f"Host: 127.0.0.1:{edge.port}", path=path)
        assert status == 404
        assert "not yours" not in answer


async def test_every_answer_carries_the_security_headers(static: Path) -> None:
    async with serving(static=static) as edge:
        for path, headers in [
            ("/", {}),
            ("/", BEARER),
            ("/icon.svg", {}),
            ("/healthz", {}),
            ("/metrics", BEARER),
            ("/metrics", {}),
            ("/no/such", {}),
            ("/", {"Host": "evil.example"}),
        ]:
            answer, _ = await page(edge, path, **headers)
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; ")
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["referrer-policy"] == "same-origin"
            assert answer.headers["cross-origin-opener-policy"] == "same-origin"
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            assert "cache-control" in answer.headers
            assert "server" not in answer.headers
