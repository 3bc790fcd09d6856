"""How hosts that speak Chat Completions differ, as data. An endpoint's configuration may override each field.

The defaults are what every server takes (llama.cpp, Ollama, vLLM, LM Studio, gateways).
"""

import ipaddress
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Quirks:
    """What an endpoint wants beyond the common ground."""

    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    developer_role: bool = False
    """The system prompt goes out as role `developer`; most chat templates know only `system`."""
    cache_key: bool = False
    """Takes `prompt_cache_key`, which routes the requests of one chat to the same cache."""
    stream_usage: bool = True
    """Takes `stream_options.include_usage`."""
    effort: bool = True
    """Takes `reasoning_effort`."""
    return_reasoning: bool = False
    """Wants `reasoning_content` in every answer that goes back, its own reasoning or nothing (DeepSeek, Kimi)."""
    call_id_chars: int | None = None
    """Longest call id that is taken; ids of other providers may be longer."""


_COMMON: Final = Quirks()
_BY_HOST: Final[dict[str, Quirks]] = {
    "api.openai.com": Quirks(
        max_tokens_field="max_completion_tokens", developer_role=True, cache_key=True, call_id_chars=40
    ),
    "api.deepseek.com": Quirks(return_reasoning=True),
    "api.moonshot.ai": Quirks(return_reasoning=True, effort=False),
    "api.moonshot.cn": Quirks(return_reasoning=True, effort=False),
    "api.x.ai": Quirks(effort=False),
    "api.mistral.ai": Quirks(effort=False, call_id_chars=9),
}

# Seconds for which a host keeps a prompt prefix, at least. Elsewhere an hour is assumed: taking a cold prefix for a
# warm one costs nothing, the reverse throws a warm one away.
_CACHE_TTL: Final[dict[str, float]] = {"api.anthropic.com": 300.0, "api.openai.com": 1800.0}
_OTHER_CACHE_TTL: Final = 3600.0


# Servers of Chat Completions reuse a prefix in blocks: OpenAI's older models in 128 tokens, others in fewer.
_CHAT_GRANULARITY: Final = 128


def host_of(base_url: str) -> str:
    """The host name in a URL, in lower case."""
    return urlsplit(base_url).hostname or ""


def is_loopback(base_url: str) -> bool:
    """Whether the endpoint is on this machine. No proxy leads there, whatever the environment says."""
    host = host_of(base_url)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def quirks_of(base_url: str) -> Quirks:
    """What is known of the host."""
    return _BY_HOST.get(host_of(base_url), _COMMON)


def cache_ttl_of(base_url: str, api: str) -> float:
    """How long a prompt prefix stays cached there, in seconds. The Messages API has five minutes wherever it runs."""
    if api == "anthropic":
        return _CACHE_TTL["api.anthropic.com"]
    return _CACHE_TTL.get(host_of(base_url), _OTHER_CACHE_TTL)


def cache_granularity_of(api: str) -> int:
    """In multiples of how many tokens a prefix is read, at most."""
    return 1 if api == "anthropic" else _CHAT_GRANULARITY
