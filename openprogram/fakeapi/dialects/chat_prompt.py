"""OpenAI Chat Completions: reading a request, as the demo model's conversation and as segments."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import Any

import orjson

from openprogram.fakeapi.cache.segments import Prompt, Segment, SegmentTable
from openprogram.fakeapi.conversation import (
    AssistantTurn,
    Call,
    Conversation,
    Result,
    ResultsTurn,
    ToolDecl,
    Turn,
    UserTurn,
    spoken,
)
from openprogram.fakeapi.dialects.openai_marks import explicit, marked, writes
from openprogram.fakeapi.shapes import JsonObject, compact, objects, parsed_arguments, plain_text, without


def conversation(body: JsonObject) -> Conversation:
    """A valid request as the demo model sees it. Reasoning is always allowed on this wire."""
    turns: list[Turn] = []
    for message in objects(body.get("messages")):
        _add_turn(turns, message)
    tools = tuple(
        ToolDecl(tool["function"]["name"], tool["function"].get("parameters") or {})
        for tool in objects(body.get("tools"))
    )
    tools, forced = _narrowed(tools, body.get("tool_choice"))
    return Conversation(tuple(turns), tools, forced, "free")


def _narrowed(tools: tuple[ToolDecl, ...], choice: Any) -> tuple[tuple[ToolDecl, ...], str | None]:
    """The tools that tool_choice leaves, and the one that it forces."""
    if choice == "none":
        return (), None
    if choice == "required":
        return tools, "*"
    if not isinstance(choice, dict):
        return tools, None
    if choice["type"] == "function":
        return tools, choice["function"]["name"]
    allowed = choice["allowed_tools"]
    names = {tool["function"]["name"] for tool in objects(allowed["tools"])}
    kept = tuple(tool for tool in tools if tool.name in names)
    return kept, "*" if allowed.get("mode") == "required" else None


def _add_turn(turns: list[Turn], message: JsonObject) -> None:
    text = plain_text(message.get("content"))
    role = message["role"]
    if role == "assistant":
        calls = tuple(
            Call(call["id"], call["function"]["name"], parsed_arguments(call["function"]["arguments"]))
            for call in objects(message.get("tool_calls"))
        )
        turns.append(AssistantTurn(text, calls))
    elif role == "tool":
        result = Result(message["tool_call_id"], text, None)
        last = turns[-1] if turns else None
        if isinstance(last, ResultsTurn):
            turns[-1] = ResultsTurn((*last.results, result))
        else:
            turns.append(ResultsTurn((result,)))
    elif role == "user" and spoken(text):
        turns.append(UserTurn(spoken(text)))


def prompt(body: JsonObject, table: SegmentTable) -> Prompt:
    """The request as a chat template renders it: tools first, then the messages in their order. A breakpoint
    can end at what comes from the client as content."""
    tools = [replace(table.segment(compact(tool), "tools"), block=False) for tool in objects(body.get("tools"))]
    segments = [*_parameters(body, table), *tools]
    for message in objects(body.get("messages")):
        mark = explicit(message.get("content"), body)
        segments.append(replace(_message(message, table), block=message["role"] != "assistant", breakpoint=mark))
    return marked(segments, body, "chat")


def _parameters(body: JsonObject, table: SegmentTable) -> list[Segment]:
    """A marker for what else breaks the prefix, on models that cache at breakpoints."""
    if not writes(body, "chat"):
        return []
    names = ("parallel_tool_calls", "response_format", "verbosity", "reasoning_effort", "service_tier")
    return [table.marker(compact([body.get(name) for name in names]), "tools")]


def _message(message: JsonObject, table: SegmentTable) -> Segment:
    role = message["role"]
    text = f"{role}:\n{_content(message.get('content'))}"
    for call in objects(message.get("tool_calls")):
        function = call["function"]
        text += f"\ncall {call['id']} {function['name']} {function['arguments']}"
    if role == "tool":
        text = f"result of {message['tool_call_id']}\n{text}"
    return table.segment(text, "system" if role in ("system", "developer") else "messages")


def _content(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = []
    for part in objects(content):
        if isinstance(part.get("text"), str):
            parts.append(part["text"])
        else:
            raw = orjson.dumps(without(part, "prompt_cache_breakpoint"))
            parts.append(f"[{part.get('type')} {blake2b(raw, digest_size=16).hexdigest()}]")
    return "\n".join(parts)
