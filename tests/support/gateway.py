"""A gateway before an API: it changes requests on their way, as some do to have prompts kept for longer."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import aiohttp
import orjson
from aiohttp import web
from aiohttp.test_utils import TestServer

Change = Callable[[dict[str, Any]], dict[str, Any]]
_OURS: Final = frozenset({"host", "content-length", "transfer-encoding", "connection"})


@asynccontextmanager
async def gateway(behind: str, change: Change) -> AsyncIterator[str]:
    """The base URL of a gateway to the API at `behind`; each body passes through `change`."""
    async with aiohttp.ClientSession() as http:

        async def forward(request: web.Request) -> web.StreamResponse:
            headers = {name: value for name, value in request.headers.items() if name.lower() not in _OURS}
            body = orjson.dumps(change(orjson.loads(await request.read())))
            async with http.post(f"{behind}{request.path_qs}", data=body, headers=headers) as answer:
                kept = {name: value for name, value in answer.headers.items() if name.lower() not in _OURS}
                out = web.StreamResponse(status=answer.status, headers=kept)
                await out.prepare(request)
                async for chunk in answer.content.iter_any():
                    await out.write(chunk)
            return out

        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/{rest:.*}", forward)
        async with TestServer(app) as server:
            yield str(server.make_url("")).rstrip("/")


def kept_an_hour(body: dict[str, Any]) -> dict[str, Any]:
    """Anthropic: tools and system prompt are kept for an hour, messages as they were."""
    for block in (*body.get("tools", ()), *body.get("system", ())):
        if "cache_control" in block:
            block["cache_control"]["ttl"] = "1h"
    return body


def kept_half_a_day(body: dict[str, Any]) -> dict[str, Any]:
    """OpenAI: everything is kept for twelve hours."""
    return {**body, "prompt_cache_options": {"mode": "implicit", "ttl": "12h"}}
