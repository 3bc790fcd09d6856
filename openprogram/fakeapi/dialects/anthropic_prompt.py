"""Anthropic Messages: a request as tokenised segments, in the order in which the model reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

from openprogram.fakeapi.answer import binding_of
from openprogram.fakeapi.cache.segments import Prompt, Rendering, Section, Segment, SegmentTable, Ttl
from openprogram.fakeapi.models import Model, find_model
from openprogram.fakeapi.shapes import JsonObject, child, compact, content_blocks, objects, without
from openprogram.fakeapi.tool_changes import CHANGES, Change, changes_scaffold, declared, drops_misbound, is_deferred

_SYSTEM_TOOLS: Final = ("web_search", "web_fetch")
"""Provider tools that add to the system prompt: switching one breaks the cache from there on."""
_MESSAGES: Final[Section] = "messages"
_THINKING: Final = ("thinking", "redacted_thinking")


def prompt(body: JsonObject, table: SegmentTable) -> Prompt:
    """The request in the order in which the model reads it: tools, system, messages.

    Parameters that change how the prompt is read are markers, placed where the documentation says
    that a change of them breaks the cache. Deferred tools are not part of the prompt; they are
    rendered where something refers to them.
    """
    return render(body, table).prompt


def render(body: JsonObject, table: SegmentTable) -> Rendering:
    """The prompt, and what is to be known of its thinking blocks. A misbound block is left out where the
    request says so (`drop_block`)."""
    segments = list(_head(body, table))
    messages = _Messages(body, table, _prefix_key(segments))
    segments.append(table.marker(_message_parameters(body), "messages"))
    segments.extend(messages.segments())
    if body.get("cache_control") is not None:
        _mark_last(segments, body)
    return Rendering(tuple(segments), messages.key, tuple(messages.misbound))


def _head(body: JsonObject, table: SegmentTable) -> Iterator[Segment]:
    tools = [tool for tool in objects(body.get("tools")) if not is_deferred(tool)]
    if changes_scaffold(body):
        yield table.marker("tools may change", "tools")
    for tool in tools:
        if not _adds_to_system(tool):
            yield table.segment(_tool_text(tool), "tools", _ttl(tool))
    provided = [without(tool, "cache_control") for tool in tools if _adds_to_system(tool)]
    yield table.marker(compact([provided, body.get("speed")]), "system")
    system = body.get("system")
    blocks = [{"text": system}] if isinstance(system, str) and system else objects(system)
    for block in blocks:
        yield table.segment(str(block["text"]), "system", _ttl(block))


def _prefix_key(segments: list[Segment]) -> bytes:
    key = b""
    for segment in segments:
        key = _extended(key, segment)
    return key


def _extended(key: bytes, segment: Segment) -> bytes:
    return blake2b(key + segment.digest, digest_size=16).digest()


def _adds_to_system(tool: JsonObject) -> bool:
    return str(tool.get("type", "")).startswith(_SYSTEM_TOOLS)


def _tool_text(tool: JsonObject) -> str:
    return compact(without(tool, "cache_control", "defer_loading", "eager_input_streaming"))


def _message_parameters(body: JsonObject) -> str:
    """What breaks the messages' part of the cache when it changes, as text."""
    images = any(
        part.get("type") == "image"
        for message in objects(body.get("messages"))
        for block in content_blocks(message)
        for part in (block, *objects(block.get("content")))
    )
    thinking = without(child(body, "thinking"), "block_binding") or None
    return compact(
        {
            "tool_choice": body.get("tool_choice") or {"type": "auto"},
            "thinking": None if (thinking or {}).get("type") == "disabled" else thinking,
            "effort": child(body, "output_config").get("effort"),
            "images": images,
        }
    )


