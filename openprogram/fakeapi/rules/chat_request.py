"""OpenAI Chat Completions: the request's head, its parameters and its tools (O1 to O29, O91)."""

from __future__ import annotations

import re
from typing import Final

from openprogram.fakeapi.rules import openai_head as head
from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import JsonObject, child, objects

TABLE: Final = RuleTable()

_NAME: Final = re.compile(r"^[a-zA-Z0-9_-]+$")
_MAX_NAME: Final = 64
_MAX_TOOLS: Final = 128
_FIELDS: Final = frozenset(
    [
        "messages",
        "model",
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "metadata",
        "modalities",
        "moderation",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
    ]
)


@TABLE.rule("O1", f"{head.KEY} (model demo-local takes none)", head.KEY_SOURCE)
def _key(facts: Facts) -> Violation | None:
    if facts.body.get("model") == "demo-local":
        return None
    return head.key(
        facts,
        "You didn't provide an API key. You need to provide your API key in an Authorization header "
        "using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
    )


TABLE.rule("O91", head.BODY, head.BODY_SOURCE)(head.readable)


@TABLE.rule("O2", "model is a string", "Chat Completions reference")
def _model(facts: Facts) -> Violation | None:
    if isinstance(facts.body.get("model"), str) and facts.body["model"]:
        return None
    return Violation("you must provide a model parameter")


@TABLE.rule("O3", "the model exists", "API errors: model_not_found")
def _model_exists(facts: Facts) -> Violation | None:
    if facts.model is not None:
        return None
    return Violation(
        f"The model `{facts.body['model']}` does not exist or you do not have access to it.",
        404,
        code="model_not_found",
    )


@TABLE.rule("O4", "no unknown parameter", "Chat Completions reference: unrecognized arguments are rejected")
def _unknown_field(facts: Facts) -> Violation | None:
    unknown = [name for name in facts.body if name not in _FIELDS]
    return Violation(f"Unrecognized request argument supplied: {unknown[0]}") if unknown else None


