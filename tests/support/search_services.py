"""The search providers as their documentation describes them, over real HTTP: each checks what it is asked."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from openprogram.core.jsonio import JsonObject
from openprogram.tools.builtin.search_config import SearchConfig
from tests.support.loopback import Loopback, loopback

KEYS = {"tavily": "tvly-key", "brave": "brave-key", "exa": "exa-key", "serper": "serper-key"}


@dataclass
class Services:
    """All providers behind one address, each under a path of its own. `broken` answers instead where it is set."""

    server: Loopback | None = None
    broken: dict[str, web.Response] = field(default_factory=dict)
    asked: list[tuple[str, JsonObject]] = field(default_factory=list)

    def config(self, *providers: str) -> SearchConfig:
        """A configuration in which these are configured."""
        assert self.server is not None
        base = self.server.url
        return SearchConfig(
            tavily_key=KEYS["tavily"] if "tavily" in providers else None,
            brave_key=KEYS["brave"] if "brave" in providers else None,
            exa_key=KEYS["exa"] if "exa" in providers else None,
            serper_key=KEYS["serper"] if "serper" in providers else None,
            searxng_url=f"{base}/searxng/" if "searxng" in providers else None,
            demo_url=f"{base}/searxng" if "demo" in providers else None,
            urls={
                "tavily": f"{base}/tavily",
                "brave": f"{base}/brave",
                "exa": f"{base}/exa",
                "serper": f"{base}/serper",
            },
            timeout_s=5.0,
        )

    async def handle(self, request: web.Request) -> web.StreamResponse:
        provider, _, path = request.path.lstrip("/").partition("/")
        body = json.loads(await request.read() or b"{}")
        self.asked.append((provider, body or dict(request.query)))
        if provider in self.broken:
            spare = self.broken[provider]
            return web.Response(body=spare.body, status=spare.status, content_type=spare.content_type)
        if body and request.content_type != "application/json":
            return web.json_response({"error": "not JSON"}, status=415)
        match provider, request.method, path:
            case "tavily", "POST", "search":
                return _tavily(request, body)
            case "brave", "GET", "res/v1/web/search":
                return _brave(request)
            case "exa", "POST", "search":
                return _exa(request, body)
            case "serper", "POST", "search":
                return _serper(request, body)
            case "searxng", "GET", "search":
                return _searxng(request)
            case _:
                return web.Response(status=404, text="no such endpoint")


def _tavily(request: web.Request, body: JsonObject) -> web.Response:
    if request.headers.get("Authorization") != f"Bearer {KEYS['tavily']}":
        return web.json_response({"detail": {"error": "Unauthorized: missing or invalid API key."}}, status=401)
    assert set(body) <= {"query", "max_results", "search_depth"}
    assert isinstance(body["max_results"], int)
    assert 0 < body["max_results"] <= 20
    return web.json_response(
        {
            "query": body["query"],
            "follow_up_questions": None,
            "answer": None,
            "images": [],
            "results": [
                {
                    "url": "https://tavily.example/1",
                    "title": "Tavily one",
                    "content": "First snippet",
                    "score": 0.9,
                    "raw_content": None,
                    "published_date": "Tue, 05 Nov 2024 10:00:00 GMT",
                },
                {"url": "https://tavily.example/2", "title": "Tavily two", "content": "Second", "score": 0.5},
            ],
            "response_time": 1.1,
            "request_id": "123e4567",
        }
    )


def _brave(request: web.Request) -> web.Response:
    if request.headers.get("X-Subscription-Token") != KEYS["brave"]:
        detail = "The provided subscription token is invalid."
        error = {"id": "1", "status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID", "detail": detail}
        return web.json_response({"type": "ErrorResponse", "error": error, "time": 1}, status=422)
    assert 1 <= int(request.query["count"]) <= 20
    return web.json_response(
        {
            "type": "search",
            "query": {"original": request.query["q"], "more_results_available": True},
            "web": {
                "type": "search",
                "results": [
                    {
                        "title": "Brave &amp; one",
                        "url": "https://brave.example/1",
                        "description": "A <strong>bold</strong> snippet",
                        "age": "January 2, 2025",
                        "page_age": "2025-01-02T03:04:05",
                        "extra_snippets": ["more"],
                    },
                    {"title": "Brave two", "url": "https://brave.example/2", "description": "Two", "age": "3 days ago"},
                ],
            },
        }
    )


def _exa(request: web.Request, body: JsonObject) -> web.Response:
    if request.headers.get("x-api-key") != KEYS["exa"]:
        return web.json_response({"requestId": "r", "error": "Invalid API key", "tag": "INVALID_API_KEY"}, status=401)
    assert set(body) == {"query", "numResults", "contents"}
    return web.json_response(
        {
            "requestId": "b5947044",
            "results": [
                {
                    "title": "Exa one",
                    "url": "https://exa.example/1",
                    "publishedDate": "2023-11-16T01:36:32.547Z",
                    "author": "Someone",
                    "id": "https://exa.example/1",
                    "highlights": ["One part", "another part"],
                    "highlightScores": [0.5, 0.4],
                },
                {"title": None, "url": "https://exa.example/2", "id": "2", "publishedDate": None, "text": "Text"},
            ],
            "costDollars": {"total": 0.005},
        }
    )


def _serper(request: web.Request, body: JsonObject) -> web.Response:
    if request.headers.get("X-API-KEY") != KEYS["serper"]:
        return web.json_response({"message": "Unauthorized.", "statusCode": 403}, status=403)
    assert set(body) == {"q", "num"}
    return web.json_response(
        {
            "searchParameters": {"q": body["q"], "type": "search", "engine": "google"},
            "organic": [
                {
                    "title": "Serper one",
                    "link": "https://serper.example/1",
                    "snippet": "Snippet",
                    "date": "Feb 3, 2025",
                    "position": 1,
                },
                {"title": "Serper two", "link": "https://serper.example/2", "position": 2},
            ],
            "credits": 1,
        }
    )


def _searxng(request: web.Request) -> web.Response:
    if request.query.get("format") != "json":
        return web.Response(text="<html>results</html>", content_type="text/html")
    return web.json_response(
        {
            "query": request.query["q"],
            "number_of_results": 0,
            "results": [
                {
                    "url": "https://searxng.example/1",
                    "title": "SearXNG one",
                    "content": "Content",
                    "publishedDate": "2024-05-06T00:00:00",
                    "engine": "duckduckgo",
                },
                {"url": "https://searxng.example/1", "title": "The same again", "content": "", "engine": "bing"},
                {"url": "javascript:alert(1)", "title": "Not an address", "content": ""},
            ],
            "answers": [],
            "unresponsive_engines": [["google", "timeout"]],
        }
    )


@asynccontextmanager
async def search_services() -> AsyncIterator[Services]:
    """Serve them until the block ends."""
    services = Services()
    async with loopback(services.handle) as server:
        services.server = server
        yield services
