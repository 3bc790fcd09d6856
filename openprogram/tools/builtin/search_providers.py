"""The wire shapes of the search providers, each from its own documentation.

Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search
Brave: https://api-dashboard.search.brave.com/api-reference/web/search/get
Exa: https://exa.ai/docs/reference/search
Serper: https://serper.dev (its playground; there is no reference)
SearXNG: https://docs.searxng.org/dev/search_api
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from openprogram.core.jsonio import JsonObject, JsonValue
from openprogram.net.trusted import JsonRequest
from openprogram.tools.builtin.search_config import SearchConfig, SearchProvider
from openprogram.tools.builtin.search_results import Hit, hit, objects, strings

MOST: Final = 20
"""Results that every one of them gives at once."""


@dataclass(frozen=True, slots=True)
class Api:
    """How one provider is asked and read: `ask(url, key, query, count)`, then `read(answer)` or None for no answer."""

    title: str
    url: str
    ask: Callable[[str, str, str, int], JsonRequest]
    read: Callable[[JsonObject], list[Hit | None] | None]


def _ask_tavily(url: str, key: str, query: str, count: int) -> JsonRequest:
    body: JsonObject = {"query": query, "max_results": count, "search_depth": "basic"}
    return JsonRequest("POST", f"{url}/search", {"Authorization": f"Bearer {key}"}, body=body)


def _read_tavily(answer: JsonObject) -> list[Hit | None] | None:
    if not isinstance(answer.get("results"), list):
        return None
    return [
        hit(item.get("title"), item.get("url"), item.get("content"), item.get("published_date"))
        for item in objects(answer, "results")
    ]


def _ask_brave(url: str, key: str, query: str, count: int) -> JsonRequest:
    parameters = {"q": query, "count": str(count), "result_filter": "web", "text_decorations": "false"}
    return JsonRequest("GET", f"{url}/res/v1/web/search", {"X-Subscription-Token": key}, parameters)


def _read_brave(answer: JsonObject) -> list[Hit | None] | None:
    if answer.get("type") != "search":
        return None
    return [
        hit(item.get("title"), item.get("url"), item.get("description"), item.get("page_age") or item.get("age"))
        for item in objects(answer, "web", "results")
    ]


def _ask_exa(url: str, key: str, query: str, count: int) -> JsonRequest:
    body: JsonObject = {"query": query, "numResults": count, "contents": {"highlights": True}}
    return JsonRequest("POST", f"{url}/search", {"x-api-key": key}, body=body)


def _read_exa(answer: JsonObject) -> list[Hit | None] | None:
    if not isinstance(answer.get("results"), list):
        return None
    return [
        hit(
            item.get("title"),
            item.get("url"),
            strings(item.get("highlights")) or item.get("text"),
            item.get("publishedDate"),
        )
        for item in objects(answer, "results")
    ]


def _ask_serper(url: str, key: str, query: str, count: int) -> JsonRequest:
    return JsonRequest("POST", f"{url}/search", {"X-API-KEY": key}, body={"q": query, "num": count})


def _read_serper(answer: JsonObject) -> list[Hit | None] | None:
    if not isinstance(answer.get("organic"), list):
        return None
    return [
        hit(item.get("title"), item.get("link"), item.get("snippet"), item.get("date"))
        for item in objects(answer, "organic")
    ]


def _ask_searxng(url: str, key: str, query: str, count: int) -> JsonRequest:
    return JsonRequest("GET", f"{url}/search", query={"q": query, "format": "json"})


def _read_searxng(answer: JsonObject) -> list[Hit | None] | None:
    if not isinstance(answer.get("results"), list):
        return None
    found = [
        hit(item.get("title"), item.get("url"), item.get("content"), item.get("publishedDate"))
        for item in objects(answer, "results")
    ]
    if not found and answer.get("unresponsive_engines"):
        return None
    return found


APIS: Final[dict[SearchProvider, Api]] = {
    "tavily": Api("Tavily", "https://api.tavily.com", _ask_tavily, _read_tavily),
    "brave": Api("Brave", "https://api.search.brave.com", _ask_brave, _read_brave),
    "exa": Api("Exa", "https://api.exa.ai", _ask_exa, _read_exa),
    "serper": Api("Serper", "https://google.serper.dev", _ask_serper, _read_serper),
    "searxng": Api("SearXNG", "", _ask_searxng, _read_searxng),
}


def address(config: SearchConfig, provider: SearchProvider) -> str:
    """Where a provider is asked."""
    own = config.searxng_url if provider == "searxng" else config.urls.get(provider)
    return (own or APIS[provider].url).rstrip("/")


def complaint(value: JsonValue) -> str:
    """What an error answer says, wherever the provider puts it; empty if nothing can be made out."""
    if not isinstance(value, dict):
        return ""
    for name in ("message", "detail", "error", "code"):
        found = value.get(name)
        if isinstance(found, str) and found.strip():
            return found.strip()[:200]
        if isinstance(found, dict) and (inner := complaint(found)):
            return inner
    return ""
