"""A request in the wire format of Anthropic's Messages API. Pure.

Rules that hold by construction: alternating turns, tool results first and one for each call (`history`); tool names and
call ids in the API's alphabet; no blank text; at most four cache breakpoints, on blocks that take one (`cache_policy`),
none on a deferred tool; changes of the tools in a message of the role `system` between a user turn and an answer;
thinking settings in the form that the model takes (`catalog`).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, assert_never

from openprogram.core.jsonio import JsonObject, JsonValue, digest
from openprogram.core.messages import (
    HostedBlock,
    ImageBlock,
    ReasoningBlock,
    ResultPart,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from openprogram.core.prompt import ModelParams, ProviderRequest
from openprogram.core.surface import Delta, Strategy
from openprogram.providers.cache_policy import BlockPlace, breakpoints
from openprogram.providers.catalog import ModelFacts
from openprogram.providers.history import (
    Item,
    Turn,
    arrange,
    as_called,
    image_note,
    in_results,
    keep_bound,
    own_reasoning,
)

DEFAULT_MAX_TOKENS: Final = 8_192
"""For a model of which nothing is known; the API wants a number."""
USUAL_MAX_TOKENS: Final = 32_000
"""For a known model that could write more: a runaway answer stops here, and the user may have it go on."""
_MIN_THINKING: Final = 1_024
_MARK: Final[JsonObject] = {"type": "ephemeral"}
_CALL_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")

NO_TOOL: Final[JsonObject] = {
    "name": "no_tool",
    "description": "Placeholder: no tool is available at the moment. Never call this.",
    "input_schema": {"type": "object", "properties": {}},
}
"""Declared where no tool is but the history holds calls, which the API refuses without a declaration."""


BETAS: Final[Mapping[Strategy, str]] = {
    "inline_changes": "inline-tools-2026-09-15",
    "reference_changes": "mid-conversation-tool-changes-2026-07-01",
}
"""What the header `anthropic-beta` asks for, in every request of an epoch."""


def request_body(request: ProviderRequest, model_id: str, facts: ModelFacts) -> JsonObject:
    """The JSON body of one streaming request. `model_id` is `endpoint/model`, for reasoning that may go back."""
    keep = keep_bound(request, own_reasoning(model_id))
    turns = arrange(request.messages, keep, request.deltas)
    tools: list[JsonValue] = [wire_tool(tool) for tool in request.tools]
    if not tools and any(isinstance(item.block, ToolUseBlock) for turn in turns for item in turn.items):
        tools = [dict(NO_TOOL)]
    system: list[JsonValue] = [{"type": "text", "text": text} for text in request.system if text.strip()]
    placed = in_results(request.deltas)
    contents = [[block for item in turn.items for block in _blocks(item, placed, facts)] for turn in turns]
    _mark(tools, system, turns, contents, request.previous_length)
    tools += [{**wire_tool(tool), "defer_loading": True} for tool in request.deferred]
    messages: list[JsonValue] = [
        {"role": turn.role, "content": list(content)} for turn, content in zip(turns, contents, strict=True)
    ]
    body: JsonObject = {"model": request.model, "messages": messages, "stream": True}
    if system:
        body["system"] = system
    if tools:
        body["tools"] = tools
    if request.diagnose:
        body["diagnostics"] = {"previous_message_id": request.compared_with}
    return body | settings(request.params, facts)


def settings(params: ModelParams, facts: ModelFacts) -> JsonObject:
    """Output length, thinking and sampling, in the form that this model takes."""
    known = facts.max_output_tokens
    limit = params.max_output_tokens or (min(known, USUAL_MAX_TOKENS) if known else DEFAULT_MAX_TOKENS)
    body: JsonObject = {"max_tokens": limit}
    thinking = params.thinking_budget > 0
    match facts.thinking:
        case "adaptive":
            if thinking or not facts.thinking_can_be_off:
                body["thinking"] = {"type": "adaptive", "display": "summarized"}
                thinking = True
            else:
                body["thinking"] = {"type": "disabled"}
            if params.effort is not None:
                body["output_config"] = {"effort": params.effort}
        case "budget":
            if thinking:
                budget = max(_MIN_THINKING, params.thinking_budget)
                body["thinking"] = {"type": "enabled", "budget_tokens": budget}
                body["max_tokens"] = limit if limit > budget else budget + limit
        case "none":
            thinking = False
        case _:
            assert_never(facts.thinking)
    if params.temperature is not None and facts.takes_temperature and not thinking:
        body["temperature"] = params.temperature
    return body


def wire_tool(tool: JsonObject) -> JsonObject:
    """A declaration in this wire format."""
    if "hosted" in tool:
        return {"type": tool["hosted"], "name": tool["name"]}
    return {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}


def _blocks(item: Item, placed: Mapping[str, Delta], facts: ModelFacts) -> list[JsonObject]:
    block = item.block
    match block:
        case Delta():
            return _changes(block)
        case HostedBlock():
            return [dict(sent) for sent in block.items]
        case TextBlock(text) if item.sources:
            return [{"type": "text", "text": text, "citations": list(item.sources)}]
        case ToolResultBlock(call_id) if call_id in placed:
            found: list[JsonValue] = [
                {"type": "tool_reference", "tool_name": name} for name in placed[call_id].referenced
            ]
            return [{"type": "tool_result", "tool_use_id": _call_id(call_id), "content": found}]
        case _:
            return [_block(block, facts)]


def _changes(delta: Delta) -> list[JsonObject]:
    """A change of the tools as the content of a message of the role `system`."""
    added: list[JsonObject] = [{"type": "tool_definition", "definition": wire_tool(tool)} for tool in delta.defined]
    added += map(_reference, delta.referenced)
    blocks: list[JsonObject] = [{"type": "tool_addition", "tool": tool} for tool in added]
    blocks += [{"type": "tool_removal", "tool": _reference(name)} for name in delta.withdrawn]
    return [*blocks, {"type": "text", "text": delta.text}] if delta.text else blocks


def _reference(name: str) -> JsonObject:
    return {"type": "tool_reference", "name": name}


def _block(block: TextBlock | ReasoningBlock | ToolUseBlock | ToolResultBlock, facts: ModelFacts) -> JsonObject:
    match block:
        case TextBlock(text):
            return {"type": "text", "text": text}
        case ReasoningBlock(_, _, str(redacted)):
            return {"type": "redacted_thinking", "data": redacted}
        case ReasoningBlock(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolUseBlock(call_id):
            call = as_called(block)
            return {"type": "tool_use", "id": _call_id(call_id), "name": call.name, "input": call.arguments}
        case ToolResultBlock(call_id, status, content):
            body: JsonObject = {"type": "tool_result", "tool_use_id": _call_id(call_id)}
            parts = [_part(part, facts) for part in content if isinstance(part, ImageBlock) or part.text.strip()]
            if parts:
                body["content"] = parts
            if status != "ok":
                body["is_error"] = True
            return body
        case _:
            assert_never(block)


def _part(part: ResultPart, facts: ModelFacts) -> JsonValue:
    match part:
        case TextBlock(text):
            return {"type": "text", "text": text}
        case ImageBlock(media_type, data) if facts.images:
            return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
        case ImageBlock():
            return {"type": "text", "text": image_note(part)}
        case _:
            assert_never(part)


def _call_id(call_id: str) -> str:
    """Ids of other APIs may hold any character; the same id always becomes the same one."""
    return call_id if _CALL_ID.fullmatch(call_id) else f"call_{digest(call_id)}"


def _mark(
    tools: list[JsonValue],
    system: list[JsonValue],
    turns: tuple[Turn, ...],
    contents: list[list[JsonObject]],
    previous_length: int,
) -> None:
    """Put the breakpoints on the freshly made blocks."""
    places = [
        BlockPlace(number, index, source, turn.role, markable)
        for number, turn in enumerate(turns)
        for index, (source, markable) in enumerate(_sources(turn))
    ]
    chosen = breakpoints(len(tools), len(system), places, previous_length)
    marked = [contents[turn][index] for turn, index in chosen.blocks]
    for blocks, index in ((tools, chosen.tool), (system, chosen.system)):
        block = blocks[index] if index is not None else None
        if isinstance(block, dict):
            marked.append(block)
    for block in marked:
        block["cache_control"] = dict(_MARK)


def _sources(turn: Turn) -> Iterator[tuple[int, bool]]:
    """For each block of a turn's content where it comes from, and whether it takes a mark."""
    for item in turn.items:
        blocks = 1
        if isinstance(item.block, Delta):
            blocks = len(_changes(item.block))
        elif isinstance(item.block, HostedBlock):
            blocks = len(item.block.items)
        yield from [(item.source, not isinstance(item.block, ReasoningBlock | HostedBlock))] * blocks
