"""`web_search`: documented wire shapes over real HTTP, a stated order, the next provider where one fails."""

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from openprogram.core.jsonio import JsonValue
from openprogram.core.tooling import ToolOutput
from openprogram.tools.builtin.search_config import ORDER, UNAVAILABLE, SearchConfig, availability
from openprogram.tools.builtin.web_search import web_search_tool
from tests.support.ports import reserved_port
from tests.support.search_services import KEYS, Services, search_services
from tests.support.tool_calls import Caller, display_of, text_of


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    async with search_services() as running:
        yield running


async def search(tmp_path: Path, config: SearchConfig, query: str = "a question", **more: int) -> ToolOutput:
    return await Caller(tmp_path)(web_search_tool(config), query=query, **more)


def only_failure(output: ToolOutput) -> dict[str, JsonValue]:
    failures = display_of(output)["failures"]
    assert isinstance(failures, list)
    assert len(failures) == 1
    assert isinstance(failures[0], dict)
    return failures[0]


HITS: dict[str, list[tuple[str, str, str, str | None]]] = {
    "tavily": [
        ("Tavily one", "https://tavily.example/1", "First snippet", "2024-11-05"),
        ("Tavily two", "https://tavily.example/2", "Second", None),
    ],
    "brave": [
        ("Brave & one", "https://brave.example/1", "A bold snippet", "2025-01-02"),
        ("Brave two", "https://brave.example/2", "Two", "3 days ago"),
    ],
    "exa": [
        ("Exa one", "https://exa.example/1", "One part ... another part", "2023-11-16"),
        ("https://exa.example/2", "https://exa.example/2", "Text", None),
    ],
    "serper": [
        ("Serper one", "https://serper.example/1", "Snippet", "Feb 3, 2025"),
        ("Serper two", "https://serper.example/2", "", None),
    ],
    "searxng": [("SearXNG one", "https://searxng.example/1", "Content", "2024-05-06")],
}


@pytest.mark.parametrize("provider", HITS)
async def test_each_provider_is_asked_and_read_as_documented(services, tmp_path, provider):
    output = await search(tmp_path, services.config(provider))
    names = ("title", "url", "snippet", "date")
    assert display_of(output) == {
        "query": "a question",
        "provider": provider,
        "results": [dict(zip(names, hit, strict=True)) for hit in HITS[provider]],
        "failures": [],
    }
    assert [name for name, _ in services.asked] == [provider]
    asked = services.asked[0][1]
    assert "a question" in (asked.get("query"), asked.get("q"))


async def test_the_model_gets_title_address_date_and_excerpt(services, tmp_path):
    output = await search(tmp_path, services.config("tavily"))
    assert text_of(output) == (
        "1. Tavily one\nhttps://tavily.example/1\n2024-11-05: First snippet\n\n"
        "2. Tavily two\nhttps://tavily.example/2\nSecond"
    )


async def test_the_number_of_results_is_asked_for_and_kept_to(services, tmp_path):
    output = await search(tmp_path, services.config("tavily"), max_results=1)
    assert services.asked[0][1]["max_results"] == 1
    assert display_of(output)["results"] == [
        {"title": "Tavily one", "url": "https://tavily.example/1", "snippet": "First snippet", "date": "2024-11-05"}
    ]
    await search(tmp_path, services.config("tavily"), max_results=500)
    assert services.asked[1][1]["max_results"] == 20


async def test_the_order_is_the_stated_one_and_can_be_changed(services, tmp_path):
    config = services.config(*HITS)
    assert config.configured == ("tavily", "brave", "exa", "serper", "searxng")
    assert display_of(await search(tmp_path, config))["provider"] == "tavily"
    other = replace(config, order=("serper", "tavily", "serper"))
    assert other.configured == ("serper", "tavily")
    assert display_of(await search(tmp_path, other))["provider"] == "serper"


def refusal(status: int, value: object) -> web.Response:
    return web.json_response(value, status=status)


