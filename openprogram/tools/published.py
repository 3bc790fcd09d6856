"""What other packages publish, held to what the program promises of its tools. Pure; docs/plugins.md is the guide."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Final

from openprogram.core.errors import ConfigError
from openprogram.core.jsonio import encode, no_number
from openprogram.core.tooling import ToolSpec
from openprogram.tools.decorator import NAME

RESERVED: Final = frozenset(
    {
        *("agent", "apply_patch", "ask_user", "bash", "edit", "enter_plan_mode", "exit_plan_mode", "git_read", "glob"),
        *("grep", "image_view", "job_output", "job_stop", "list", "list_sessions", "memory_search", "memory_write"),
        *("pdf_read", "playwright_browser", "read", "send_message", "todo", "tool_search", "web_fetch", "web_search"),
        *("worktree_create", "worktree_list", "worktree_remove", "write"),
    }
)
"""Names that this program has or means to have: a plug-in that took one would change what it means one day."""

RESERVED_PREFIX: Final = "mcp__"
"""Names of the tools of MCP servers begin so."""


@dataclass(frozen=True, slots=True)
class CheckedTools:
    """What a plug-in brings, and in words for people why something of it is left out."""

    tools: tuple[ToolSpec, ...]
    problems: tuple[str, ...]


def check_published(published: object, builtin: Collection[str]) -> CheckedTools:
    """Look at what an entry point leads to. `builtin` are the names of the built-in tools.

    Raises `ConfigError` where it is nothing that holds tools.
    """
    kept: dict[str, ToolSpec] = {}
    problems: list[str] = []
    for item in _items(published):
        fault = _fault(item, builtin, kept)
        if fault is None and isinstance(item, ToolSpec):
            # Only the program's own few tools are in every request (spec tools.md T19).
            kept[item.name] = replace(item, residency="deferred")
        else:
            problems.append(f"{_name(item)} is left out: {fault}")
    return CheckedTools(tuple(kept.values()), tuple(problems))


def _items(published: object) -> Iterable[object]:
    if isinstance(published, list | tuple):
        return published
    if isinstance(published, ToolSpec):
        return (published,)
    raise ConfigError(
        f"it publishes {_name(published)}, which is neither a tool nor a list of tools",
        hint="decorate the function with @tool, and name it or a list of such in the entry point",
    )


def _fault(item: object, builtin: Collection[str], kept: Collection[str]) -> str | None:
    """Why this cannot be a tool here, or None."""
    if not isinstance(item, ToolSpec):
        return "it is not a tool; decorate the function with @tool"
    if not NAME.fullmatch(item.name):
        return "its name is not 1 to 64 of A-Z a-z 0-9 _ -"
    if item.name in builtin:
        return "a built-in tool has this name"
    if item.name in RESERVED or item.name.startswith(RESERVED_PREFIX):
        return "this name is reserved for the program"
    if item.name in kept:
        return "the plug-in has another tool of this name"
    if not item.description.strip():
        return "it has no description, which is what the model reads"
    if item.parameters.get("type") != "object":
        return "its parameters are not a JSON schema of type object"
    try:
        encode(item.declaration)
    except (TypeError, ValueError) as error:
        return f"its schema is not JSON ({error})"
    if (path := no_number(item.parameters)) is not None:
        return f"its schema is not JSON (NaN or an infinity at {path})"
    return None


def _name(item: object) -> str:
    if isinstance(item, ToolSpec):
        return str(item.name)[:100]
    return str(getattr(item, "__name__", type(item).__name__))[:100]
