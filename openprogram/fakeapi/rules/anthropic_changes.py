"""Anthropic Messages: tools that change in mid-conversation (A60 to A69)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from openprogram.fakeapi.rules import anthropic_tools
from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import JsonObject, compact, objects, walk_messages
from openprogram.fakeapi.tool_changes import (
    BY_REFERENCE,
    BY_VALUE,
    CHANGES,
    MCP_BY_VALUE,
    Change,
    betas,
    changes,
    declared,
    is_deferred,
)

TABLE: Final = RuleTable()

CLEAR_AT: Final = "mid-conversation-system-clear-at-2026-08-21"
MOST_TOOLS: Final = 10_000
MOST_BYTES: Final = 4 * 1024 * 1024

_REFERENCES: Final = {
    "tool_reference": ("name",),
    "mcp_tool_reference": ("server_name", "name"),
    "mcp_toolset_reference": ("server_name",),
}
_OF_ONE_TOOL: Final = ("A20", "A21", "A23", "A24", "A26")
_SOURCE: Final = "Mid-conversation tool changes"


@TABLE.rule("A60", "tool_addition and tool_removal stand in system messages", _SOURCE)
def _only_in_system(facts: Facts) -> Violation | None:
    for index, message, position, block in walk_messages(facts.body):
        if block.get("type") in CHANGES and message["role"] != "system":
            return Violation(
                f"messages.{index}.content.{position}: `{block['type']}` blocks can only be in system messages"
            )
    return None


@TABLE.rule("A61", "tool changes are asked for by a beta header; definitions by value by one of their own", _SOURCE)
def _beta(facts: Facts) -> Violation | None:
    asked = betas(facts.headers)
    for change in changes(facts.body):
        if not asked & {BY_REFERENCE, BY_VALUE}:
            return _unexpected(change.where, str(change.block["type"]), ("text",))
        kind = str(change.target.get("type"))
        if kind == "tool_definition" and change.adds and BY_VALUE not in asked:
            return _unexpected(f"{change.where}.tool_addition.tool", kind, tuple(_REFERENCES))
        toolset = change.definition is not None and change.definition.get("type") == "mcp_toolset"
        if toolset and MCP_BY_VALUE not in asked:
            return Violation(
                f"{change.where}.tool_addition.tool.tool_definition.definition: defining an `mcp_toolset` in "
                f"`messages` requires the `{MCP_BY_VALUE}` beta"
            )
    return None


def _unexpected(where: str, kind: str, tags: tuple[str, ...]) -> Violation:
    expected = ", ".join(f"'{tag}'" for tag in tags)
    return Violation(
        f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {expected}"
    )


@TABLE.rule("A62", "a change names its tool by a reference; an addition also by a definition", _SOURCE)
def _target(facts: Facts) -> Violation | None:
    for change in changes(facts.body):
        where = f"{change.where}.{change.block['type']}.tool"
        if not isinstance(change.block.get("tool"), dict):
            return Violation(f"{where}: Field required")
        kind = str(change.target.get("type"))
        allowed = (*_REFERENCES, "tool_definition") if change.adds else tuple(_REFERENCES)
        if kind not in allowed:
            return _unexpected(where, kind, allowed)
        if kind == "tool_definition" and not isinstance(change.target.get("definition"), dict):
            return Violation(f"{where}.{kind}.definition: Field required")
        for name in _REFERENCES.get(kind, ()):
            if not isinstance(change.target.get(name), str):
                return Violation(f"{where}.{kind}.{name}: Field required")
    return None


def _definitions(facts: Facts) -> Iterator[tuple[Change, JsonObject]]:
    for change in changes(facts.body):
        if change.definition is not None:
            yield change, change.definition


@TABLE.rule("A63", "a definition given by value is one that tools would take", _SOURCE)
def _definition(facts: Facts) -> Violation | None:
    for change, definition in _definitions(facts):
        where = f"{change.where}.tool_addition.tool.tool_definition.definition"
        if str(definition.get("type", "")).startswith("computer_"):
            return Violation(f"{where}: computer use tools cannot be defined in `messages`")
        alone = replace(facts, body={"tools": [definition]})
        for rule in anthropic_tools.TABLE:
            broken = rule.check(alone) if rule.number in _OF_ONE_TOOL else None
            if broken is not None:
                return replace(broken, message=broken.message.replace("tools.0", where))
    return None


@TABLE.rule("A64", "a reference names a tool that is declared, or defined earlier in the messages", _SOURCE)
def _resolved(facts: Facts) -> Violation | None:
    known = set(declared(facts.body))
    for change in changes(facts.body):
        if change.definition is not None:
            known.add(change.key)
        elif change.key not in known:
            return Violation(
                f"{change.where}: Tool reference '{change.key}' has no corresponding tool definition",
                code="tool_reference_unresolved",
            )
    return None


@TABLE.rule("A65", "a definition that replaces one of the same name is of the same kind", _SOURCE)
def _same_kind(facts: Facts) -> Violation | None:
    kinds = {name: _kind(tool) for name, tool in declared(facts.body).items()}
    for change, definition in _definitions(facts):
        kind = _kind(definition)
        if kinds.setdefault(change.key, kind) != kind:
            return Violation(
                f"{change.where}: Tool '{change.key}' is already defined as a tool of another type",
                code="tool_name_conflict",
            )
    return None


def _kind(tool: JsonObject) -> str:
    return "custom" if anthropic_tools.is_custom(tool) else str(tool.get("type"))


@TABLE.rule("A66", "at most 10,000 tools are deferred or defined later, in at most 4 MiB", _SOURCE)
def _limits(facts: Facts) -> Violation | None:
    deferred = [tool for tool in objects(facts.body.get("tools")) if is_deferred(tool)]
    defined = [definition for _, definition in _definitions(facts)]
    size = sum(len(compact(tool)) for tool in defined)
    for found, most, what in (
        (len(deferred), MOST_TOOLS, "deferred tools"),
        (len(defined), MOST_TOOLS, "tools defined in `messages`"),
        (size, MOST_BYTES, "bytes of tool definitions in `messages`"),
    ):
        if found > most:
            return Violation(f"Too many {what}: {found} > {most} maximum", code="available_tools_limit_exceeded")
    return None


@TABLE.rule("A67", "cache_control stands on the change or in its definition, not on both", _SOURCE)
def _marked_once(facts: Facts) -> Violation | None:
    for change, definition in _definitions(facts):
        if change.block.get("cache_control") is not None and definition.get("cache_control") is not None:
            return Violation(
                f"{change.where}: cache_control cannot be set both on a `tool_addition` block and in its definition"
            )
    return None


@TABLE.rule("A68", "a system message that is cleared after its turn (clear_at) is asked for by its beta", _SOURCE)
def _clear_at_beta(facts: Facts) -> Violation | None:
    for index, message in enumerate(objects(facts.body.get("messages"))):
        if "clear_at" not in message:
            continue
        if message["role"] != "system" or CLEAR_AT not in betas(facts.headers):
            return Violation(f"messages.{index}.clear_at: Extra inputs are not permitted")
        if message["clear_at"] not in ("next_user_message", "never"):
            return Violation(f"messages.{index}.clear_at: Input should be 'next_user_message' or 'never'")
    return None


@TABLE.rule("A69", "a system message that is cleared after its turn has text only, and no mark", _SOURCE)
def _clear_at_text(facts: Facts) -> Violation | None:
    for index, message, position, block in walk_messages(facts.body):
        if message.get("clear_at") != "next_user_message":
            continue
        where = f"messages.{index}.content.{position}"
        if block.get("type") != "text":
            return Violation(f"{where}: a message with `clear_at` may contain only text blocks")
        if block.get("cache_control") is not None:
            return Violation(f"{where}: cache_control cannot be set in a message with `clear_at`")
    return None
