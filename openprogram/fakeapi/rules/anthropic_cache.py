"""Anthropic Messages: cache_control (A50 to A54), and last of all what is seen of the rendered prompt (A47, A92)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import JsonObject, child, objects, walk_messages
from openprogram.fakeapi.tool_changes import drops_misbound

TABLE: Final = RuleTable()


def marked(body: JsonObject) -> Iterator[tuple[str, JsonObject, object]]:
    """Every mark in the order tools, system, messages: where it stands, its holder, the mark."""
    for index, tool in enumerate(objects(body.get("tools"))):
        if tool.get("cache_control") is not None:
            yield f"tools.{index}", tool, tool["cache_control"]
    for index, block in enumerate(objects(body.get("system"))):
        if block.get("cache_control") is not None:
            yield f"system.{index}", block, block["cache_control"]
    for index, _, position, block in walk_messages(body):
        where = f"messages.{index}.content.{position}"
        definition = child(child(block, "tool"), "definition")
        for inner in (*objects(block.get("content")), definition, block):
            if inner.get("cache_control") is not None:
                yield where, inner, inner["cache_control"]


@TABLE.rule("A50", "cache_control is ephemeral with a ttl of 5m or 1h", "Prompt caching")
def _shape(facts: Facts) -> Violation | None:
    marks = [*marked(facts.body), ("", facts.body, facts.body.get("cache_control"))]
    for where, _, mark in marks:
        if mark is None:
            continue
        prefix = f"{where}.cache_control".lstrip(".")
        if not isinstance(mark, dict) or mark.get("type") != "ephemeral":
            return Violation(f"{prefix}.type: Input should be 'ephemeral'")
        if mark.get("ttl", "5m") not in ("5m", "1h"):
            return Violation(f"{prefix}.ephemeral.ttl: Input should be '5m' or '1h'")
    return None


@TABLE.rule("A51", "there are at most four marks", "Prompt caching: limits")
def _at_most_four(facts: Facts) -> Violation | None:
    found = len(list(marked(facts.body))) + (facts.body.get("cache_control") is not None)
    if found > 4:
        return Violation(f"A maximum of 4 blocks with cache_control may be provided. Found {found}.")
    return None


@TABLE.rule("A52", "no mark stands on a thinking block", "Prompt caching: what cannot be cached")
def _on_thinking(facts: Facts) -> Violation | None:
    for where, holder, _ in marked(facts.body):
        kind = holder.get("type")
        if kind in ("thinking", "redacted_thinking"):
            return Violation(f"{where}.{kind}.cache_control: Extra inputs are not permitted")
    return None


@TABLE.rule("A53", "no mark stands on an empty text block", "Prompt caching: what cannot be cached")
def _on_empty_text(facts: Facts) -> Violation | None:
    for where, holder, _ in marked(facts.body):
        if holder.get("type") == "text" and not str(holder.get("text", "")).strip():
            return Violation(f"{where}.text: cache_control cannot be set for empty text blocks")
    return None


@TABLE.rule("A54", "no 1h mark comes after a 5m mark", "Prompt caching: mixing lifetimes")
def _hour_first(facts: Facts) -> Violation | None:
    short = False
    for where, _, mark in marked(facts.body):
        ttl = mark.get("ttl", "5m") if isinstance(mark, dict) else "5m"
        if ttl == "1h" and short:
            return Violation(
                f"{where}.cache_control.ttl: a ttl='1h' cache_control block must not come after a "
                "ttl='5m' cache_control block. Note that blocks are processed in the following order: "
                "`tools`, `system`, `messages`."
            )
        short = short or ttl == "5m"
    return None


@TABLE.rule(
    "A47",
    "nothing before a thinking block has changed since it was made, on models that bind it",
    "Preserved thinking: prefix checks",
)
def _bound(facts: Facts) -> Violation | None:
    if drops_misbound(facts.body):
        return None
    for where in facts.rendering().misbound:
        return Violation(
            f"{where}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
            'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
        )
    return None


@TABLE.rule("A92", "the prompt fits the model's context window", "API errors: prompt is too long")
def _fits(facts: Facts) -> Violation | None:
    window = facts.model.context_window if facts.model is not None else 0
    tokens = facts.rendering().size
    if tokens <= window:
        return None
    return Violation(f"prompt is too long: {tokens} tokens > {window} maximum")