@pytest.mark.parametrize(
    ("provider", "answer", "kind", "said"),
    [
        ("tavily", refusal(401, {"detail": {"error": "Unauthorized"}}), "auth", "HTTP 401, Unauthorized"),
        ("tavily", refusal(429, {"detail": {"error": "Too many"}}), "rate_limited", "HTTP 429, Too many"),
        ("tavily", refusal(432, {"detail": {"error": "Plan limit"}}), "quota", "HTTP 432, Plan limit"),
        ("brave", refusal(422, {"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}), "auth", "TOKEN_INVALID"),
        ("brave", refusal(429, {"error": {"code": "RATE_LIMITED", "detail": "Slow"}}), "rate_limited", "Slow"),
        ("exa", refusal(401, {"error": "Invalid API key", "tag": "INVALID_API_KEY"}), "auth", "Invalid API key"),
        ("exa", refusal(402, {"error": "No more credits"}), "quota", "No more credits"),
        ("serper", refusal(403, {"message": "Unauthorized."}), "auth", "Unauthorized."),
        ("serper", refusal(400, {"message": "Not enough credits"}), "quota", "Not enough credits"),
        ("searxng", web.Response(status=403, text="<html>"), "auth", "search.formats"),
        ("searxng", web.Response(text="<html>", content_type="text/html"), "bad_answer", "search.formats"),
        (
            "searxng",
            refusal(200, {"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}),
            "bad_answer",
            "SearXNG",
        ),
        ("exa", refusal(500, []), "bad_answer", "HTTP 500"),
        ("tavily", refusal(200, {"results": "none"}), "bad_answer", "not one of Tavily"),
        ("brave", refusal(200, {"type": "other"}), "bad_answer", "not one of Brave"),
        ("serper", refusal(200, ["x"]), "bad_answer", "not one of Serper"),
        ("exa", refusal(307, {}), "bad_answer", "HTTP 307"),
    ],
)
async def test_a_failure_has_a_kind_and_the_next_provider_is_asked(services, tmp_path, provider, answer, kind, said):
    services.broken[provider] = answer
    spare = "tavily" if provider != "tavily" else "brave"
    config = replace(services.config(provider, spare), order=(provider, spare))
    output = await search(tmp_path, config)
    display = display_of(output)
    assert (output.status, display["provider"]) == ("ok", spare)
    failure = only_failure(output)
    assert failure["kind"] == kind
    assert said in str(failure["message"])
    assert [name for name, _ in services.asked] == [provider, spare]


async def test_when_all_fail_each_is_named_with_its_reason(services, tmp_path):
    services.broken["tavily"] = refusal(401, {"detail": {"error": f"bad key {KEYS['tavily']}"}})
    services.broken["searxng"] = web.Response(status=502, text="bad gateway")
    output = await search(tmp_path, services.config("tavily", "searxng"))
    assert output.status == "error"
    assert text_of(output) == (
        "No search provider could answer.\n"
        "- Tavily: HTTP 401, bad key ***\n"
        "- SearXNG: HTTP 502 (is `json` among `search.formats` in its settings?)"
    )
    assert KEYS["tavily"] not in str(display_of(output))
    assert display_of(output)["provider"] is None


async def test_a_provider_that_is_not_there_or_silent_is_passed_over(services, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        config = services.config("tavily", "brave")
        output = await search(tmp_path, replace(config, urls={**config.urls, "tavily": address}, timeout_s=0.3))
    failure = only_failure(output)
    assert failure["kind"] == "timeout"
    output = await search(tmp_path, replace(config, urls={**config.urls, "tavily": address}))
    failure = only_failure(output)
    assert failure["kind"] == "unreachable"
    assert display_of(output)["provider"] == "brave"


async def test_no_results_is_an_answer(services, tmp_path):
    services.broken["tavily"] = refusal(200, {"results": []})
    output = await search(tmp_path, services.config("tavily", "brave"))
    assert (output.status, text_of(output)) == ("ok", "Nothing was found for 'a question'.")
    assert display_of(output)["provider"] == "tavily"


async def test_without_a_provider_the_reason_is_given(tmp_path):
    output = await search(tmp_path, SearchConfig())
    assert (output.status, text_of(output)) == ("error", UNAVAILABLE)


async def test_the_demo_is_asked_only_where_nothing_else_is_configured_and_is_named(services, tmp_path):
    output = await search(tmp_path, services.config("demo"))
    assert display_of(output)["provider"] == "demo"
    assert display_of(await search(tmp_path, services.config("demo", "brave")))["provider"] == "brave"


def test_availability_names_what_to_configure():
    assert availability(SearchConfig()) == UNAVAILABLE
    assert availability(SearchConfig(tavily_key="")) == UNAVAILABLE
    for config in (
        SearchConfig(tavily_key="k"),
        SearchConfig(brave_key="k"),
        SearchConfig(exa_key="k"),
        SearchConfig(serper_key="k"),
        SearchConfig(searxng_url="http://localhost:8888"),
        SearchConfig(keyless_consent=True),
        SearchConfig(demo_url="http://localhost:1"),
    ):
        assert availability(config) is None
    assert availability(SearchConfig(tavily_key="k", order=("brave",))) == UNAVAILABLE


def test_keyless_engines_need_consent_and_come_last():
    assert ORDER[-1] == "keyless"
    assert SearchConfig(tavily_key="k").configured == ("tavily",)
    assert SearchConfig(tavily_key="k", keyless_consent=True).configured == ("tavily", "keyless")


async def test_the_keyless_library_fails_as_a_value(tmp_path, monkeypatch):
    """The real library, with every way out closed: a proxy at which nobody listens."""
    with reserved_port() as port:
        monkeypatch.setenv("DDGS_PROXY", f"http://127.0.0.1:{port}")
        output = await search(tmp_path, SearchConfig(keyless_consent=True, timeout_s=2))
    assert output.status == "error"
    failure = only_failure(output)
    assert failure["kind"] in ("unreachable", "timeout")


def test_keys_do_not_show_when_a_configuration_is_printed():
    config = SearchConfig(tavily_key="s3cret", searxng_url="http://u:s3cret@x/", urls={"exa": "http://s3cret"})
    assert "s3cret" not in repr(config)


async def test_queries_are_tidied_and_bounded(services, tmp_path):
    await search(tmp_path, services.config("tavily"), "  two\n words ")
    assert services.asked[0][1]["query"] == "two words"
    call = Caller(tmp_path)
    tool = web_search_tool(services.config("tavily"))
    assert "empty" in await call.fails(tool, query=" \n")
    assert "longer than" in await call.fails(tool, query="x" * 401)


async def test_cancelling_a_search_stops_at_once(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        config = SearchConfig(searxng_url=f"http://127.0.0.1:{silent.getsockname()[1]}")
        task = asyncio.create_task(search(tmp_path, config))
        connection, _ = await asyncio.to_thread(silent.accept)
        with connection:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task


def test_the_tool_is_what_the_chip_switches(tmp_path):
    tool = web_search_tool(SearchConfig())
    assert (tool.provides, tool.permission, tool.network, tool.readonly) == (("web_search",), "network", True, True)
