"""A canned search service in SearXNG's JSON shape, so that web search can be seen working offline.

Its results are made up and say so: each title begins with `[demo]`.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from openprogram.fakeapi.shapes import JsonObject

_RESULTS: Final = (
    (
        "Getting started with {query}",
        "Canned by openprogram's demo search: nothing was searched, nothing left this machine.",
        "2026-10-02T08:00:00",
    ),
    (
        "{query}: the reference",
        "The second canned result. Start the server with SEARXNG_URL or a search service's key to get real ones.",
        "2026-08-17T12:30:00",
    ),
    (
        "Questions and answers about {query}",
        "The third canned result, with a date of its own, so that dates can be seen in the interface.",
        "2026-05-29T18:45:00",
    ),
)


async def search(request: Request) -> Response:
    """`GET /search?q=...&format=json`, as SearXNG answers it."""
    query = request.query_params.get("q", "").strip()
    if not query:
        return PlainTextResponse("No query", 400)
    if request.query_params.get("format") != "json":
        return PlainTextResponse("Only format=json is served by this demo", 403)
    results = [_result(position, query) for position in range(len(_RESULTS))]
    return JSONResponse(
        {
            "query": query,
            "number_of_results": len(results),
            "results": results,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": [],
        }
    )


def _result(position: int, query: str) -> JsonObject:
    title, content, published = _RESULTS[position]
    return {
        "url": f"https://example.com/demo/{position + 1}?q={quote(query)}",
        "title": "[demo] " + title.replace("{query}", query),
        "content": content.replace("{query}", query),
        "publishedDate": published,
        "engine": "demo",
        "engines": ["demo"],
        "category": "general",
        "score": round(1.0 / (position + 1), 3),
        "positions": [position + 1],
        "template": "default.html",
    }
