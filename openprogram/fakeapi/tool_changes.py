"""Reading an Anthropic request: its betas, the tools it declares, and those that its messages add or take away.

Two ways lead to a tool that is not declared outright: a `tool_reference` in a tool result (tool search), and
`tool_addition` / `tool_removal` blocks in system messages. Everything here takes requests of any shape: what is
malformed is left out, and the rules say so elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from openprogram.fakeapi.shapes import JsonObject, child, objects, walk_messages

CHANGES: Final = ("tool_addition", "tool_removal")
BY_REFERENCE: Final = "mid-conversation-tool-changes-2026-07-01"
BY_VALUE: Final = "inline-tools-2026-09-15"
MCP_BY_VALUE: Final = "mcp-client-2026-09-15"


def betas(headers: Mapping[str, str]) -> frozenset[str]:
    """The betas that a request asks for."""
    names = headers.get("anthropic-beta", "").split(",")
    return frozenset(name.strip() for name in names if name.strip())


@dataclass(frozen=True, slots=True)
class Change:
    """A `tool_addition` or `tool_removal` block: where it stands and which tool it means."""

    index: int
    position: int
    block: JsonObject

    @property
    def where(self) -> str:
        """Its place as error messages name it."""
        return f"messages.{self.index}.content.{self.position}"

    @property
    def adds(self) -> bool:
        """Whether the tool comes; else it goes."""
        return self.block.get("type") == "tool_addition"

    @property
    def target(self) -> JsonObject:
        """The reference, or the wrapper of the definition."""
        return child(self.block, "tool")

    @property
    def definition(self) -> JsonObject | None:
        """The definition, where the tool is given by value."""
        return child(self.target, "definition") if self.target.get("type") == "tool_definition" else None

    @property
    def key(self) -> str:
        """What names the tool: see `tool_key`."""
        target = self.definition if self.definition is not None else self.target
        return tool_key(target)


def tool_key(tool: JsonObject) -> str:
    """A tool's name; an MCP server's toolset, and a tool of it, belong to their server."""
    server = tool.get("mcp_server_name", tool.get("server_name"))
    if isinstance(server, str):
        return f"{server}/*"
    return str(tool.get("name"))


def changes(body: JsonObject) -> Iterator[Change]:
    """Every change of the tools in the messages, in order."""
    for index, message, position, block in walk_messages(body):
        if message.get("role") == "system" and block.get("type") in CHANGES:
            yield Change(index, position, block)


def declared(body: JsonObject) -> dict[str, JsonObject]:
    """The tools of the request's array by name, deferred ones included."""
    return {tool_key(tool): tool for tool in objects(body.get("tools"))}


def known(body: JsonObject) -> dict[str, JsonObject]:
    """The tools that are declared, or defined in the messages, by name; the newest definition of each."""
    defined = {change.key: change.definition for change in changes(body) if change.definition is not None}
    return {**declared(body), **defined}


def is_deferred(tool: JsonObject) -> bool:
    """Whether a tool is left out of the prompt until something refers to it."""
    return tool.get("defer_loading") is True


def available(body: JsonObject) -> dict[str, JsonObject]:
    """The tools that the model may call after the last message, by name."""
    known = declared(body)
    offered = {name: tool for name, tool in known.items() if not is_deferred(tool)}
    for _, message, _, block in walk_messages(body):
        for name in referenced(block):
            if name in known:
                offered[name] = known[name]
        if message.get("role") != "system" or block.get("type") not in CHANGES:
            continue
        change = Change(0, 0, block)
        if change.definition is not None:
            known[change.key] = change.definition
        if change.adds and change.key in known:
            offered[change.key] = known[change.key]
        elif not change.adds:
            offered.pop(change.key, None)
    return offered


def referenced(block: JsonObject) -> list[str]:
    """The tools that a tool result discovers."""
    inner = objects(block.get("content"))
    return [str(part.get("tool_name")) for part in inner if part.get("type") == "tool_reference"]


def changes_scaffold(body: JsonObject) -> bool:
    """Whether the hidden text that explains tool changes stands before the tools. Measured: it comes with the
    first change, and so costs the whole prefix once, unless a deferred tool is declared that nothing activates."""
    changed = list(changes(body))
    activated = {change.key for change in changed if change.adds}
    for _, _, _, block in walk_messages(body):
        activated.update(referenced(block))
    return bool(changed) and not any(
        is_deferred(tool) and tool_key(tool) not in activated for tool in objects(body.get("tools"))
    )


def drops_misbound(body: JsonObject) -> bool:
    """Whether a thinking block behind another prefix is to be left out instead of refused."""
    binding = child(child(body, "thinking"), "block_binding")
    return binding.get("prefix_mismatch_behavior") == "drop_block"