class _Messages:
    """The messages' part of a prompt. `key` runs along with it and names the prefix up to there."""

    def __init__(self, body: JsonObject, table: SegmentTable, key: bytes) -> None:
        self._messages = objects(body.get("messages"))
        self._table = table
        self._known = declared(body)
        self._drops = drops_misbound(body)
        self._model = find_model(str(body.get("model")), "anthropic")
        self._asked = max((i for i, message in enumerate(self._messages) if _asks(message)), default=0)
        self._answer_key = key
        self.key = key
        self.misbound: list[str] = []

    def segments(self) -> Iterator[Segment]:
        """The segments in order, without what this model does not get to see."""
        previous = ""
        for index, message in enumerate(self._messages):
            role = message["role"]
            if role == "assistant" and previous != "assistant":
                self._answer_key = self.key
            if self._cleared(index, message):
                continue
            for position, block in enumerate(content_blocks(message)):
                if not self._shown(index, position, block):
                    continue
                segment = self._segment(block, role if role != previous else "")
                previous = role
                self.key = _extended(self.key, segment)
                yield segment

    def _cleared(self, index: int, message: JsonObject) -> bool:
        """Whether a turn-scoped system message has had its turn."""
        scoped = message["role"] == "system" and message.get("clear_at") == "next_user_message"
        return scoped and any(later["role"] == "user" for later in self._messages[index:])

    def _shown(self, index: int, position: int, block: JsonObject) -> bool:
        if block.get("type") not in _THINKING:
            return True
        model: Model | None = self._model
        if model is not None and not model.keeps_thinking and index < self._asked:
            return False
        bound_to = binding_of(str(block.get("signature", "")))
        if model is None or not model.binds_thinking or bound_to in (b"", self._answer_key):
            return True
        self.misbound.append(f"messages.{index}.content.{position}")
        return not self._drops

    def _segment(self, block: JsonObject, role: str) -> Segment:
        """One content block; the first of a turn also carries the role."""
        kind = block.get("type")
        head = f"{role}:\n" if role else ""
        salt = ""
        ttl = _ttl(block)
        if kind == "text":
            text = str(block["text"])
        elif kind == "thinking":
            text, salt = str(block["thinking"]), str(block["signature"])
        elif kind == "tool_result":
            text, ttl = self._result(block), ttl or _inner_ttl(block)
        elif kind in CHANGES:
            text, ttl = self._change(Change(0, 0, block)), ttl or _definition_ttl(block)
        elif kind in ("image", "document"):
            raw = compact(block.get("source")).encode()
            text = f"[{kind} {blake2b(raw, digest_size=16).hexdigest()}]"
        else:
            text = compact(without(block, "cache_control"))
        return self._table.segment(f"{head}{text}", _MESSAGES, ttl, salt=salt)

    def _result(self, block: JsonObject) -> str:
        """A tool result; a tool that it refers to is rendered in it as it would be among the tools."""
        content = block.get("content")
        parts = [without(part, "cache_control") for part in objects(content)]
        body = content if isinstance(content, str) else compact(parts)
        found = [self._known[str(p.get("tool_name"))] for p in parts if p.get("type") == "tool_reference"]
        head = f"result of {block['tool_use_id']} error={block.get('is_error') is True}"
        return "\n".join([head, body, *(_tool_text(tool) for tool in found)])

    def _change(self, change: Change) -> str:
        """An addition in full, at its place. What is known already is only named again: the definition that
        was given before, or the tool that has been there from the start."""
        line = f"{change.block['type']} {change.key}"
        before = self._known.get(change.key)
        if change.definition is not None:
            self._known[change.key] = change.definition
            same = before is not None and _tool_text(before) == _tool_text(change.definition)
            return line if same else f"{line}\n{_tool_text(change.definition)}"
        if change.adds and before is not None and is_deferred(before):
            return f"{line}\n{_tool_text(before)}"
        return line


def _asks(message: JsonObject) -> bool:
    """Whether a message begins a turn: a person's words, not the results of tools alone."""
    return message["role"] == "user" and any(b.get("type") != "tool_result" for b in content_blocks(message))


def _ttl(holder: JsonObject) -> Ttl | None:
    mark = holder.get("cache_control")
    if not isinstance(mark, dict):
        return None
    return "1h" if mark.get("ttl") == "1h" else "5m"


def _inner_ttl(block: JsonObject) -> Ttl | None:
    """A mark on content inside a tool result counts for the whole result."""
    return next((ttl for inner in objects(block.get("content")) if (ttl := _ttl(inner))), None)


def _definition_ttl(block: JsonObject) -> Ttl | None:
    """A mark in a definition that is given by value counts for its block."""
    return _ttl(child(child(block, "tool"), "definition"))


def _mark_last(segments: list[Segment], body: JsonObject) -> None:
    """The request's own cache_control: it marks the last block that can be cached."""
    ttl: Any = _ttl(body)
    for index in range(len(segments) - 1, -1, -1):
        if segments[index].block:
            segments[index] = replace(segments[index], breakpoint=ttl or "5m")
            return
