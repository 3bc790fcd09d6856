"""A request in the wire format of OpenAI's Responses API. Pure.

Nothing is stored at the vendor (`store` false): each request carries the whole conversation as input items, the model's
encrypted reasoning among them. Item shapes: `ResponseInputItemParam` of the SDK's types.
"""

from typing import Final, assert_never

import orjson

from openprogram.core.jsonio import JsonObject, JsonValue, canonical, digest
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
from openprogram.core.prompt import ModelParams, ProviderRequest
from openprogram.core.surface import Delta, Strategy
from openprogram.providers.catalog import ModelFacts
from openprogram.providers.history import Item, Keep, Turn, arrange, as_called, image_note, keep_bound, short_call_id

LOADING: Final[JsonObject] = {
    "type": "tool_search",
    "execution": "client",
    "description": "Reserved: tools are loaded by the application itself. Never call this.",
    "parameters": {"type": "object", "properties": {}},
}
"""Declared from the first request where tools come as the output of searches. The model searches by our own tool."""
SEARCH_SOURCES: Final = "web_search_call.action.sources"
"""Asked for beside an answer, and no part of the prompt."""
KEY_CHARS: Final = 64
"""Longest `prompt_cache_key`."""
_CALL_ID_CHARS: Final = 64
_SEALED: Final = ("encrypted_content", "id", "summary")


def request_body(request: ProviderRequest, model_id: str, facts: ModelFacts) -> JsonObject:
    """The JSON body of one streaming request. `model_id` is `endpoint/model`, for reasoning that may go back."""
    items: list[JsonValue] = []
    keep = keep_bound(request, _own_reasoning(model_id))
    for turn in arrange(request.messages, keep, request.deltas):
        match turn.role:
            case "user":
                items.extend(_user(turn, facts))
            case "assistant":
                items.extend(_assistant(turn))
            case "system":
                items.extend(_changes(turn, request.strategy))
            case _:
                assert_never(turn.role)
    body: JsonObject = {"model": request.model, "input": items, "stream": True, "store": False}
    instructions = "\n\n".join(text for text in request.system if text.strip())
    if instructions:
        body["instructions"] = instructions
    if request.tools:
        body["tools"] = [wire_tool(tool) for tool in request.tools]
        if request.allowed is not None:
            body["tool_choice"] = _choice(request.allowed, request.tools)
    if request.strategy == "client_tool_search":
        body["tools"] = [*(wire_tool(tool) for tool in request.tools), dict(LOADING)]
    if request.cache_key:
        body["prompt_cache_key"] = request.cache_key[:KEY_CHARS]
    if request.diagnose and request.compared_with is not None:
        body["prompt_cache_options"] = {"comparison_response_id": request.compared_with}
    body |= settings(request.params, facts)
    if any("hosted" in tool for tool in request.tools):
        included = body.get("include")
        body["include"] = [*(included if isinstance(included, list) else ()), SEARCH_SOURCES]
    return body


def _choice(names: tuple[str, ...], declared: tuple[JsonObject, ...]) -> JsonValue:
    """Only these of the declared tools: not a part of the cached prompt."""
    hosted = {tool["name"]: tool["hosted"] for tool in declared if "hosted" in tool}
    tools: list[JsonValue] = [
        {"type": hosted[name]} if name in hosted else {"type": "function", "name": name} for name in names
    ]
    return {"type": "allowed_tools", "mode": "auto", "tools": tools} if tools else "none"


def settings(params: ModelParams, facts: ModelFacts) -> JsonObject:
    """Output length, reasoning and sampling, in the form that this model takes."""
    body: JsonObject = {}
    if params.max_output_tokens is not None:
        body["max_output_tokens"] = params.max_output_tokens
    if params.temperature is not None and facts.takes_temperature:
        body["temperature"] = params.temperature
    if facts.thinking != "none":
        reasoning: JsonObject = {"summary": "auto"}
        if params.effort is not None:
            reasoning["effort"] = params.effort
        body["reasoning"] = reasoning
        body["include"] = ["reasoning.encrypted_content"]
    return body


def wire_tool(tool: JsonObject) -> JsonObject:
    """A declaration in this wire format."""
    if "hosted" in tool:
        return {"type": tool["hosted"]}
    return {
        "type": "function",
        "name": tool["name"],
        "description": tool["description"],
        "parameters": tool["parameters"],
        "strict": False,
    }


