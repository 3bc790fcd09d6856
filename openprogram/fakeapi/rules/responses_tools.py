"""OpenAI Responses: the tools, declared at the top or brought by an item (R20 to R29)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from openprogram.fakeapi.response_tools import any_deferred, functions, input_items, search_mode
from openprogram.fakeapi.rules import openai_words as words
from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import JsonObject, objects

TABLE: Final = RuleTable()

MOST_TOOLS: Final = 128
LONGEST_NAME: Final = 64

_CALLING: Final = "Function calling"
_SEARCH: Final = "Tool search"
_NAME: Final = re.compile(r"^[a-zA-Z0-9_-]+$")
_NAMED: Final = ("function", "custom", "namespace")
_TYPES: Final = (
    *_NAMED,
    "tool_search",
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
    "file_search",
    "computer",
    "computer_use_preview",
    "mcp",
    "code_interpreter",
    "programmatic_tool_calling",
    "image_generation",
    "local_shell",
    "shell",
    "apply_patch",
)


def _lists(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Every list of tools in the request, with its place."""
    if facts.body.get("tools") is not None:
        yield "tools", facts.body["tools"]
    for index, item in enumerate(input_items(facts.body)):
        if item.get("type") in ("additional_tools", "tool_search_output"):
            yield f"input[{index}].tools", item.get("tools")


def _tools(facts: Facts) -> Iterator[tuple[str, JsonObject]]:
    """Every tool of the request, those in namespaces included, with its place."""
    for where, tools in _lists(facts):
        for index, tool in enumerate(objects(tools)):
            yield f"{where}[{index}]", tool
            for position, inner in enumerate(objects(tool.get("tools"))):
                yield f"{where}[{index}].tools[{position}]", inner


@TABLE.rule("R20", "tools is a list of objects of known types, with names where they need them", _CALLING)
def _shape(facts: Facts) -> Violation | None:
    for where, tools in _lists(facts):
        if not isinstance(tools, list) or len(objects(tools)) != len(tools):
            return words.wrong_type(where, "an array of objects")
    for where, tool in _tools(facts):
        kind = tool.get("type")
        if kind not in _TYPES:
            return words.wrong_value(f"{where}.type", kind, _TYPES)
        if kind in _NAMED and not isinstance(tool.get("name"), str):
            return words.missing(f"{where}.name")
        if kind == "namespace" and not objects(tool.get("tools")):
            return words.missing(f"{where}.tools")
    return None


@TABLE.rule("R21", "there are at most 128 tools at the top", _CALLING)
def _number(facts: Facts) -> Violation | None:
    found = len(objects(facts.body.get("tools")))
    if found <= MOST_TOOLS:
        return None
    return Violation(
        f"Invalid 'tools': array too long. Expected an array with maximum length {MOST_TOOLS}, but got an array with "
        f"length {found} instead.",
        param="tools",
        code="array_above_max_length",
    )


@TABLE.rule("R22", "a name has 1 to 64 of the characters a-z A-Z 0-9 _ -", _CALLING)
def _names(facts: Facts) -> Violation | None:
    for where, tool in _tools(facts):
        name = tool.get("name") if tool["type"] in _NAMED else None
        if name is None:
            continue
        if not _NAME.match(name):
            return Violation(
                f"Invalid '{where}.name': string does not match pattern. Expected a string that matches the pattern "
                f"'{_NAME.pattern}'.",
                param=f"{where}.name",
                code="invalid_value",
            )
        if len(name) > LONGEST_NAME:
            return words.too_long(f"{where}.name", LONGEST_NAME, len(name))
    return None


@TABLE.rule("R23", "no two tools of one list have the same name", _CALLING)
def _unique(facts: Facts) -> Violation | None:
    for where, tools in _lists(facts):
        names = [tool["name"] for tool in objects(tools) if tool.get("type") in _NAMED]
        if len(set(names)) != len(names):
            return Violation("Tool names must be unique.", param=where)
    return None


