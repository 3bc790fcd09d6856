"""A request in the wire format of Chat Completions, as every OpenAI-compatible server takes it. Pure.

The common ground is narrow: plain strings instead of content parts, one system message at the head, user texts in a row
merged, each call followed by its `tool` message. What single hosts want beyond it is in `hosts.Quirks`.
"""

from typing import assert_never

from openprogram.core.jsonio import JsonObject, JsonValue, canonical, digest
from openprogram.core.messages import (
    Message,
    ReasoningBlock,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from openprogram.core.prompt import ProviderRequest
from openprogram.providers.catalog import ModelFacts
from openprogram.providers.history import Keep, Turn, arrange, sent_name
from openprogram.providers.hosts import Quirks

_KEY_CHARS = 64


def request_body(request: ProviderRequest, model_id: str, facts: ModelFacts, quirks: Quirks) -> JsonObject:
    """The JSON body of one streaming request. `model_id` is `endpoint/model`, for reasoning that may go back."""
    messages: list[JsonValue] = []
    system = "\n\n".join(text for text in request.system if text.strip())
    if system:
        messages.append({"role": "developer" if quirks.developer_role else "system", "content": system})
    for turn in arrange(request.messages, _own_reasoning(model_id) if quirks.return_reasoning else _none):
        messages.extend(_user(turn, quirks) if turn.role == "user" else [_assistant(turn, quirks)])
    body: JsonObject = {"model": request.model, "messages": messages, "stream": True}
    if request.tools:
        body["tools"] = [wire_tool(tool) for tool in request.tools]
    if quirks.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if quirks.cache_key and request.cache_key:
        body["prompt_cache_key"] = request.cache_key[:_KEY_CHARS]
    params = request.params
    if params.max_output_tokens is not None:
        body[quirks.max_tokens_field] = params.max_output_tokens
    if params.temperature is not None and facts.takes_temperature:
        body["temperature"] = params.temperature
    if params.effort is not None and quirks.effort:
        body["reasoning_effort"] = params.effort
    return body


def _none(message: Message, block: ReasoningBlock) -> bool:
    return False


def _own_reasoning(model_id: str) -> Keep:
    """These hosts sign nothing: whole reasoning of the same model goes back."""

    def keep(message: Message, block: ReasoningBlock) -> bool:
        return message.model == model_id and bool(block.text)

    return keep


def wire_tool(tool: JsonObject) -> JsonObject:
    """A declaration in this wire format."""
    function: JsonObject = {
        "name": tool["name"],
        "description": tool["description"],
        "parameters": tool["parameters"],
    }
    return {"type": "function", "function": function}


def _call_id(call_id: str, quirks: Quirks) -> str:
    """Short enough for the endpoint; the same id always becomes the same one."""
    if quirks.call_id_chars is None or len(call_id) <= quirks.call_id_chars:
        return call_id
    return digest(call_id)[: quirks.call_id_chars]


def _user(turn: Turn, quirks: Quirks) -> list[JsonValue]:
    messages: list[JsonValue] = []
    texts: list[str] = []
    for item in turn.items:
        match item.block:
            case ToolResultBlock(call_id, _, content):
                text = "\n\n".join(part.text for part in content)
                messages.append({"role": "tool", "tool_call_id": _call_id(call_id, quirks), "content": text})
            case TextBlock(text):
                texts.append(text)
            case ToolUseBlock() | ReasoningBlock():
                raise TypeError("a user turn holds text and results only")
            case _:
                assert_never(item.block)
    if texts:
        messages.append({"role": "user", "content": "\n\n".join(texts)})
    return messages


def _assistant(turn: Turn, quirks: Quirks) -> JsonValue:
    texts: list[str] = []
    reasoning: list[str] = []
    calls: list[JsonValue] = []
    for item in turn.items:
        match item.block:
            case TextBlock(text):
                texts.append(text)
            case ReasoningBlock(text):
                reasoning.append(text)
            case ToolUseBlock(call_id, name, arguments):
                function: JsonObject = {"name": sent_name(name), "arguments": canonical(arguments).decode()}
                calls.append({"id": _call_id(call_id, quirks), "type": "function", "function": function})
            case ToolResultBlock():
                raise TypeError("results belong to user turns")
            case _:
                assert_never(item.block)
    message: JsonObject = {"role": "assistant", "content": "\n\n".join(texts) if texts else None}
    if quirks.return_reasoning:
        message["reasoning_content"] = "\n\n".join(reasoning)  # present even where it is empty
    if calls:
        message["tool_calls"] = calls
    return message
