"""Anthropic Messages: the declared tools (A20 to A29)."""

from __future__ import annotations

import re
from typing import Final

from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import JsonObject, content_blocks, objects

TABLE: Final = RuleTable()

NAME: Final = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


def is_custom(tool: JsonObject) -> bool:
    """Whether a tool is the client's own; the others are the provider's and have fixed names."""
    return tool.get("type") in (None, "custom")


@TABLE.rule("A20", "tools is a list of objects with names", "Tool use: defining tools")
def _tools_shape(facts: Facts) -> Violation | None:
    tools = facts.body.get("tools")
    if tools is None:
        return None
    if not isinstance(tools, list) or len(objects(tools)) != len(tools):
        return Violation("tools: Input should be a valid list")
    for index, tool in enumerate(objects(tools)):
        named = isinstance(tool.get("name"), str) or tool.get("type") == "mcp_toolset"
        if not named:
            return Violation(f"tools.{index}.custom.name: Field required")
    return None


@TABLE.rule("A21", "a tool's name has 1 to 64 of the characters a-z A-Z 0-9 _ -", "Tool use: defining tools")
def _tool_name(facts: Facts) -> Violation | None:
    for index, tool in enumerate(objects(facts.body.get("tools"))):
        if is_custom(tool) and not NAME.match(tool["name"]):
            return Violation(f"tools.{index}.custom.name: String should match pattern '{NAME.pattern}'")
    return None


@TABLE.rule("A22", "no two tools have the same name", "Tool use: tool names must be unique")
def _unique_names(facts: Facts) -> Violation | None:
    names = [tool["name"] for tool in objects(facts.body.get("tools")) if "name" in tool]
    if len(set(names)) != len(names):
        return Violation("tools: Tool names must be unique.")
    return None


@TABLE.rule("A23", "a custom tool has an input_schema of type object", "Tool use: defining tools")
def _input_schema(facts: Facts) -> Violation | None:
    for index, tool in enumerate(objects(facts.body.get("tools"))):
        if not is_custom(tool):
            continue
        schema = tool.get("input_schema")
        if not isinstance(schema, dict):
            return Violation(f"tools.{index}.custom.input_schema: Field required")
        if schema.get("type") != "object":
            return Violation(f"tools.{index}.custom.input_schema.type: Input should be 'object'")
    return None


@TABLE.rule("A24", "no input_schema has oneOf, allOf or anyOf at its top", "Tool use: input schema limits")
def _schema_union(facts: Facts) -> Violation | None:
    for index, tool in enumerate(objects(facts.body.get("tools"))):
        if is_custom(tool) and {"oneOf", "allOf", "anyOf"} & set(tool["input_schema"]):
            return Violation(
                f"tools.{index}.custom.input_schema: input_schema does not support oneOf, allOf, or "
                "anyOf at the top level"
            )
    return None


@TABLE.rule("A25", "at least one tool is not deferred", "Tool search: errors")
def _all_deferred(facts: Facts) -> Violation | None:
    tools = objects(facts.body.get("tools"))
    if tools and all(tool.get("defer_loading") is True for tool in tools):
        return Violation("All tools have defer_loading set. At least one tool must be non-deferred.")
    return None


@TABLE.rule("A26", "no deferred tool carries cache_control", "Tool search: prompt caching")
def _deferred_cache_control(facts: Facts) -> Violation | None:
    for tool in objects(facts.body.get("tools")):
        if tool.get("defer_loading") is True and tool.get("cache_control") is not None:
            return Violation(
                f"Tool '{tool.get('name')}' cannot have both defer_loading=true and cache_control "
                "set. Tools with defer_loading cannot use prompt caching."
            )
    return None


@TABLE.rule("A27", "a tool_reference in a tool result names a declared tool", "Tool search: custom search")
def _reference_unresolved(facts: Facts) -> Violation | None:
    names = {tool.get("name") for tool in objects(facts.body.get("tools"))}
    for message in objects(facts.body.get("messages")):
        for block in content_blocks(message):
            for inner in objects(block.get("content")):
                name = inner.get("tool_name")
                if inner.get("type") == "tool_reference" and not (isinstance(name, str) and name in names):
                    return Violation(f"Tool reference '{name}' has no corresponding tool definition")
    return None