def _user(turn: Turn, facts: ModelFacts) -> list[JsonValue]:
    items: list[JsonValue] = []
    texts: list[JsonValue] = []
    for item in turn.items:
        match item.block:
            case ToolResultBlock(call_id, _, content):
                output = _output(content, facts)
                items.append({"type": "function_call_output", "call_id": _call_id(call_id), "output": output})
            case TextBlock(text):
                texts.append({"type": "input_text", "text": text})
            case ToolUseBlock() | ReasoningBlock() | HostedBlock() | Delta():
                raise TypeError("a user turn holds text and results only")
            case _:
                assert_never(item.block)
    if texts:
        items.append({"type": "message", "role": "user", "content": texts})
    return items


def _output(content: tuple[ResultPart, ...], facts: ModelFacts) -> JsonValue:
    """Plain text where that is all there is, as most results are and every server takes."""
    if facts.images and any(isinstance(part, ImageBlock) for part in content):
        return [_part(part) for part in content if isinstance(part, ImageBlock) or part.text.strip()]
    return "\n\n".join(image_note(part) if isinstance(part, ImageBlock) else part.text for part in content)


def _part(part: ResultPart) -> JsonValue:
    match part:
        case TextBlock(text):
            return {"type": "input_text", "text": text}
        case ImageBlock(media_type, data):
            return {"type": "input_image", "detail": "auto", "image_url": f"data:{media_type};base64,{data}"}
        case _:
            assert_never(part)


def _assistant(turn: Turn) -> list[JsonValue]:
    return [sent for item in turn.items for sent in _items(item)]


def _items(item: Item) -> list[JsonValue]:
    match item.block:
        case HostedBlock():
            return list(item.block.items)
        case TextBlock(text):
            part: JsonObject = {"type": "output_text", "text": text, "annotations": list(item.sources)}
            return [{"type": "message", "role": "assistant", "content": [part]}]
        case _:
            return [_item(item.block)]


def _changes(turn: Turn, strategy: Strategy) -> list[JsonValue]:
    """Tools that came in mid-conversation, in the form of the strategy, and what has to be said of others."""
    items: list[JsonValue] = []
    for item in turn.items:
        if not isinstance(item.block, Delta):
            raise TypeError("a system turn holds changes of the tools only")
        if item.block.text:
            said: JsonObject = {"type": "input_text", "text": item.block.text}
            items.append({"type": "message", "role": "developer", "content": [said]})
        if item.block.defined:
            items += _loaded(item.block) if strategy == "client_tool_search" else [_added(item.block)]
    return items


def _added(delta: Delta) -> JsonValue:
    tools: list[JsonValue] = [wire_tool(tool) for tool in delta.defined]
    return {"type": "additional_tools", "role": "developer", "tools": tools}


def _loaded(delta: Delta) -> list[JsonValue]:
    """A search that the application made by itself, and what it found."""
    names: list[JsonValue] = list(delta.offered)
    same: JsonObject = {"call_id": f"call_{digest([delta.after, names])}", "execution": "client", "status": "completed"}
    tools: list[JsonValue] = [{**wire_tool(tool), "defer_loading": True} for tool in delta.defined]
    return [
        {"type": "tool_search_call", "arguments": {"names": names}, **same},
        {"type": "tool_search_output", "tools": tools, **same},
    ]


def _item(block: ReasoningBlock | ToolUseBlock | ToolResultBlock | Delta) -> JsonValue:
    match block:
        case ReasoningBlock():
            return {"type": "reasoning", **(_sealed(block) or {})}
        case ToolUseBlock(call_id):
            call = as_called(block)
            text = canonical(call.arguments).decode()
            return {"type": "function_call", "call_id": _call_id(call_id), "name": call.name, "arguments": text}
        case ToolResultBlock() | Delta():
            raise TypeError("an answer holds text, reasoning and calls only")
        case _:
            assert_never(block)


def signature_of(item: JsonObject) -> str | None:
    """What proves a reasoning item to the API: all of the item that goes back, as canonical JSON. None where it has
    no encrypted content and so proves nothing."""
    if not isinstance(item.get("encrypted_content"), str):
        return None
    kept: JsonObject = {"summary": []} | {name: item[name] for name in _SEALED if name in item}
    return canonical(kept).decode()


def _sealed(block: ReasoningBlock) -> JsonObject | None:
    """The item that `signature_of` kept; None for what another API signed, under the same name of an endpoint."""
    try:
        kept = orjson.loads(block.signature or "")
    except orjson.JSONDecodeError:
        return None
    return kept if isinstance(kept, dict) and "encrypted_content" in kept else None


def _own_reasoning(model_id: str) -> Keep:
    """Reasoning that this model made here and can prove, and what it did by itself; any other model's is left out
    (C14)."""

    def keep(message: Message, block: ReasoningBlock | HostedBlock) -> bool:
        return message.model == model_id and (isinstance(block, HostedBlock) or _sealed(block) is not None)

    return keep


def _call_id(call_id: str) -> str:
    return short_call_id(call_id, _CALL_ID_CHARS)
