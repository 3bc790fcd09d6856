"""OpenAI Responses: the request's head and its parameters (R1 to R14, R91)."""

from __future__ import annotations

from typing import Final

from openprogram.fakeapi.dialects.openai_faults import model_not_found
from openprogram.fakeapi.rules import openai_cache
from openprogram.fakeapi.rules import openai_head as head
from openprogram.fakeapi.rules import openai_words as words
from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import child

TABLE: Final = RuleTable()

LEAST_OUTPUT: Final = 16

_REFERENCE: Final = "Responses reference"
_CACHING: Final = "Prompt caching"
_FIELDS: Final = frozenset(
    [
        "background",
        "context_management",
        "conversation",
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "model",
        "moderation",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    ]
)
_INCLUDES: Final = (
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
)
_EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_SUMMARIES: Final = ("auto", "concise", "detailed")


@TABLE.rule("R1", head.KEY, head.KEY_SOURCE)
def _key(facts: Facts) -> Violation | None:
    return head.key(facts, "Missing bearer or basic authentication in header")


TABLE.rule("R91", head.BODY, head.BODY_SOURCE)(head.readable)


@TABLE.rule("R2", "model is a string", _REFERENCE)
def _model(facts: Facts) -> Violation | None:
    name = facts.body.get("model")
    if name is None:
        return words.missing("model")
    return None if isinstance(name, str) else words.wrong_type("model", "a string")


@TABLE.rule("R3", "the model exists", "API errors: model_not_found")
def _model_exists(facts: Facts) -> Violation | None:
    return model_not_found(facts.body["model"]) if facts.model is None else None


@TABLE.rule("R4", "no unknown parameter", f"{_REFERENCE}: unknown parameters are rejected")
def _unknown_field(facts: Facts) -> Violation | None:
    for name in facts.body:
        if name not in _FIELDS:
            return Violation(f"Unknown parameter: '{name}'.", param=name, code="unknown_parameter")
    return None


@TABLE.rule("R5", "max_output_tokens is at least 16 and within the model's maximum", _REFERENCE)
def _max_output(facts: Facts) -> Violation | None:
    value = facts.body.get("max_output_tokens")
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        return words.wrong_type("max_output_tokens", "an integer")
    if value < LEAST_OUTPUT:
        return words.too_small("max_output_tokens", LEAST_OUTPUT, value)
    if facts.model is not None and value > facts.model.max_output:
        return Violation(
            f"max_output_tokens is too large: {value}. This model supports at most {facts.model.max_output} "
            "output tokens.",
            param="max_output_tokens",
            code="invalid_value",
        )
    return None


@TABLE.rule("R6", "stream_options is an object and comes only with stream", _REFERENCE)
def _stream_options(facts: Facts) -> Violation | None:
    options = facts.body.get("stream_options")
    if options is None:
        return None
    if not isinstance(options, dict):
        return words.wrong_type("stream_options", "an object")
    if facts.body.get("stream") is not True:
        return Violation(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
        )
    return None


@TABLE.rule("R7", "an earlier response or conversation that is named exists (this server stores none)", _REFERENCE)
def _stored(facts: Facts) -> Violation | None:
    previous = facts.body.get("previous_response_id")
    if previous is not None:
        return Violation(
            f"Previous response with id '{previous}' not found.",
            param="previous_response_id",
            code="previous_response_not_found",
        )
    if facts.body.get("conversation") is not None:
        return Violation("Conversation not found.", 404, param="conversation")
    return None


@TABLE.rule("R8", "include is a list of what can be included", _REFERENCE)
def _include(facts: Facts) -> Violation | None:
    included = facts.body.get("include")
    if included is None:
        return None
    if not isinstance(included, list):
        return words.wrong_type("include", "an array of strings")
    for index, name in enumerate(included):
        if name not in _INCLUDES:
            return words.wrong_value(f"include[{index}]", name, _INCLUDES)
    return None


@TABLE.rule("R9", "reasoning, text and metadata are objects, instructions are text, switches true or false", _REFERENCE)
def _types(facts: Facts) -> Violation | None:
    for name in ("reasoning", "text", "metadata"):
        if not isinstance(facts.body.get(name), dict | None):
            return words.wrong_type(name, "an object")
    for name in ("instructions", "service_tier", "truncation"):
        if not isinstance(facts.body.get(name), str | None):
            return words.wrong_type(name, "a string")
    for name in ("parallel_tool_calls", "store", "stream"):
        if not isinstance(facts.body.get(name), bool | None):
            return words.wrong_type(name, "a boolean")
    return None


@TABLE.rule("R10", "reasoning has a known effort and summary", "Reasoning models")
def _reasoning(facts: Facts) -> Violation | None:
    reasoning = child(facts.body, "reasoning")
    for name, known in (("effort", _EFFORTS), ("summary", _SUMMARIES)):
        value = reasoning.get(name)
        if value is not None and value not in known:
            return words.wrong_value(f"reasoning.{name}", value, known)
    return None


@TABLE.rule("R11", "prompt_cache_key has at most 64 characters", _CACHING)
def _cache_key(facts: Facts) -> Violation | None:
    return openai_cache.key(facts)


@TABLE.rule("R12", "prompt_cache_options come with a model that knows them (GPT-5.6 and later)", _CACHING)
def _cache_options_known(facts: Facts) -> Violation | None:
    given = facts.body.get("prompt_cache_options") is not None
    return words.unsupported("prompt_cache_options") if given and not openai_cache.known(facts, "responses") else None


@TABLE.rule("R13", "prompt_cache_options have a known mode and lifetime", _CACHING)
def _cache_options(facts: Facts) -> Violation | None:
    return openai_cache.options(facts)


@TABLE.rule("R14", "prompt_cache_retention is in_memory or 24h, and comes without prompt_cache_options", _CACHING)
def _retention(facts: Facts) -> Violation | None:
    return openai_cache.retention(facts)
