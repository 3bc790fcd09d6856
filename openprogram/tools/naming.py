"""Names that every provider takes and that stay the same over restarts, orders of registration and orders of listing.

A tool keeps the name that it asks for where it can. Of several that ask for one name, the first by kind of source
(built-in, plug-in, MCP), source, and declaration keeps it; the others get a suffix made of what they are.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import count
from operator import itemgetter
from typing import Final

from openprogram.core.jsonio import canonical, digest
from openprogram.core.surface import RESERVED_NAMES
from openprogram.core.tooling import ToolSpec

MAX_LENGTH: Final = 64
_SUFFIX_LENGTH: Final = 8
_FOREIGN: Final = re.compile(r"[^a-zA-Z0-9_-]")
_KINDS: Final = ("builtin", "plugin", "mcp")


def unique_names(tools: Iterable[ToolSpec]) -> tuple[tuple[str, ToolSpec], ...]:
    """Each tool with the valid name that is its own, sorted by that name. Reserved names are nobody's (cache.md C8)."""
    taken: dict[str, ToolSpec] = {}
    for tool in sorted(tools, key=_claim):
        free = (name for name in _candidates(tool) if name not in taken and name not in RESERVED_NAMES)
        taken[next(free)] = tool
    return tuple(sorted(taken.items(), key=itemgetter(0)))


def _claim(tool: ToolSpec) -> tuple[int, str, str, bytes]:
    kind = tool.source.partition(":")[0]
    rank = _KINDS.index(kind) if kind in _KINDS else len(_KINDS)
    return rank, tool.source, tool.name, canonical([tool.declaration, tool.version])


def _candidates(tool: ToolSpec) -> Iterator[str]:
    """Names for a tool, the best first; never ends."""
    plain = _FOREIGN.sub("_", tool.name) or "tool"
    if len(plain) <= MAX_LENGTH:
        yield plain
    stem = plain[: MAX_LENGTH - _SUFFIX_LENGTH - 1]
    yield f"{stem}_{digest([tool.source, tool.name])[:_SUFFIX_LENGTH]}"
    # A server may list one name twice; what the two say tells them apart, not the order in which they came.
    for attempt in count():
        yield f"{stem}_{digest([tool.source, tool.declaration, attempt])[:_SUFFIX_LENGTH]}"
