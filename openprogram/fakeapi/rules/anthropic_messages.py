"""Anthropic Messages: the messages themselves (A30 to A49, those of `anthropic_pairs` aside)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import JsonObject, content_blocks, objects, walk_messages
from openprogram.fakeapi.tool_changes import CHANGES

TABLE: Final = RuleTable()

_USER_BLOCKS: Final = frozenset(
    ["text", "image", "document", "search_result", "tool_result", "container_upload", "tool_reference", *CHANGES]
)
_ASSISTANT_BLOCKS: Final = frozenset(
    [
        "text",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "container_upload",
        "compaction",
        *CHANGES,
    ]
)
_PAUSED: Final = ("server_tool_use", "web_search_tool_result")
_SYSTEM_BLOCKS: Final = frozenset(["text", *CHANGES])
_BLOCKS: Final = {"user": _USER_BLOCKS, "assistant": _ASSISTANT_BLOCKS, "system": _SYSTEM_BLOCKS}
_REQUIRED: Final[dict[str, dict[str, type]]] = {
    "text": {"text": str},
    "thinking": {"thinking": str, "signature": str},
    "redacted_thinking": {"data": str},
    "tool_use": {"id": str, "name": str, "input": dict},
    "tool_result": {"tool_use_id": str},
    "server_tool_use": {"id": str, "name": str, "input": dict},
    "web_search_tool_result": {"tool_use_id": str},
    "image": {"source": dict},
}
_TYPE_NAMES: Final[dict[type, str]] = {str: "string", dict: "dictionary"}


def _messages(facts: Facts) -> list[JsonObject]:
    return objects(facts.body.get("messages"))


@TABLE.rule("A30", "messages is a list with at least one message", "Messages API reference")
def _present(facts: Facts) -> Violation | None:
    if "messages" not in facts.body:
        return Violation("messages: Field required")
    messages = facts.body["messages"]
    if not isinstance(messages, list) or len(objects(messages)) != len(messages):
        return Violation("messages: Input should be a valid list")
    if not messages:
        return Violation("messages: at least one message is required")
    return None


@TABLE.rule("A31", "a role is user, assistant or system", "Messages API reference")
def _roles(facts: Facts) -> Violation | None:
    for index, message in enumerate(_messages(facts)):
        if "role" not in message:
            return Violation(f"messages.{index}.role: Field required")
        if message["role"] not in ("user", "assistant", "system"):
            return Violation(f"messages.{index}.role: Input should be 'user', 'assistant' or 'system'")
    return None


@TABLE.rule("A32", "content is a string or a list of blocks", "Messages API reference")
def _content_shape(facts: Facts) -> Violation | None:
    for index, message in enumerate(_messages(facts)):
        content = message.get("content")
        if content is None:
            return Violation(f"messages.{index}.content: Field required")
        if isinstance(content, str):
            continue
        if not isinstance(content, list) or len(objects(content)) != len(content):
            return Violation(f"messages.{index}.content: Input should be a valid list")
    return None


@TABLE.rule("A33", "each block has a type that its role may send, and that type's fields", "Messages API reference")
def _block_types(facts: Facts) -> Violation | None:
    for index, message, position, block in walk_messages(facts.body):
        where = f"messages.{index}.content.{position}"
        kind = str(block.get("type"))
        allowed = _BLOCKS[message["role"]]
        if kind not in allowed:
            return Violation(
                f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected "
                f"tags: {', '.join(repr(name) for name in sorted(allowed))}"
            )
        for name, expected in _REQUIRED.get(kind, {}).items():
            if name not in block:
                return Violation(f"{where}.{kind}.{name}: Field required")
            if not isinstance(block[name], expected):
                return Violation(f"{where}.{kind}.{name}: Input should be a valid {_TYPE_NAMES[expected]}")
    return None


@TABLE.rule("A34", "role system is used only with models that know it", "Mid-conversation system messages")
def _system_supported(facts: Facts) -> Violation | None:
    if facts.model is None or facts.model.mid_system:
        return None
    if any(message["role"] == "system" for message in _messages(facts)):
        return Violation("role 'system' is not supported on this model")
    return None


@TABLE.rule(
    "A35",
    "role system is never first, follows a user turn, and is last or before the assistant",
    "Mid-conversation system messages",
)
def _system_placement(facts: Facts) -> Violation | None:
    messages = _messages(facts)
    for index, message in enumerate(messages):
        if message["role"] != "system" or (index and messages[index - 1]["role"] == "system"):
            continue
        if index == 0:
            return Violation(
                "messages.0: role 'system' cannot be the first message. Use the top-level `system` "
                "parameter for the initial system prompt."
            )
        before = messages[index - 1]
        if before["role"] == "assistant" and not _ends_in_server_result(before):
            return Violation(
                f"messages.{index}: a 'system' message must immediately follow a 'user' message or an "
                "'assistant' message that ends in a server tool result"
            )
        after = next((later["role"] for later in messages[index:] if later["role"] != "system"), None)
        if after == "user":
            return Violation(
                f"messages.{index}: a 'system' message must be the last message or be followed by an "
                "'assistant' message"
            )
    return None


def _ends_in_server_result(message: JsonObject) -> bool:
    blocks = content_blocks(message)
    kind = str(blocks[-1].get("type")) if blocks else ""
    return kind.endswith("_tool_result")


@TABLE.rule("A36", "the first message is the user's", "Messages API reference")
def _first_user(facts: Facts) -> Violation | None:
    if _messages(facts)[0]["role"] == "assistant":
        return Violation('messages: first message must use the "user" role')
    return None


@TABLE.rule("A37", "no message is empty but a final one of the assistant", "Messages API reference")
def _empty_message(facts: Facts) -> Violation | None:
    messages = _messages(facts)
    for index, message in enumerate(messages):
        final = index == len(messages) - 1 and message["role"] == "assistant"
        if not message["content"] and not final:
            return Violation(
                f"messages.{index}: all messages must have non-empty content except for the optional "
                "final assistant message"
            )
    return None


@TABLE.rule("A38", "no text block is empty or blank", "Messages API: text content blocks must be non-empty")
def _empty_text(facts: Facts) -> Violation | None:
    for text in _texts(facts):
        if text == "":
            return Violation("messages: text content blocks must be non-empty")
        if not text.strip():
            return Violation("messages: text content blocks must contain non-whitespace text")
    return None


def _texts(facts: Facts) -> Iterator[str]:
    """Every text block, those inside tool results included. Marked ones are A53's, and a message
    that is empty as a whole is A37's."""
    for message in _messages(facts):
        for block in content_blocks(message) if message["content"] else ():
            if block.get("type") == "text" and block.get("cache_control") is None:
                yield str(block["text"])
            for inner in objects(block.get("content")):
                if inner.get("type") == "text":
                    yield str(inner.get("text", ""))


@TABLE.rule(
    "A43",
    "the last message is not the assistant's where the model takes no prefill",
    "API errors: prefill not supported",
)
def _prefill(facts: Facts) -> Violation | None:
    last = _messages(facts)[-1]
    if last["role"] != "assistant" or (facts.model and facts.model.prefill):
        return None
    if any(block.get("type") in _PAUSED for block in content_blocks(last)):
        return None  # an answer that paused goes on
    return Violation(
        "This model does not support assistant message prefill. The conversation must end with a user message."
    )


@TABLE.rule("A44", "a final assistant message does not end in blanks", "Messages API: prefill")
def _trailing_blank(facts: Facts) -> Violation | None:
    last = _messages(facts)[-1]
    if last["role"] != "assistant":
        return None
    texts = [block["text"] for block in content_blocks(last) if block.get("type") == "text"]
    if texts and texts[-1] != texts[-1].rstrip():
        return Violation("messages: final assistant content cannot end with trailing whitespace")
    return None