@TABLE.rule("R24", "a function's parameters, where given, are a schema of type object", _CALLING)
def _parameters(facts: Facts) -> Violation | None:
    for where, tool in _tools(facts):
        schema = tool.get("parameters")
        if tool["type"] != "function" or schema is None:
            continue
        kind = schema.get("type") if isinstance(schema, dict) else None
        if kind != "object":
            return Violation(
                f"Invalid schema for function '{tool['name']}': schema must be a JSON Schema of "
                f"'type: \"object\"', got 'type: \"{kind}\"'.",
                param=f"{where}.parameters",
                code="invalid_function_parameters",
            )
    return None


@TABLE.rule("R25", "tools are searched and deferred with models that know it (GPT-5.4 and later)", _SEARCH)
def _search_known(facts: Facts) -> Violation | None:
    if facts.model is None or facts.model.tool_search:
        return None
    tools = facts.body.get("tools")
    if search_mode(tools) != "none" or any_deferred(tools):
        return Violation(f"Tool 'tool_search' is not supported with {facts.model.id}.", param="tools")
    return None


@TABLE.rule("R26", "deferred tools come with a tool_search", _SEARCH)
def _deferred_alone(facts: Facts) -> Violation | None:
    tools = facts.body.get("tools")
    if any_deferred(tools) and search_mode(tools) == "none":
        return Violation(
            "Invalid Value: 'tools.defer_loading'. Deferred tools require tools.tool_search.", param="tools"
        )
    return None


@TABLE.rule("R27", "a tool_search that the provider runs has a deferred tool to find", _SEARCH)
def _nothing_deferred(facts: Facts) -> Violation | None:
    tools = facts.body.get("tools")
    if search_mode(tools) == "server" and not any_deferred(tools):
        return Violation(
            "Invalid Value: 'tools.tool_search'. tools.tool_search requires at least one deferred tool.", param="tools"
        )
    return None


@TABLE.rule("R28", "tool_choice has a known form and names tools that the request has", _CALLING)
def _tool_choice(facts: Facts) -> Violation | None:
    choice = facts.body.get("tool_choice")
    if choice in (None, "none", "auto", "required"):
        return None
    kind = choice.get("type") if isinstance(choice, dict) else choice
    if not isinstance(choice, dict) or kind not in (*_TYPES, "allowed_tools"):
        return words.wrong_value("tool_choice", kind, ("none", "auto", "required"))
    wanted = [choice]
    if kind == "allowed_tools":
        wanted = objects(choice.get("tools"))
        if choice.get("mode") not in ("auto", "required"):
            return words.wrong_value("tool_choice.mode", choice.get("mode"), ("auto", "required"))
        if not wanted:
            return words.missing("tool_choice.tools")
    present = {(tool["type"], _name_of(tool)) for _, tool in _tools(facts)}
    for tool in wanted:
        if (str(tool.get("type")), _name_of(tool)) not in present:
            return Violation(
                f"Tool choice '{_name_of(tool) or tool.get('type')}' not found in 'tools' parameter.",
                param="tool_choice",
            )
    return None


def _name_of(tool: JsonObject) -> str | None:
    """The name that tells tools of one type apart, where they have one."""
    return str(tool.get("name")) if tool.get("type") in _NAMED else None


@TABLE.rule("R29", "additional tools do not redefine one that is declared at the top", "Additional tools")
def _redefined(facts: Facts) -> Violation | None:
    declared = {(function.namespace, function.name) for function in functions(facts.body.get("tools"))}
    for index, item in enumerate(input_items(facts.body)):
        if item.get("type") != "additional_tools":
            continue
        for function in functions(item.get("tools")):
            if (function.namespace, function.name) in declared:
                return Violation(
                    f"Tool '{function.name}' is already defined in 'tools'.", param=f"input[{index}].tools"
                )
    return None