@TABLE.rule(
    "O5", "max_tokens and max_completion_tokens are positive, and only one is given", "Chat Completions reference"
)
def _max_tokens(facts: Facts) -> Violation | None:
    both = [name for name in ("max_tokens", "max_completion_tokens") if facts.body.get(name) is not None]
    if len(both) == 2:
        return Violation("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
    for name in both:
        value = facts.body[name]
        if not isinstance(value, int) or isinstance(value, bool):
            return Violation(f"Invalid type for '{name}': expected an integer.", param=name, code="invalid_type")
        if value < 1:
            return Violation(
                f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {value} instead.",
                param=name,
                code="integer_below_min_value",
            )
        if facts.model is not None and value > facts.model.max_output:
            return Violation(
                f"max_tokens is too large: {value}. This model supports at most "
                f"{facts.model.max_output} completion tokens, whereas you provided {value}.",
                param=name,
                code="invalid_value",
            )
    return None


@TABLE.rule("O6", "stream_options is an object and comes only with stream", "Chat Completions reference")
def _stream_options(facts: Facts) -> Violation | None:
    options = facts.body.get("stream_options")
    if options is None or (facts.body.get("stream") is True and isinstance(options, dict)):
        return None
    if not isinstance(options, dict):
        return Violation("Invalid type for 'stream_options': expected an object.", param="stream_options")
    return Violation(
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        param="stream_options",
    )


@TABLE.rule("O7", "tools, where given, is a list of 1 to 128 functions", "Chat Completions reference")
def _tools_shape(facts: Facts) -> Violation | None:
    tools = facts.body.get("tools")
    if tools is None:
        return None
    if not isinstance(tools, list) or len(objects(tools)) != len(tools):
        return Violation("Invalid type for 'tools': expected an array of objects.", param="tools", code="invalid_type")
    if not tools:
        return Violation(
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param="tools",
            code="empty_array",
        )
    if len(tools) > _MAX_TOOLS:
        return Violation(
            f"Invalid 'tools': array too long. Expected an array with maximum length {_MAX_TOOLS}, but "
            f"got an array with length {len(tools)} instead.",
            param="tools",
            code="array_above_max_length",
        )
    for index, tool in enumerate(objects(tools)):
        if not isinstance(child(tool, "function").get("name"), str):
            return Violation(
                f"Missing required parameter: 'tools[{index}].function.name'.",
                param=f"tools[{index}].function.name",
                code="missing_required_parameter",
            )
    return None


def _functions(body: JsonObject) -> list[JsonObject]:
    return [tool["function"] for tool in objects(body.get("tools"))]


@TABLE.rule("O8", "a function's name has only the characters a-z A-Z 0-9 _ -", "Chat Completions reference")
def _name_pattern(facts: Facts) -> Violation | None:
    for index, function in enumerate(_functions(facts.body)):
        if not _NAME.match(function["name"]):
            where = f"tools[{index}].function.name"
            return Violation(
                f"Invalid '{where}': string does not match pattern. Expected a string that matches the "
                f"pattern '{_NAME.pattern}'.",
                param=where,
                code="invalid_value",
            )
    return None


@TABLE.rule("O9", "a function's name has at most 64 characters", "Chat Completions reference")
def _name_length(facts: Facts) -> Violation | None:
    for index, function in enumerate(_functions(facts.body)):
        if len(function["name"]) > _MAX_NAME:
            where = f"tools[{index}].function.name"
            return Violation(
                f"Invalid '{where}': string too long. Expected a string with maximum length {_MAX_NAME}, "
                f"but got a string with length {len(function['name'])} instead.",
                param=where,
                code="string_above_max_length",
            )
    return None


@TABLE.rule("O10", "no two functions have the same name", "DeepSeek API: tool names must be unique")
def _unique_names(facts: Facts) -> Violation | None:
    names = [function["name"] for function in _functions(facts.body)]
    if len(set(names)) != len(names):
        return Violation("Tool names must be unique.", param="tools")
    return None


@TABLE.rule("O11", "a function's parameters, where given, are a schema of type object", "Function calling")
def _parameters(facts: Facts) -> Violation | None:
    for index, function in enumerate(_functions(facts.body)):
        schema = function.get("parameters")
        if schema is None:
            continue
        kind = schema.get("type") if isinstance(schema, dict) else None
        if kind != "object":
            return Violation(
                f"Invalid schema for function '{function['name']}': schema must be a JSON Schema of "
                f"'type: \"object\"', got 'type: \"{kind}\"'.",
                param=f"tools[{index}].function.parameters",
                code="invalid_function_parameters",
            )
    return None


@TABLE.rule("O12", "tool_choice and parallel_tool_calls come only with tools", "Chat Completions reference")
def _needs_tools(facts: Facts) -> Violation | None:
    for name in ("tool_choice", "parallel_tool_calls"):
        if facts.body.get(name) is not None and not facts.body.get("tools"):
            return Violation(
                f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.",
                param=name,
            )
    return None


@TABLE.rule("O13", "tool_choice is none, auto, required, a declared function or allowed_tools", "Function calling")
def _tool_choice(facts: Facts) -> Violation | None:
    choice = facts.body.get("tool_choice")
    if choice in (None, "none", "auto", "required"):
        return None
    names = [function["name"] for function in _functions(facts.body)]
    wanted: list[object] = []
    if isinstance(choice, dict) and choice.get("type") == "function":
        wanted = [child(choice, "function").get("name")]
    elif isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        allowed = objects(child(choice, "allowed_tools").get("tools"))
        wanted = [child(tool, "function").get("name") for tool in allowed]
    if not wanted:
        return Violation(
            f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'.",
            param="tool_choice",
            code="invalid_value",
        )
    for name in wanted:
        if name not in names:
            return Violation(f"Tool choice '{name}' not found in 'tools' parameter", param="tool_choice")
    return None
