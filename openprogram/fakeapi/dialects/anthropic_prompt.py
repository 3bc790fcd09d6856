"""Anthropic Messages: reading a request, as the demo model's conversation and as tokenised segments."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Final

from openprogram.fakeapi.cache.segments import Prompt, Section, Segment, SegmentTable, Ttl
from openprogram.fakeapi.conversation import (
    AssistantTurn,
    Call,
    Conversation,
    Result,
    ResultsTurn,
    ThinkingMode,
    ToolDecl,
    Turn,
    UserTurn,
    spoken,
)
from openprogram.fakeapi.shapes import JsonObject, child, compact, content_blocks, objects, plain_text, without

_SYSTEM_TOOLS: Final = ("web_search", "web_fetch")
"""Provider tools that add to the system prompt: switching one breaks the cache from there on."""


def conversation(body: JsonObject) -> Conversation:
    """A valid request as the demo model sees it."""
    turns: list[Turn] = []
    for message in objects(body.get("messages")):
        turns.extend(_turns(message))
    choice = child(body, "tool_choice")
    tools = tuple(
        ToolDecl(tool["name"], tool["input_schema"])
        for tool in objects(body.get("tools"))
        if isinstance(tool.get("input_schema"), dict) and tool.get("defer_loading") is not True
    )
    forced = {"any": "*", "tool": str(choice.get("name"))}.get(str(choice.get("type")))
    if choice.get("type") == "none":
        tools = ()
    return Conversation(tuple(turns), tools, forced, _thinking_mode(body))


def _thinking_mode(body: JsonObject) -> ThinkingMode:
    kind = child(body, "thinking").get("type")
    modes: dict[str, ThinkingMode] = {"enabled": "always", "adaptive": "free", "between_tools": "free"}
    return modes.get(str(kind), "off")


def _turns(message: JsonObject) -> Iterator[Turn]:
    blocks = content_blocks(message)
    texts = "\n".join(str(block["text"]) for block in blocks if block.get("type") == "text")
    if message["role"] == "assistant":
        calls = tuple(
            Call(block["id"], block["name"], block["input"]) for block in blocks if block.get("type") == "tool_use"
        )
        yield AssistantTurn(texts, calls)
    elif message["role"] == "user":
        results = tuple(
            Result(block["tool_use_id"], plain_text(block.get("content")), block.get("is_error") is True)
            for block in blocks
            if block.get("type") == "tool_result"
        )
        if results:
            yield ResultsTurn(results)
        if spoken(texts):
            yield UserTurn(spoken(texts))


def prompt(body: JsonObject, table: SegmentTable) -> Prompt:
    """The request in the order in which the model reads it: tools, system, messages.

    Parameters that change how the prompt is read are markers, placed where the documentation says
    that a change of them breaks the cache. Deferred tools are not part of the prompt.
    """
    tools = [tool for tool in objects(body.get("tools")) if tool.get("defer_loading") is not True]
    own = [tool for tool in tools if not _adds_to_system(tool)]
    segments = [_tool(tool, table) for tool in own]
    provided = [without(tool, "cache_control") for tool in tools if _adds_to_system(tool)]
    segments.append(table.marker(compact([provided, body.get("speed")]), "system"))
    segments.extend(_system(body.get("system"), table))
    segments.append(table.marker(_message_parameters(body), "messages"))
    previous = ""
    for message in objects(body.get("messages")):
        for block in content_blocks(message):
            role = message["role"] if message["role"] != previous else ""
            previous = message["role"]
            segments.append(_block(block, role, table))
    if body.get("cache_control") is not None:
        _mark_last(segments, body)
    return tuple(segments)


def _adds_to_system(tool: JsonObject) -> bool:
    return str(tool.get("type", "")).startswith(_SYSTEM_TOOLS)


def _tool(tool: JsonObject, table: SegmentTable) -> Segment:
    text = compact(without(tool, "cache_control", "defer_loading", "eager_input_streaming"))
    return table.segment(text, "tools", _ttl(tool))


def _system(system: Any, table: SegmentTable) -> Iterator[Segment]:
    blocks = [{"text": system}] if isinstance(system, str) and system else objects(system)
    for block in blocks:
        yield table.segment(str(block["text"]), "system", _ttl(block))


def _message_parameters(body: JsonObject) -> str:
    """What breaks the messages' part of the cache when it changes, as text."""
    images = any(
        part.get("type") == "image"
        for message in objects(body.get("messages"))
        for block in content_blocks(message)
        for part in (block, *objects(block.get("content")))
    )
    thinking = body.get("thinking")
    return compact(
        {
            "tool_choice": body.get("tool_choice") or {"type": "auto"},
            "thinking": None if (thinking or {}).get("type") == "disabled" else thinking,
            "effort": child(body, "output_config").get("effort"),
            "images": images,
        }
    )


def _block(block: JsonObject, role: str, table: SegmentTable) -> Segment:
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
        text, ttl = _result_text(block), ttl or _inner_ttl(block)
    elif kind in ("image", "document"):
        raw = compact(block.get("source")).encode()
        text = f"[{kind} {blake2b(raw, digest_size=16).hexdigest()}]"
    else:
        text = compact(without(block, "cache_control"))
    return table.segment(f"{head}{text}", _MESSAGES, ttl, salt=salt)


_MESSAGES: Final[Section] = "messages"


def _result_text(block: JsonObject) -> str:
    content = block.get("content")
    body = content if isinstance(content, str) else compact([without(b, "cache_control") for b in objects(content)])
    return f"result of {block['tool_use_id']} error={block.get('is_error') is True}\n{body}"


def _ttl(holder: JsonObject) -> Ttl | None:
    mark = holder.get("cache_control")
    if not isinstance(mark, dict):
        return None
    return "1h" if mark.get("ttl") == "1h" else "5m"


def _inner_ttl(block: JsonObject) -> Ttl | None:
    """A mark on content inside a tool result counts for the whole result."""
    return next((ttl for inner in objects(block.get("content")) if (ttl := _ttl(inner))), None)


def _mark_last(segments: list[Segment], body: JsonObject) -> None:
    """The request's own cache_control: it marks the last block that can be cached."""
    ttl = _ttl(body)
    for index in range(len(segments) - 1, -1, -1):
        segment = segments[index]
        if segment.block:
            segments[index] = Segment(segment.digest, segment.tokens, segment.section, ttl or "5m")
            return
