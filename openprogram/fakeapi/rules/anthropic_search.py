"""Anthropic Messages: searches that the provider makes itself (A70 to A74)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import JsonObject, child, content_blocks, objects, walk_messages
from openprogram.fakeapi.tool_changes import CHANGES
from openprogram.fakeapi.web_search import KINDS, is_sealed

TABLE: Final = RuleTable()

_SEARCHING: Final = "Web search tool"
_FOUND: Final = "web_search_tool_result"


def _declared(facts: Facts) -> Iterator[tuple[str, JsonObject]]:
    """Every web search tool and its place, declared or given later by value."""
    for index, tool in enumerate(objects(facts.body.get("tools"))):
        yield f"tools.{index}", tool
    for index, _, position, block in walk_messages(facts.body):
        definition = child(child(block, "tool"), "definition")
        if block.get("type") in CHANGES and definition:
            yield f"messages.{index}.content.{position}.{block['type']}.tool.tool_definition.definition", definition


@TABLE.rule("A70", "a web search tool is of a known version and is named web_search", _SEARCHING)
def _known(facts: Facts) -> Violation | None:
    for where, tool in _declared(facts):
        kind = str(tool.get("type", ""))
        if not kind.startswith("web_search"):
            continue
        if kind not in KINDS:
            return Violation(f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags")
        if tool.get("name") != "web_search":
            return Violation(f"{where}.{kind}.name: Input should be 'web_search'")
    return None


@TABLE.rule("A71", "a search is bounded by allowed or by blocked domains, not by both", _SEARCHING)
def _domains(facts: Facts) -> Violation | None:
    for where, tool in _declared(facts):
        searches = str(tool.get("type", "")).startswith("web_search")
        if searches and tool.get("allowed_domains") and tool.get("blocked_domains"):
            return Violation(f"{where}: Only one of allowed_domains or blocked_domains may be provided")
    return None


@TABLE.rule("A72", "a search has its result in the same answer, unless the answer paused and is the last", _SEARCHING)
def _answered(facts: Facts) -> Violation | None:
    messages = objects(facts.body.get("messages"))
    for index, message in enumerate(messages):
        blocks = content_blocks(message)
        found = {block.get("tool_use_id") for block in blocks if block.get("type") == _FOUND}
        for block in blocks:
            open_search = block.get("type") == "server_tool_use" and block["id"] not in found
            if open_search and index < len(messages) - 1:
                return Violation(
                    f"messages.{index}: `server_tool_use` id {block['id']} was found without a corresponding "
                    f"`{_FOUND}` block"
                )
    return None


@TABLE.rule("A73", "a search result answers a search before it in the same answer", _SEARCHING)
def _asked(facts: Facts) -> Violation | None:
    for index, message in enumerate(objects(facts.body.get("messages"))):
        searched: set[str] = set()
        for position, block in enumerate(content_blocks(message)):
            if block.get("type") == "server_tool_use":
                searched.add(block["id"])
            if block.get("type") == _FOUND and block["tool_use_id"] not in searched:
                return Violation(
                    f"messages.{index}.content.{position}: unexpected `tool_use_id` found in `{_FOUND}` blocks: "
                    f"{block['tool_use_id']}"
                )
    return None


@TABLE.rule("A74", "what is encrypted in results and citations comes back exactly as it was given out", _SEARCHING)
def _verbatim(facts: Facts) -> Violation | None:
    for index, _, position, block in walk_messages(facts.body):
        held = objects(block.get("content")) if block.get("type") == _FOUND else objects(block.get("citations"))
        for number, each in enumerate(held):
            field = "encrypted_content" if each.get("type") == "web_search_result" else "encrypted_index"
            if not is_sealed(each.get(field), each.get("url")):
                part = "content" if block.get("type") == _FOUND else "citations"
                return Violation(
                    f"messages.{index}.content.{position}.{part}.{number}: Invalid `{field}` in search result block"
                )
    return None
