"""`web_search`: the configured providers in order, the next one where one fails."""

from typing import Final

from openprogram import __version__
from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolLimits, ToolOutput, ToolSpec
from openprogram.net.errors import NetFailure, NetFailureKind
from openprogram.net.trusted import JsonReply, JsonRequest, request_json
from openprogram.tools.builtin.search_config import UNAVAILABLE, SearchConfig, SearchProvider
from openprogram.tools.builtin.search_keyless import search_keyless
from openprogram.tools.builtin.search_providers import APIS, MOST, Api, address, complaint
from openprogram.tools.builtin.search_results import FailureKind, Hit, SearchFailure, distinct
from openprogram.tools.decorator import tool

_LONGEST: Final = 400
"""Characters of a query that all providers take."""

_USER_AGENT: Final = f"openprogram/{__version__}"
_NET_KINDS: Final[dict[NetFailureKind, FailureKind]] = {"timeout": "timeout", "bad_answer": "bad_answer"}
_STATUS_KINDS: Final[dict[int, FailureKind]] = {
    401: "auth",
    402: "quota",
    403: "auth",
    429: "rate_limited",
    432: "quota",
    433: "quota",
}
_DEMO: Final = "demo"

Answer = tuple[Hit, ...] | SearchFailure


def web_search_tool(config: SearchConfig) -> ToolSpec:
    """The tool. It exists whatever is configured; `availability` says whether it can be offered."""

    @tool(
        permission="network",
        readonly=True,
        parallel_safe=True,
        provides=("web_search",),
        residency="resident",
        presets=("research",),
        limits=ToolLimits(timeout_s=90.0),
    )
    async def web_search(context: ToolContext, query: str, max_results: int = 8) -> ToolOutput:
        """Search the web. Gives title, address, date and an excerpt of each page found.

        Args:
            query: What to search for
            max_results: Most results to give
        """
        words = " ".join(query.split())
        if not words:
            raise ToolFailure("The query is empty.")
        if len(words) > _LONGEST:
            raise ToolFailure(f"The query is longer than {_LONGEST} characters: use fewer words.")
        return await _search(config, words, max(1, min(max_results, MOST)))

    return web_search


async def _search(config: SearchConfig, query: str, count: int) -> ToolOutput:
    failures: list[SearchFailure] = []
    for provider in config.configured or ((_DEMO,) if config.demo_url else ()):
        answer = await _ask(config, provider, query, count)
        if isinstance(answer, SearchFailure):
            failures.append(answer)
        else:
            return _show(query, provider, answer, failures)
    display: JsonObject = {
        "query": query,
        "provider": None,
        "results": [],
        "failures": [failure.display for failure in failures],
    }
    if not failures:
        return ToolOutput.error(UNAVAILABLE, display=display)
    lines = "\n".join(f"- {failure.provider}: {failure.message}" for failure in failures)
    return ToolOutput.error(f"No search provider could answer.\n{lines}", display=display)


async def _ask(config: SearchConfig, provider: SearchProvider | str, query: str, count: int) -> Answer:
    match provider:
        case "keyless":
            return await search_keyless(query, count, config.timeout_s)
        case "tavily" | "brave" | "exa" | "serper" | "searxng":
            api, url = APIS[provider], address(config, provider)
            key = config.key(provider) or ""
        case _:
            api, url, key = APIS["searxng"], (config.demo_url or "").rstrip("/"), ""
    answer = await _exchange(api, api.ask(url, key, query, count), config.timeout_s)
    if isinstance(answer, SearchFailure) and key:
        return SearchFailure(answer.provider, answer.kind, answer.message.replace(key, "***"))
    return answer if isinstance(answer, SearchFailure) else answer[:count]


async def _exchange(api: Api, request: JsonRequest, timeout_s: float) -> Answer:
    try:
        reply = await request_json(request, user_agent=_USER_AGENT, timeout_s=timeout_s)
    except NetFailure as failure:
        return SearchFailure(api.title, _NET_KINDS.get(failure.kind, "unreachable"), failure.message)
    if reply.status != 200:
        return _refusal(api, reply)
    hits = api.read(reply.value) if isinstance(reply.value, dict) else None
    if hits is None:
        return SearchFailure(api.title, "bad_answer", f"the answer is not one of {api.title}{_advice(api)}")
    return distinct(hits, MOST)


def _refusal(api: Api, reply: JsonReply) -> SearchFailure:
    said = complaint(reply.value)
    kind = _STATUS_KINDS.get(reply.status, "bad_answer")
    lowered = said.lower()
    if "credit" in lowered:
        kind = "quota"
    elif "token" in lowered and reply.status == 422:
        kind = "auth"
    return SearchFailure(api.title, kind, f"HTTP {reply.status}{f', {said}' if said else ''}{_advice(api)}")


def _advice(api: Api) -> str:
    """SearXNG answers 403 or a page where its JSON format is not switched on, as it is not from the start."""
    return " (is `json` among `search.formats` in its settings?)" if api.title == "SearXNG" else ""


def _show(query: str, provider: str, hits: tuple[Hit, ...], failures: list[SearchFailure]) -> ToolOutput:
    display: JsonObject = {
        "query": query,
        "provider": provider,
        "results": [hit.display for hit in hits],
        "failures": [failure.display for failure in failures],
    }
    if not hits:
        return ToolOutput.text(f"Nothing was found for {query!r}.", display=display)
    blocks = [
        f"{number}. {hit.title}\n{hit.url}\n{f'{hit.date}: ' if hit.date else ''}{hit.snippet}".rstrip()
        for number, hit in enumerate(hits, 1)
    ]
    return ToolOutput.text("\n\n".join(blocks), display=display)
