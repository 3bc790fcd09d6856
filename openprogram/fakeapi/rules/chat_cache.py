"""OpenAI Chat Completions: the parameters of the prompt cache (O14 to O18)."""

from __future__ import annotations

from typing import Final

from openprogram.fakeapi.rules import openai_cache
from openprogram.fakeapi.rules import openai_words as words
from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import objects

TABLE: Final = RuleTable()

_CACHING: Final = "Prompt caching"


@TABLE.rule("O14", "prompt_cache_key has at most 64 characters", _CACHING)
def _key(facts: Facts) -> Violation | None:
    return openai_cache.key(facts)


@TABLE.rule("O15", "prompt_cache_options come with a model that knows them (GPT-5.6 and later)", _CACHING)
def _known(facts: Facts) -> Violation | None:
    given = facts.body.get("prompt_cache_options") is not None
    return words.unsupported("prompt_cache_options") if given and not openai_cache.known(facts, "chat") else None


@TABLE.rule("O16", "prompt_cache_options have a known mode and lifetime", _CACHING)
def _options(facts: Facts) -> Violation | None:
    return openai_cache.options(facts)


@TABLE.rule("O17", "prompt_cache_retention is in_memory or 24h, and comes without prompt_cache_options", _CACHING)
def _retention(facts: Facts) -> Violation | None:
    return openai_cache.retention(facts)


@TABLE.rule("O18", "a prompt_cache_breakpoint is explicit, and stands on content that the client sends", _CACHING)
def _breakpoints(facts: Facts) -> Violation | None:
    for index, message in enumerate(objects(facts.body.get("messages"))):
        for position, part in enumerate(objects(message.get("content"))):
            where = f"messages[{index}].content[{position}].prompt_cache_breakpoint"
            if "prompt_cache_breakpoint" not in part:
                continue
            if message.get("role") == "assistant" or not openai_cache.known(facts, "chat"):
                return Violation(f"Unknown parameter: '{where}'.", param=where, code="unknown_parameter")
            broken = openai_cache.breakpoint_at(where, part["prompt_cache_breakpoint"])
            if broken is not None:
                return broken
    return None
