"""What endpoints can do about tools that change in mid-chat, and what their caches need, as data (spec cache.md 1, C9).

A capability belongs to base URL, API and model together. What stands in no row is taken for the least: an endpoint that
knows a declared array and nothing else. A configuration may override the strategy; an endpoint that refuses what it
should take is downgraded at run time (`openprogram.sessions.refusals`).

Sources: the vendors' documents as of September 2026, and the catalogue of the npm package
`@earendil-works/pi-ai` 1.6.0.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from openprogram.core.prompt import Api
from openprogram.core.surface import Capability, Strategy
from openprogram.providers.hosts import cache_ttl_of, host_of


@dataclass(frozen=True, slots=True)
class Row:
    """What holds for the models whose names match at the hosts whose names match, whole names both."""

    api: Api
    host: str
    model: str
    strategy: Strategy = "append"
    max_tools: int = 128
    allowed_tools: bool = False
    diagnosis: bool = False


@dataclass(frozen=True, slots=True)
class Needs:
    """What the cache of a model needs, wherever it runs: a shortest prefix, and whether it binds its thinking."""

    model: str
    min_cache_tokens: int = 0
    binds_thinking: bool = False


_CHANGING: Final = r"claude-(opus-4-8|opus-5(-5)?|fable-5(-[12])?|mythos-5(-1)?|sonnet-5-5|haiku-5-5)"
_SEARCHING: Final = r"claude-(opus|sonnet|haiku)-(4-[5-9]|5)"
_CLOUDS: Final = r".+\.amazonaws\.com|(.+-)?aiplatform\.googleapis\.com"
_ADDING: Final = r"gpt-(5\.6|6(\.\d+)?)(-\w+)*"
_DATED: Final = r"([-@]\d{8}(-v\d+(:\d+)?)?|-\d{4}-\d{2}-\d{2}|-latest)?"
_CLOUD_NAME: Final = r"((\w+\.)?anthropic\.)?"
_MOST: Final = 10_000

ROWS: Final[tuple[Row, ...]] = (
    Row("anthropic", r"api\.anthropic\.com", _CHANGING, "inline_changes", _MOST, diagnosis=True),
    Row("anthropic", r"api\.anthropic\.com", _SEARCHING, "tool_reference", _MOST, diagnosis=True),
    Row("anthropic", _CLOUDS, _CLOUD_NAME + _CHANGING, "reference_changes", _MOST),
    Row("openai-responses", r"api\.openai\.com", _ADDING, "additional_tools", allowed_tools=True, diagnosis=True),
    Row("openai-responses", r"api\.openai\.com", r"gpt-5\.[45](-\w+)*", "client_tool_search", allowed_tools=True),
    Row("openai-responses", r"api\.openai\.com", r"gpt-[56].*", allowed_tools=True),
    Row("openai-chat", r"api\.openai\.com", r"gpt-[56].*", allowed_tools=True),
)
"""The first that fits holds."""

NEEDS: Final[tuple[Needs, ...]] = (
    Needs(r"claude-(opus-5-5|fable-5-1|mythos-5-1)", 512, binds_thinking=True),
    Needs(r"claude-(sonnet-5-5|haiku-5-5|fable-5-2)", binds_thinking=True),
    Needs(r"claude-(opus-5|fable-5|mythos-5)", 512),
    Needs(r"claude-(opus-4-8|sonnet-(5|4-[56]))", 1024),
    Needs(r"claude-opus-4-7", 2048),
    Needs(r"claude-(opus-4-[56]|haiku-4-5)", 4096),
    Needs(r"(gpt-|o\d).*", 1024),
)
"""The first that fits holds; 0 is not known."""

SPOKEN: Final[Mapping[Api, frozenset[Strategy]]] = {
    "anthropic": frozenset(
        ("inline_changes", "reference_changes", "tool_reference", "append", "bridge", "frozen"),
    ),
    "openai-responses": frozenset(("additional_tools", "client_tool_search", "append", "bridge", "frozen")),
    "openai-chat": frozenset(("append", "bridge", "frozen")),
}
"""The strategies that each wire format can carry."""


HOSTED_SEARCH: Final[Mapping[Api, str]] = {"anthropic": "web_search_20250305", "openai-responses": "web_search"}
"""The kind of tool by which an API searches the web itself: the one that all its models take."""


def capability_of(
    base_url: str,
    api: Api,
    model: str,
    *,
    strategy: Strategy | None = None,
    cache_ttl_s: float | None = None,
    diagnosis: bool | None = None,
    hosted_search: bool = False,
    supports_thinking: bool = False,
) -> Capability:
    """What is known of a model at an endpoint; `strategy`, `cache_ttl_s` and `diagnosis` are what a configuration says
    instead, `hosted_search` what it asks for."""
    host = host_of(base_url)
    row = next((row for row in ROWS if row.api == api and _fits(row.host, host) and _is(row.model, model)), None)
    needs = next((needs for needs in NEEDS if _is(_CLOUD_NAME + needs.model, model)), Needs(""))
    known = row or Row(api, host, model)
    return Capability(
        strategy=strategy or known.strategy,
        cache_ttl_s=cache_ttl_s or cache_ttl_of(base_url, api),
        supports_thinking=supports_thinking,
        max_tools=known.max_tools,
        min_cache_tokens=needs.min_cache_tokens,
        binds_thinking=needs.binds_thinking,
        allowed_tools=known.allowed_tools,
        hosted_search=HOSTED_SEARCH.get(api) if hosted_search else None,
        diagnosis=known.diagnosis if diagnosis is None else diagnosis,
        endpoint=f"{api} {base_url}",
    )


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(pattern, name) is not None


def _is(pattern: str, model: str) -> bool:
    """Whether this is one of those models, or a dated snapshot of one."""
    return _fits(f"(?:{pattern}){_DATED}", model)
