"""Anthropic Messages: what belongs together, calls with results and calls with thinking (A39 to A42, A45, A46)."""

from __future__ import annotations

from typing import Final

from openprogram.fakeapi.answer import is_signed
from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import JsonObject, child, content_blocks, objects, walk_messages

TABLE: Final = RuleTable()


def _messages(facts: Facts) -> list[JsonObject]:
    return objects(facts.body.get("messages"))


def _ids(message: JsonObject, kind: str, field: str) -> list[str]:
    return [block[field] for block in content_blocks(message) if block.get("type") == kind]


@TABLE.rule("A39", "each tool_use has its tool_result in the next message", "Tool use: handling results")
def _tool_use_answered(facts: Facts) -> Violation | None:
    messages = _messages(facts)
    for index, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        called = _ids(message, "tool_use", "id")
        following = messages[index + 1] if index + 1 < len(messages) else None
        answered = _ids(following, "tool_result", "tool_use_id") if following else []
        missing = [name for name in called if name not in answered]
        if missing:
            return Violation(
                f"messages.{index + 1}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a "
                "corresponding `tool_result` block in the next message."
            )
    return None


@TABLE.rule("A40", "each tool_result answers a tool_use of the previous message", "Tool use: handling results")
def _tool_result_asked(facts: Facts) -> Violation | None:
    messages = _messages(facts)
    for index, message in enumerate(messages):
        before = messages[index - 1] if index else None
        called = _ids(before, "tool_use", "id") if before and before["role"] == "assistant" else []
        for position, block in enumerate(content_blocks(message)):
            if block.get("type") == "tool_result" and block["tool_use_id"] not in called:
                return Violation(
                    f"messages.{index}.content.{position}: unexpected `tool_use_id` found in "
                    f"`tool_result` blocks: {block['tool_use_id']}. Each `tool_result` block must have "
                    "a corresponding `tool_use` block in the previous message."
                )
    return None


@TABLE.rule("A41", "a tool_use has one result, and its id is used once", "Tool use: handling results")
def _single_result(facts: Facts) -> Violation | None:
    seen: set[str] = set()
    for index, message in enumerate(_messages(facts)):
        answered = _ids(message, "tool_result", "tool_use_id")
        doubled = [name for name in answered if answered.count(name) > 1]
        if doubled:
            return Violation(
                f"messages.{index}: each tool_use must have a single result. Found multiple "
                f"`tool_result` blocks with id: {doubled[0]}"
            )
        for name in _ids(message, "tool_use", "id"):
            if name in seen:
                return Violation(f"messages.{index}: `tool_use` ids must be unique")
            seen.add(name)
    return None


@TABLE.rule("A42", "tool_result blocks come before other content", "Tool use: handling results")
def _results_first(facts: Facts) -> Violation | None:
    for index, message in enumerate(_messages(facts)):
        kinds = [block.get("type") for block in content_blocks(message)]
        if "tool_result" in kinds and "tool_result" in kinds[kinds.count("tool_result") :]:
            return Violation(
                f"messages.{index}: `tool_result` blocks must come first in the content of a user "
                "message; other content must come after all tool results."
            )
    return None


@TABLE.rule("A45", "a thinking block comes back exactly as it was given out", "Extended thinking: preserving blocks")
def _signature(facts: Facts) -> Violation | None:
    for index, _, position, block in walk_messages(facts.body):
        if block.get("type") == "thinking" and not is_signed(block["thinking"], block["signature"]):
            return Violation(f"messages.{index}.content.{position}: Invalid `signature` in `thinking` block")
    return None


@TABLE.rule(
    "A46",
    "while thinking is enabled, tool calls that followed a thinking block keep it",
    "Extended thinking: preserving blocks",
)
def _thinking_kept(facts: Facts) -> Violation | None:
    if child(facts.body, "thinking").get("type") != "enabled":
        return None
    messages = _messages(facts)
    index = max((i for i, m in enumerate(messages) if m["role"] == "assistant"), default=-1)
    called = _ids(messages[index], "tool_use", "id") if index >= 0 else []
    if not any(facts.thought(name) for name in called):
        return None
    first = content_blocks(messages[index])[0].get("type")
    if first in ("thinking", "redacted_thinking"):
        return None
    return Violation(
        f"messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
        f"`{first}`. When `thinking` is enabled, a final `assistant` message must start with a thinking "
        "block (preceding the lastmost set of `tool_use` and `tool_result` blocks)."
    )
