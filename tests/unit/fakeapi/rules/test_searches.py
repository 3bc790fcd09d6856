"""Searches that the provider makes itself: the rules by their numbers, and what they take (cache.md C21)."""

from typing import Any

import orjson
import pytest

from openprogram.fakeapi.exchange import Accepted
from openprogram.fakeapi.web_search import offered, sealed
from tests.support import anthropic_rules
from tests.support.anthropic_rules import EPHEMERAL, USER, Case, assistant, body, judge, text, tool, user

INLINE = {**anthropic_rules.HEADERS, "anthropic-beta": "inline-tools-2026-09-15"}
KIND: dict[str, Any] = {"type": "web_search_20250305", "name": "web_search"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
URL = "https://example.org/"
PAGE = {"type": "web_search_result", "url": URL, "title": "t", "encrypted_content": sealed(URL)}
FOUND: dict[str, Any] = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [PAGE]}
CITED = {"type": "web_search_result_location", "url": URL, "title": "t", "encrypted_index": sealed(URL)}
MORE = user(text("more"))
REMOVAL = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "read"}}
FORGED = {**FOUND, "content": [{**PAGE, "encrypted_content": "x"}]}

CASES = [
    Case("A70", body(tools=[{**KIND, "type": "web_search_20240101"}]), "does not match any of the expected tags"),
    Case("A70", body(tools=[{**KIND, "name": "search"}]), "name: Input should be 'web_search'"),
    Case("A71", body(tools=[{**KIND, "allowed_domains": ["a"], "blocked_domains": ["b"]}]), "Only one of allowed"),
    Case("A72", body(USER, assistant(text("a"), SEARCH), MORE), "srvtoolu_1 was found without a corresponding"),
    Case("A73", body(USER, assistant(FOUND, text("a")), MORE), "unexpected `tool_use_id` found in"),
    Case("A73", body(USER, assistant(FOUND, SEARCH, FOUND), MORE), "messages.1.content.0: unexpected"),
    Case("A74", body(USER, assistant(SEARCH, FORGED), MORE), "content.0: Invalid `encrypted_content`"),
    Case(
        "A74",
        body(USER, assistant(SEARCH, FOUND, text("a", citations=[{**CITED, "encrypted_index": "x"}])), MORE),
        "citations.0: Invalid `encrypted_index`",
    ),
]


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.number}-{n}") for n, case in enumerate(CASES)])
def test_what_the_real_api_refuses_is_refused_by_its_rule(case: Case) -> None:
    anthropic_rules.check(case)


def test_tools_change_only_once_a_paused_answer_went_on() -> None:
    change = {"role": "system", "content": [REMOVAL]}
    request = body(USER, assistant(text("a"), SEARCH), change, tools=[tool(), KIND])
    verdict = judge(orjson.dumps(request), INLINE)
    assert not isinstance(verdict, Accepted)
    assert verdict.violation.message.startswith("messages.2: a 'system' message must immediately follow")


ACCEPTED = {
    "a search with its result": body(USER, assistant(SEARCH, FOUND, text("a", citations=[CITED])), MORE, tools=[KIND]),
    "a history of searches without the tool": body(USER, assistant(SEARCH, FOUND, text("a")), MORE),
    "an answer that paused": body(USER, assistant(text("a"), SEARCH), tools=[KIND], model="claude-opus-5-5"),
    "the newest kind": body(tools=[{**KIND, "type": "web_search_20260318", "max_uses": 3}]),
    "a marked search tool": body(tools=[{**KIND, "cache_control": EPHEMERAL}]),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_the_real_api_takes_is_taken(name: str) -> None:
    verdict = judge(orjson.dumps(ACCEPTED[name]), anthropic_rules.HEADERS)
    assert isinstance(verdict, Accepted), verdict


@pytest.mark.parametrize(
    ("choice", "searches"),
    [
        (None, True),
        ("none", False),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "read"}]}, False),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]}, True),
    ],
)
def test_a_request_lets_the_provider_search_only_by_what_it_declares_and_allows(choice: Any, searches: bool) -> None:
    request = {"tools": [{"type": "web_search"}], "input": "x", **({"tool_choice": choice} if choice else {})}
    assert offered("responses", request) is searches
    assert not offered("responses", {**request, "tools": []})
    assert offered("anthropic", {"tools": [KIND], "messages": []})
    assert not offered("anthropic", {"tools": [KIND], "messages": [], "tool_choice": {"type": "none"}})
    assert not offered("chat", {"tools": [KIND], "messages": []})
