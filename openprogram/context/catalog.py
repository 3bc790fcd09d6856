"""The catalog: which tools could be loaded, by bare name, as one bounded text of the system prompt (spec tools.md 3).

Built-in tools stand by name. The tools of a server (MCP or plug-in) stand by name while they fit; then servers collapse
to `server (N)`, the largest first. What the text says is read back from the text, so that what was sent is the record.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from openprogram.core.tooling import ToolSpec

BOUND: Final = 300
"""Most tokens (o200k) of a catalog."""

HEADER: Final = "Tools that can be loaded (query tool_search to find one, or select:NAME to load it):"

Count = Callable[[str], int]
"""Tokens of a text: exact, or more than it has."""

_SERVER: Final = re.compile(r"(?P<label>\S+) \(\d+\)")
_MORE_TOOLS: Final = re.compile(r"and \d+ more tools")
_MORE_SERVERS: Final = re.compile(r"and \d+ more servers")
_STRANGE: Final = re.compile(r"[^\w.-]+", re.ASCII)
# Catalogs of any age are read back: add to these forms, never edit them.


def catalog(tools: Iterable[ToolSpec], count: Count) -> str:
    """The whole text for these deferred tools; empty for none."""
    entries = catalog_entries(tools, count, BOUND - count(f"{HEADER}\n"))
    return "\n".join([HEADER, *entries]) if entries else ""


def counted_texts(tools: Iterable[ToolSpec]) -> Iterator[str]:
    """The texts that `count` is asked about for a catalog of these tools, or of some of them."""
    yield f"{HEADER}\n"
    for tool in tools:
        yield f"{tool.name}\n"
        server = label(tool)
        if server is not None:
            yield server


def catalog_entries(tools: Iterable[ToolSpec], count: Count, room: int = BOUND) -> tuple[str, ...]:
    """One entry per line of the catalog, in at most `room` tokens."""
    names, servers = _sorted_out(tools, count)
    cost = sum(size for _, size in names) + sum(server.cost for server in servers)
    for server in servers:
        if cost > room and server.as_one < server.by_name:
            cost += server.as_one - server.by_name
            server.collapsed = True
    rest = _Rest(count)
    while servers and cost + rest.cost > room:
        cost -= servers.pop().cost
        rest.servers += 1
    while names and cost + rest.cost > room:
        cost -= names.pop()[1]
        rest.tools += 1
    of_servers = (entry for server in sorted(servers, key=_label) for entry in server.entries())
    return (*(name for name, _ in names), *of_servers, *rest.entries())


def uncovered(tools: Iterable[ToolSpec], entries: Iterable[str]) -> tuple[ToolSpec, ...]:
    """The tools that entries of a catalog do not tell of, by name or through their server."""
    told = set(entries)
    labels = {match["label"] for entry in told if (match := _SERVER.fullmatch(entry))}
    all_tools = any(_MORE_TOOLS.fullmatch(entry) for entry in told)
    all_servers = any(_MORE_SERVERS.fullmatch(entry) for entry in told)

    def covered(tool: ToolSpec) -> bool:
        server = label(tool)
        if tool.name in told or server in labels:
            return True
        return all_tools if server is None else all_servers

    return tuple(tool for tool in tools if not covered(tool))


def entries_of(text: str) -> Sequence[str]:
    """The entries of a catalog's text."""
    return text.splitlines()[1:]


def lines_of(text: str) -> tuple[str, ...]:
    """The catalog's lines, its header first, each with its end. Their tokens add up to those of the text."""
    return tuple(f"{line}\n" for line in text.splitlines())


def label(tool: ToolSpec) -> str | None:
    """How the catalog calls a tool's server; None for a built-in tool."""
    kind, _, name = tool.source.partition(":")
    return (_STRANGE.sub("_", name)[:64] or kind) if name else None


@dataclass(slots=True)
class _Server:
    """One server on its way into the catalog: `by_name` tokens with a line for each tool, `as_one` with one for all."""

    label: str
    names: list[str]
    by_name: int
    as_one: int
    collapsed: bool = False

    @property
    def cost(self) -> int:
        """Tokens of its lines."""
        return self.as_one if self.collapsed else self.by_name

    def entries(self) -> list[str]:
        """Its lines."""
        return [f"{self.label} ({len(self.names)})"] if self.collapsed else self.names


@dataclass(slots=True)
class _Rest:
    """What did not fit, by number."""

    count: Count
    tools: int = 0
    servers: int = 0

    @property
    def cost(self) -> int:
        """Tokens of the lines that say so."""
        return sum(self.count(f"{entry}\n") for entry in self.entries())

    def entries(self) -> list[str]:
        """The lines."""
        lines = ((self.tools, "tools"), (self.servers, "servers"))
        return [f"and {number} more {what}" for number, what in lines if number]


def _sorted_out(tools: Iterable[ToolSpec], count: Count) -> tuple[list[tuple[str, int]], list[_Server]]:
    """Built-in tools by name with their cost, and servers, the largest first."""
    builtin: list[tuple[str, int]] = []
    by_label: dict[str, list[tuple[str, int]]] = {}
    for tool in tools:
        server = label(tool)
        (builtin if server is None else by_label.setdefault(server, [])).append((tool.name, count(f"{tool.name}\n")))
    servers = [
        _Server(
            server, sorted(name for name, _ in of_it), sum(size for _, size in of_it), _line(server, len(of_it), count)
        )
        for server, of_it in by_label.items()
    ]
    return sorted(builtin), sorted(servers, key=lambda server: (-len(server.names), server.label))


def _label(server: _Server) -> str:
    return server.label


def _line(server: str, size: int, count: Count) -> int:
    """Tokens of a server's line: its label, ` (`, three digits a token, `)` with the line's end."""
    return count(server) + 2 + (len(str(size)) + 2) // 3
