"""OpenAI Responses: reading a request, as the demo model's conversation and as tokenised segments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

from openprogram.fakeapi.answer import decrypted
from openprogram.fakeapi.cache.segments import Prompt, Section, Segment, SegmentTable
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
from openprogram.fakeapi.dialects.openai_marks import explicit, marked
from openprogram.fakeapi.response_tools import (
    available,
    input_items,
    loadable,
    search_mode,
    search_tool,
)
from openprogram.fakeapi.shapes import JsonObject, child, compact, objects, parsed_arguments, without

_MESSAGES: Final[Section] = "messages"
_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")
_SEARCH: Final = "tool_search"


def conversation(body: JsonObject) -> Conversation:
    """A valid request as the demo model sees it."""
    turns: list[Turn] = []
    for item in input_items(body):
        _add_turn(turns, item)
    callable_now = {**available(body), **loadable(body)}
    tools = [ToolDecl(name, child(tool.definition, "parameters")) for name, tool in callable_now.items()]
    if search_mode(body.get("tools")) == "client":
        tools.append(ToolDecl(_SEARCH, child(search_tool(body.get("tools")), "parameters")))
    narrowed, forced = _narrowed(tuple(tools), body.get("tool_choice"))
    return Conversation(tuple(turns), narrowed, forced, thinking_mode(body))


def thinking_mode(body: JsonObject) -> ThinkingMode:
    """Reasoning is always allowed, unless its effort is set to none."""
    return "off" if child(body, "reasoning").get("effort") == "none" else "free"


def _narrowed(tools: tuple[ToolDecl, ...], choice: Any) -> tuple[tuple[ToolDecl, ...], str | None]:
    """The tools that tool_choice leaves, and the one that it forces."""
    if choice == "none":
        return (), None
    if choice == "required":
        return tools, "*"
    if not isinstance(choice, dict):
        return tools, None
    if choice["type"] == "allowed_tools":
        names = {str(tool.get("name", tool.get("type"))) for tool in objects(choice["tools"])}
        kept = tuple(tool for tool in tools if tool.name in names)
        return kept, "*" if choice.get("mode") == "required" else None
    return tools, str(choice.get("name", choice["type"]))


def _add_turn(turns: list[Turn], item: JsonObject) -> None:
    kind = item["type"]
    if kind == "message":
        text = _text(item.get("content"))
        if item["role"] == "assistant":
            _said(turns, text, ())
        elif item["role"] == "user" and spoken(text):
            turns.append(UserTurn(spoken(text)))
    elif kind == "function_call":
        _said(turns, "", (Call(item["call_id"], item["name"], parsed_arguments(item["arguments"])),))
    elif kind == "tool_search_call" and item.get("execution") == "client":
        arguments = item["arguments"]
        _said(turns, "", (Call(str(item.get("call_id")), _SEARCH, arguments if isinstance(arguments, dict) else {}),))
    elif kind == "function_call_output":
        _answered(turns, Result(item["call_id"], _text(item.get("output")), None))
    elif kind == "tool_search_output" and item.get("execution") == "client":
        names = ", ".join(str(tool.get("name")) for tool in objects(item.get("tools")))
        _answered(turns, Result(str(item.get("call_id")), names, None))


def _said(turns: list[Turn], text: str, calls: tuple[Call, ...]) -> None:
    last = turns[-1] if turns else None
    if isinstance(last, AssistantTurn):
        turns[-1] = AssistantTurn("\n".join(part for part in (last.text, text) if part), (*last.calls, *calls))
    else:
        turns.append(AssistantTurn(text, calls))


def _answered(turns: list[Turn], result: Result) -> None:
    last = turns[-1] if turns else None
    if isinstance(last, ResultsTurn):
        turns[-1] = ResultsTurn((*last.results, result))
    else:
        turns.append(ResultsTurn((result,)))


def _text(content: Any) -> str:
    """The text of a string or of text parts; any other part is named by its digest."""
    if isinstance(content, str):
        return content
    parts = []
    for part in objects(content):
        if isinstance(part.get("text"), str):
            parts.append(part["text"])
        elif isinstance(part.get("refusal"), str):
            parts.append(part["refusal"])
        else:
            raw = compact(without(part, "prompt_cache_breakpoint")).encode()
            parts.append(f"[{part.get('type')} {blake2b(raw, digest_size=16).hexdigest()}]")
    return "\n".join(parts)


def prompt(body: JsonObject, table: SegmentTable) -> Prompt:
    """The request as the model reads it: tools, instructions, then the items in their order. Deferred tools
    are no part of it; added and found ones stand at their items. The parameters that the documentation
    counts to the prefix are a marker before everything."""
    segments = [table.marker(_prefix_parameters(body), "tools")]
    segments.extend(_tools(body, table))
    if isinstance(body.get("instructions"), str):
        segments.append(replace(table.segment(f"system:\n{body['instructions']}", "system"), block=False))
    for item in input_items(body):
        segments.append(_item(item, body, table))
    return marked(segments, body, "responses")


def _prefix_parameters(body: JsonObject) -> str:
    return compact(
        {
            "parallel_tool_calls": body.get("parallel_tool_calls", True),
            "format": child(body, "text").get("format"),
            "verbosity": child(body, "text").get("verbosity"),
            "effort": child(body, "reasoning").get("effort"),
            "context_management": body.get("context_management"),
            "service_tier": body.get("service_tier"),
        }
    )


def _tools(body: JsonObject, table: SegmentTable) -> Iterator[Segment]:
    for tool in objects(body.get("tools")):
        if tool.get("defer_loading") is True:
            continue
        shown = tool
        if tool.get("type") == "namespace":
            inner = [part for part in objects(tool.get("tools")) if part.get("defer_loading") is not True]
            shown = {**tool, "tools": inner}
        yield replace(table.segment(compact(shown), "tools"), block=False)


def _item(item: JsonObject, body: JsonObject, table: SegmentTable) -> Segment:
    """One item. A breakpoint can end at what comes from the client as content; ids are no part of it."""
    kind = item["type"]
    if kind == "message":
        role = str(item["role"])
        section: Section = "system" if role in ("system", "developer") else _MESSAGES
        segment = table.segment(f"{role}:\n{_text(item.get('content'))}", section)
        return replace(segment, block=role != "assistant", breakpoint=explicit(item.get("content"), body))
    if kind in _OUTPUTS:
        segment = table.segment(f"result of {item['call_id']}:\n{_text(item.get('output'))}", _MESSAGES)
        return replace(segment, breakpoint=explicit(item.get("output"), body))
    if kind == "function_call":
        text = f"call {item['call_id']} {item['name']} {item['arguments']}"
    elif kind == "reasoning":
        text = decrypted(str(item.get("encrypted_content"))) or ""
    else:
        text = compact(without(item, "id", "status"))
    return replace(table.segment(text, _MESSAGES), block=False)
