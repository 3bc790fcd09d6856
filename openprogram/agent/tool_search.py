"""`tool_search`: finds deferred tools by what they do, and loads them by name (spec tools.md T17)."""

from collections.abc import Iterable
from typing import Final

from openprogram.core.errors import BadArguments, ToolFailure
from openprogram.core.jsonio import JsonObject, JsonValue, encode
from openprogram.core.messages import ToolUseBlock
from openprogram.core.ports import Selection
from openprogram.core.tooling import DISCOVERY_TOOL, ToolContext, ToolLimits, ToolOutput
from openprogram.tools.decorator import tool

FOUND: Final = 8
"""Most tools that a free text finds."""

_SELECT: Final = "select:"
_CHARACTERS: Final = 60_000
"""Schemas beyond this are left out of a result: their tools are named, and can be selected."""


@tool(
    name=DISCOVERY_TOOL,
    readonly=True,
    parallel_safe=True,
    presets=("coding", "research", "browser"),
    residency="resident",
    limits=ToolLimits(output_chars=_CHARACTERS + 10_000),
)
async def tool_search(context: ToolContext, query: str) -> ToolOutput:
    """Find tools that are not loaded yet, with their schemas. Load what you need by name; it can be called in your next
    step.

    Args:
        query: What the tool should do, in plain words; or select:NAME,NAME to load
    """
    if context.discovery is None:
        raise ToolFailure("There are no further tools here.")
    wanted = query.strip()
    if wanted.startswith(_SELECT):
        names = [name for part in wanted.removeprefix(_SELECT).split(",") if (name := part.strip())]
        if not names:
            raise BadArguments(f"`{_SELECT}` needs the name of a tool.", field="query")
        return _selected(context.discovery.select(names))
    if not wanted:
        raise BadArguments("The query is empty.", field="query")
    found = await context.discovery.find(wanted, FOUND)
    display: JsonObject = {"found": _names(found), "loaded": []}
    if not found:
        return ToolOutput.text("No tool fits. Try other words, or do without.", display=display)
    names_line = ",".join(str(name) for name in _names(found))
    return ToolOutput.text(
        f"{_schemas(found)}\nNothing is loaded yet; {_SELECT}{names_line} would load all.", display=display
    )


def loads(call: ToolUseBlock) -> bool:
    """Whether this call of the tool asks to have tools loaded, and not only found."""
    query = call.arguments.get("query")
    return isinstance(query, str) and query.strip().startswith(_SELECT)


def _selected(selection: Selection) -> ToolOutput:
    lines = []
    if selection.loaded:
        lines += [f"Loaded, ready from your next step: {', '.join(map(str, _names(selection.loaded)))}."]
        lines += [_schemas(selection.loaded)]
    if selection.ready:
        lines += [f"Ready already: {', '.join(selection.ready)}."]
    if selection.unknown:
        lines += [f"Not a tool of this chat: {', '.join(name[:100] for name in selection.unknown)}."]
    display: JsonObject = {"found": [], "loaded": _names(selection.loaded)}
    text = "\n".join(lines)
    useless = not selection.loaded and not selection.ready
    return ToolOutput.error(text, display=display) if useless else ToolOutput.text(text, display=display)


def _names(declarations: Iterable[JsonObject]) -> list[JsonValue]:
    return [declaration["name"] for declaration in declarations]


def _schemas(declarations: Iterable[JsonObject]) -> str:
    """A line of JSON for each tool. Only the first is certain to have its schema, however large."""
    lines: list[str] = []
    size = 0
    for declaration in declarations:
        line = encode(declaration).decode()
        if lines and size + len(line) > _CHARACTERS:
            line = encode({"name": declaration["name"], "parameters": "left out here; select the tool"}).decode()
        lines.append(line)
        size += len(line)
    return "\n".join(lines)
