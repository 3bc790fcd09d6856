"""Anthropic Messages: a request as the demo model sees it."""

from __future__ import annotations

from collections.abc import Iterator

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
from openprogram.fakeapi.shapes import JsonObject, child, content_blocks, objects, plain_text
from openprogram.fakeapi.tool_changes import available


def conversation(body: JsonObject) -> Conversation:
    """A valid request as the demo model sees it: with the tools that it may call after the last message."""
    turns: list[Turn] = []
    for message in objects(body.get("messages")):
        turns.extend(_turns(message))
    choice = child(body, "tool_choice")
    tools = tuple(
        ToolDecl(tool["name"], tool["input_schema"])
        for tool in available(body).values()
        if isinstance(tool.get("input_schema"), dict)
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
