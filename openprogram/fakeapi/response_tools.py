"""Reading what an OpenAI Responses request says about tools: declared, deferred, added or found later.

Everything here takes requests of any shape: what is malformed is left out, and the rules say so elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from openprogram.fakeapi.shapes import JsonObject, objects

SearchMode: TypeAlias = Literal["none", "server", "client"]


@dataclass(frozen=True, slots=True)
class Function:
    """A function, with the namespace that it stands in."""

    definition: JsonObject
    namespace: str | None

    @property
    def name(self) -> str:
        """Its name within the namespace."""
        return str(self.definition.get("name"))

    @property
    def deferred(self) -> bool:
        """Whether it is no part of the prompt until it is loaded."""
        return self.definition.get("defer_loading") is True


def input_items(body: JsonObject) -> list[JsonObject]:
    """The input as items; a plain string is one message of the person's, an item without type a message."""
    given = body.get("input")
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return [{**item, "type": str(item.get("type", "message"))} for item in objects(given)]


def functions(tools: Any) -> Iterator[Function]:
    """Every function in a list of tools, those in namespaces included."""
    for tool in objects(tools):
        if tool.get("type") == "function":
            yield Function(tool, None)
        elif tool.get("type") == "namespace":
            for inner in objects(tool.get("tools")):
                if inner.get("type") == "function":
                    yield Function(inner, str(tool.get("name")))


def added(body: JsonObject) -> Iterator[Function]:
    """The functions that input items bring: additional tools, and what a search found."""
    for item in input_items(body):
        if item.get("type") in ("additional_tools", "tool_search_output"):
            yield from functions(item.get("tools"))


def available(body: JsonObject) -> dict[str, Function]:
    """What the model may call after the last item, by name. A later addition replaces an earlier one."""
    resident = [function for function in functions(body.get("tools")) if not function.deferred]
    return {function.name: function for function in (*resident, *added(body))}


def loadable(body: JsonObject) -> dict[str, Function]:
    """The deferred functions that the provider's own search can still load."""
    here = available(body)
    if search_mode(body.get("tools")) != "server":
        return {}
    return {f.name: f for f in functions(body.get("tools")) if f.deferred and f.name not in here}


def search_mode(tools: Any) -> SearchMode:
    """Who searches for tools: nobody, the provider, or the client."""
    for tool in objects(tools):
        if tool.get("type") == "tool_search":
            return "client" if tool.get("execution") == "client" else "server"
    return "none"


def search_tool(tools: Any) -> JsonObject:
    """The declaration of the search, or an empty object."""
    return next((tool for tool in objects(tools) if tool.get("type") == "tool_search"), {})


def any_deferred(tools: Any) -> bool:
    """Whether any tool of a list is deferred: a function, one in a namespace, or an MCP server."""
    flat: Iterable[JsonObject] = (part for tool in objects(tools) for part in (tool, *objects(tool.get("tools"))))
    return any(part.get("defer_loading") is True for part in flat)
