"""OpenAI's parameters for the prompt cache, judged alike on both of its wire formats."""

from __future__ import annotations

from typing import Any, Final

from openprogram.fakeapi.models import Api
from openprogram.fakeapi.rules import openai_words as words
from openprogram.fakeapi.rules.base import Facts, Violation
from openprogram.fakeapi.shapes import child

LONGEST_KEY: Final = 64

_MODES: Final = ("implicit", "explicit")
_LIFETIMES: Final = ("30m", "12h")
_RETENTIONS: Final = ("in_memory", "24h")


def known(facts: Facts, api: Api) -> bool:
    """Whether the model caches at breakpoints, so that their parameters may be given."""
    return facts.model is None or api in facts.model.writes_cache


def key(facts: Facts) -> Violation | None:
    """`prompt_cache_key` is a string of at most 64 characters."""
    value = facts.body.get("prompt_cache_key")
    if not isinstance(value, str | None):
        return words.wrong_type("prompt_cache_key", "a string")
    if value is not None and len(value) > LONGEST_KEY:
        return words.too_long("prompt_cache_key", LONGEST_KEY, len(value))
    return None


def options(facts: Facts) -> Violation | None:
    """`prompt_cache_options` have a known mode and lifetime."""
    if not isinstance(facts.body.get("prompt_cache_options"), dict | None):
        return words.wrong_type("prompt_cache_options", "an object")
    given = child(facts.body, "prompt_cache_options")
    for name, supported in (("mode", _MODES), ("ttl", _LIFETIMES)):
        value = given.get(name)
        if value is not None and value not in supported:
            return words.wrong_value(f"prompt_cache_options.{name}", value, supported)
    if not isinstance(given.get("comparison_response_id"), str | None):
        return words.wrong_type("prompt_cache_options.comparison_response_id", "a string")
    return None


def retention(facts: Facts) -> Violation | None:
    """`prompt_cache_retention` has a known value, and comes without `prompt_cache_options`."""
    value = facts.body.get("prompt_cache_retention")
    if value is None:
        return None
    if value not in _RETENTIONS:
        return words.wrong_value("prompt_cache_retention", value, _RETENTIONS)
    if facts.body.get("prompt_cache_options") is not None:
        return Violation(
            "'prompt_cache_retention' and 'prompt_cache_options' cannot be used together.",
            param="prompt_cache_retention",
        )
    return None


def breakpoint_at(where: str, mark: Any) -> Violation | None:
    """A breakpoint is explicit, and has a known lifetime or the request's."""
    if not isinstance(mark, dict) or mark.get("mode") != "explicit":
        return words.wrong_value(f"{where}.mode", mark, ("explicit",))
    if mark.get("ttl") not in (None, *_LIFETIMES):
        return words.wrong_value(f"{where}.ttl", mark["ttl"], _LIFETIMES)
    return None
