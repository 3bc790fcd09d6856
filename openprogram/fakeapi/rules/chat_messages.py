"""OpenAI Chat Completions: the messages (O30 to O49), and last of all the size of the prompt (O92)."""

from __future__ import annotations

from typing import Final

from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import JsonObject, child, objects

TABLE: Final = RuleTable()

_ROLES: Final = ("system", "assistant", "user", "function", "tool", "developer")
_PARTS: Final = ("text", "image_url", "input_audio", "refusal", "file")


def _messages(facts: Facts) -> list[JsonObject]:
    return objects(facts.body.get("messages"))


@TABLE.rule("O30", "messages is a list with at least one message", "Chat Completions reference")
def _present(facts: Facts) -> Violation | None:
    if "messages" not in facts.body:
        return Violation("Missing required parameter: 'messages'.", param="messages", code="missing_required_parameter")
    messages = facts.body["messages"]
    if not isinstance(messages, list) or len(objects(messages)) != len(messages):
        return Violation(
            "Invalid type for 'messages': expected an array of objects.",
            param="messages",
            code="invalid_type",
        )
    if not messages:
        return Violation(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param="messages",
            code="empty_array",
        )
    return None


@TABLE.rule("O31", "a role is one of the six known", "Chat Completions reference")
def _roles(facts: Facts) -> Violation | None:
    for index, message in enumerate(_messages(facts)):
        role = message.get("role")
        if role not in _ROLES:
            return Violation(
                f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', "
                "'function', 'tool', and 'developer'.",
                param=f"messages[{index}].role",
                code="invalid_value",
            )
    return None


@TABLE.rule(
    "O32",
    "content is a string or parts; only an assistant message with tool_calls has none",
    "Chat Completions reference",
)
def _content(facts: Facts) -> Violation | None:
    for index, message in enumerate(_messages(facts)):
        content = message.get("content")
        excused = message["role"] == "assistant" and (message.get("tool_calls") or message.get("refusal"))
        if content is None and excused:
            continue
        if content is None:
            return Violation(
                "Invalid value for 'content': expected a string, got null.",
                param=f"messages.[{index}].content",
            )
        if not isinstance(content, (str, list)):
            return Violation(
                f"Invalid type for 'messages[{index}].content': expected one of a string or array of objects.",
                param=f"messages[{index}].content",
                code="invalid_type",
            )
    return None


@TABLE.rule("O33", "a content part has a known type", "Chat Completions reference")
def _parts(facts: Facts) -> Violation | None:
    for index, message in enumerate(_messages(facts)):
        for position, part in enumerate(objects(message.get("content"))):
            if part.get("type") not in _PARTS:
                return Violation(
                    f"Invalid value: '{part.get('type')}'. Supported values are: "
                    + ", ".join(f"'{name}'" for name in _PARTS)
                    + ".",
                    param=f"messages[{index}].content[{position}].type",
                    code="invalid_value",
                )
    return None


@TABLE.rule("O34", "a tool call has an id, a name and arguments as a string", "Function calling")
def _tool_calls(facts: Facts) -> Violation | None:
    for index, message in enumerate(_messages(facts)):
        calls = message.get("tool_calls")
        if calls is not None and (message["role"] != "assistant" or not objects(calls)):
            return Violation(
                f"Invalid 'messages[{index}].tool_calls': expected a non-empty array on an assistant message.",
                param=f"messages[{index}].tool_calls",
                code="invalid_value",
            )
        for position, call in enumerate(objects(calls)):
            where = f"messages[{index}].tool_calls[{position}]"
            function = child(call, "function")
            for name, value in (("id", call.get("id")), ("function.name", function.get("name"))):
                if not isinstance(value, str):
                    return Violation(
                        f"Missing required parameter: '{where}.{name}'.",
                        param=f"{where}.{name}",
                        code="missing_required_parameter",
                    )
            if not isinstance(function.get("arguments"), str):
                return Violation(
                    f"Invalid type for '{where}.function.arguments': expected a string, but got an object instead.",
                    param=f"{where}.function.arguments",
                    code="invalid_type",
                )
    return None


@TABLE.rule("O35", "each tool call is answered by a tool message right after it", "Function calling")
def _calls_answered(facts: Facts) -> Violation | None:
    messages = _messages(facts)
    for index, message in enumerate(messages):
        called = [call["id"] for call in objects(message.get("tool_calls"))]
        answered = []
        for later in messages[index + 1 :]:
            if later["role"] != "tool":
                break
            answered.append(later.get("tool_call_id"))
        missing = [name for name in called if name not in answered]
        if missing:
            return Violation(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to "
                "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
                + ", ".join(missing),
                param=f"messages.[{index + 1}].role",
            )
    return None


@TABLE.rule("O36", "a tool message names a call of the assistant message before it", "Function calling")
def _tool_message_asked(facts: Facts) -> Violation | None:
    called: list[str] = []
    for index, message in enumerate(_messages(facts)):
        if message["role"] == "assistant":
            called = [call["id"] for call in objects(message.get("tool_calls"))]
        elif message["role"] != "tool":
            called = []
        elif not isinstance(message.get("tool_call_id"), str):
            return Violation(
                "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
                param=f"messages.[{index}].tool_call_id",
            )
        elif not called:
            return Violation(
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
                "with 'tool_calls'.",
                param=f"messages.[{index}].role",
            )
        elif message["tool_call_id"] not in called:
            return Violation(
                "Invalid parameter: 'tool_call_id' of "
                f"'{message['tool_call_id']}' not found in 'tool_calls' of previous message.",
                param=f"messages.[{index}].tool_call_id",
            )
    return None


@TABLE.rule(
    "O37",
    "a system message is the first one, where the chat template demands it (model demo-local)",
    "Chat templates of local models",
)
def _system_first(facts: Facts) -> Violation | None:
    if facts.model is None or not facts.model.system_first_only:
        return None
    for index, message in enumerate(_messages(facts)):
        if message["role"] in ("system", "developer") and index:
            return Violation("System message must be at the beginning.", 400, code="template_error")
    return None


@TABLE.rule("O92", "the prompt fits the model's context window", "API errors: context_length_exceeded")
def _fits(facts: Facts) -> Violation | None:
    window = facts.model.context_window if facts.model is not None else 0
    tokens = facts.rendering().size
    if tokens <= window:
        return None
    return Violation(
        f"This model's maximum context length is {window} tokens. However, your messages resulted in "
        f"{tokens} tokens. Please reduce the length of the messages.",
        param="messages",
        code="context_length_exceeded",
    )
