"""A request in the wire format of Chat Completions, as every OpenAI-compatible server takes it. Pure.

The common ground is narrow: plain strings instead of content parts, one system message at the head, user texts in a row
merged, each call followed by its `tool` message. What single hosts want beyond it is in `hosts.Quirks`.
"""

from typing import Final, assert_never

from openprogram.core.jsonio import JsonObject, JsonValue, canonical
from openprogram.core.messages import (
    HostedBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    ResultPart,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from openprogram.core.prompt import ProviderRequest
from openprogram.core.surface import Delta
from openprogram.providers.catalog import ModelFacts
from openprogram.providers.history import Keep, Turn, arrange, as_called, image_note, short_call_id
from openprogram.providers.hosts import Quirks

PICTURES: Final = "(The pictures above belong to the tool results before them, in their order.)"
_PICTURE_FOLLOWS: Final = "[The picture follows in the next message.]"
_KEY_CHARS: Final = 64


def request_body(request: ProviderRequest, model_id: str, facts: ModelFacts, quirks: Quirks) -> JsonObject:
    """The JSON body of one streaming request. `model_id` is `endpoint/model`, for reasoning that may go back."""
    messages: list[JsonValue] = []
    system = "\n\n".join(text for text in request.system if text.strip())
    if system:
        messages.append({"role": "developer" if quirks.developer_role else "system", "content": system})
    for turn in arrange(request.messages, _own_reasoning(model_id) if quirks.return_reasoning else _none):
        messages.extend(_user(turn, quirks, facts) if turn.role == "user" else [_assistant(turn, quirks)])
    body: JsonObject = {"model": request.model, "messages": messages, "stream": True}
    if request.tools:
        body["tools"] = [wire_tool(tool) for tool in request.tools]
        if request.allowed is not None:
            body["tool_choice"] = _choice(request.allowed)
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


def _choice(names: tuple[str, ...]) -> JsonValue:
    """Only these of the declared tools: not a part of the cached prompt."""
    tools: list[JsonValue] = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools}} if tools else "none"


def _none(message: Message, block: ReasoningBlock | HostedBlock) -> bool:
    return False


def _own_reasoning(model_id: str) -> Keep:
    """These hosts sign nothing: whole reasoning of the same model goes back."""

    def keep(message: Message, block: ReasoningBlock | HostedBlock) -> bool:
        return isinstance(block, ReasoningBlock) and message.model == model_id and bool(block.text)

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
    return call_id if quirks.call_id_chars is None else short_call_id(call_id, quirks.call_id_chars)


def _user(turn: Turn, quirks: Quirks, facts: ModelFacts) -> list[JsonValue]:
    """Results, then what the user says. A tool message takes no pictures: they come first in the user's."""
    messages: list[JsonValue] = []
    texts: list[str] = []
    images: list[ImageBlock] = []
    for item in turn.items:
        match item.block:
            case ToolResultBlock(call_id, _, content):
                text = "\n\n".join(_result_text(part, facts) for part in content)
                images += [part for part in content if isinstance(part, ImageBlock) and facts.images]
                messages.append({"role": "tool", "tool_call_id": _call_id(call_id, quirks), "content": text})
            case TextBlock(text):
                texts.append(text)
            case ToolUseBlock() | ReasoningBlock() | HostedBlock() | Delta():
                raise TypeError("a user turn holds text and results only")
            case _:
                assert_never(item.block)
    if images:
        parts = [_picture(image) for image in images] + [_text_part(text) for text in (PICTURES, *texts)]
        messages.append({"role": "user", "content": parts})
    elif texts:
        messages.append({"role": "user", "content": "\n\n".join(texts)})
    return messages


def _result_text(part: ResultPart, facts: ModelFacts) -> str:
    match part:
        case TextBlock(text):
            return text
        case ImageBlock():
            return _PICTURE_FOLLOWS if facts.images else image_note(part)
        case _:
            assert_never(part)


def _picture(image: ImageBlock) -> JsonValue:
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{image.data}"}}


def _text_part(text: str) -> JsonValue:
    return {"type": "text", "text": text}


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
            case ToolUseBlock(call_id):
                call = as_called(item.block)
                function: JsonObject = {"name": call.name, "arguments": canonical(call.arguments).decode()}
                calls.append({"id": _call_id(call_id, quirks), "type": "function", "function": function})
            case ToolResultBlock() | HostedBlock() | Delta():
                raise TypeError("an answer holds text, reasoning and calls only")
            case _:
                assert_never(item.block)
    message: JsonObject = {"role": "assistant", "content": "\n\n".join(texts) if texts else None}
    if quirks.return_reasoning:
        message["reasoning_content"] = "\n\n".join(reasoning)  # present even where it is empty
    if calls:
        message["tool_calls"] = calls
    return message
