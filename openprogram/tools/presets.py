"""Toolsets: the built-in ones, those read from data, and what a preset means today (spec tools.md T14).

A built-in preset lists no names: it says which attribute its tools have, so that it never names what does not exist and
a tool added tomorrow is in it tomorrow.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final, Literal

from openprogram.core.errors import ConfigError
from openprogram.core.jsonio import JsonValue
from openprogram.core.tooling import Preset, ToolSpec

DEFAULT: Final = "default"

BUILTIN_PRESETS: Final = (
    Preset(
        DEFAULT,
        "Default",
        "Files, shell and page fetching, with all plug-ins and MCP servers",
        # Web search is the chip's to add.
        ("@resident", "@plugin", "@mcp", "-@provides:web_search"),
    ),
    Preset("full", "Everything", "Every tool there is, now and later", ("*",)),
    Preset("coding", "Coding", "Read, change and run a code base", ("@preset:coding",)),
    Preset("research", "Research", "Search and read, on the web and in files", ("@preset:research",)),
    Preset("browser", "Browser", "Open and use web pages", ("@preset:browser",)),
    Preset("safe", "Safe", "Look only: no shell, no writing, no network", ("@readonly", "-@network")),
    Preset("none", "None", "No tools"),
)

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}")
_ATTRIBUTE: Final = re.compile(r"@(builtin|plugin|mcp|readonly|resident|network)|@(plugin|mcp|provides|preset):.+")
_PATTERN_SIGNS: Final = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Expansion:
    """The names that a preset means among today's tools, and the names in it that no tool has (both sorted)."""

    names: tuple[str, ...]
    unknown: tuple[str, ...]


def combine(*groups: Iterable[Preset]) -> Mapping[str, Preset]:
    """Presets by name, in the order given, the built-in ones first.

    Raises `ConfigError` for a name that is taken, an attribute that does not exist, an `includes` that leads nowhere
    or in a circle; so that what is in a snapshot can always be expanded.
    """
    found = {preset.name: preset for preset in BUILTIN_PRESETS}
    for preset in (preset for group in groups for preset in group):
        where = f"presets.{preset.name}"
        if preset.name in found:
            kind = "built in" if found[preset.name] in BUILTIN_PRESETS else "defined already"
            raise ConfigError(f"the preset {preset.name!r} is {kind}", field=where, hint="choose another name")
        for entry in preset.entries:
            _check_entry(entry, f"{where}.entries")
        found[preset.name] = preset
    for name in found:
        _order_of(name, found)
    return MappingProxyType(found)


def expand(name: str, presets: Mapping[str, Preset], tools: Iterable[ToolSpec]) -> Expansion:
    """What the preset `name` means among `tools`: the includes first, then its entries in order.

    Raises `ConfigError` as `combine` does; `KeyError` if there is no such preset.
    """
    tools = tuple(tools)
    known = {tool.name for tool in tools}
    done: dict[str, frozenset[str]] = {}
    unknown: set[str] = set()
    for preset in map(presets.__getitem__, _order_of(name, presets)):
        members = frozenset[str]().union(*(done[included] for included in preset.includes))
        for entry in preset.entries:
            wanted = entry.removeprefix("-")
            if _is_name(wanted) and wanted not in known:
                unknown.add(wanted)
            matched = {tool.name for tool in tools if _matches(tool, wanted)}
            members = members - matched if entry.startswith("-") else members | matched
        done[preset.name] = members
    return Expansion(tuple(sorted(done[name])), tuple(sorted(unknown)))


def read_presets(value: JsonValue, source: Literal["config", "user"]) -> tuple[Preset, ...]:
    """Presets from configuration: `{name: {"title", "description", "entries": [...], "includes": [...]}}`.

    Raises `ConfigError` with the path of what cannot be read.
    """
    if not isinstance(value, dict):
        raise ConfigError("presets are a table of name to preset", field="presets")
    return tuple(_read_preset(name, table, source) for name, table in value.items())


def _read_preset(name: str, table: JsonValue, source: Literal["config", "user"]) -> Preset:
    where = f"presets.{name}"
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r} is no name for a preset", field=where, hint="up to 64 letters, digits, ' ._-'")
    if not isinstance(table, dict):
        raise ConfigError("a preset is a table", field=where)
    strange = sorted(table.keys() - {"title", "description", "entries", "includes"})
    if strange:
        raise ConfigError(f"a preset has no field {strange[0]!r}", field=f"{where}.{strange[0]}")
    return Preset(
        name,
        _text(table.get("title", name), f"{where}.title"),
        _text(table.get("description", ""), f"{where}.description"),
        _texts(table.get("entries", []), f"{where}.entries"),
        _texts(table.get("includes", []), f"{where}.includes"),
        source,
    )


def _text(value: JsonValue, where: str) -> str:
    if not isinstance(value, str):
        raise ConfigError("must be a text", field=where)
    return value


def _texts(value: JsonValue, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ConfigError("must be a list of texts", field=where)
    return tuple(_text(item, f"{where}.{index}") for index, item in enumerate(value))


def _check_entry(entry: str, where: str) -> None:
    wanted = entry.removeprefix("-")
    if not wanted:
        raise ConfigError("an entry is empty", field=where)
    if wanted.startswith("@") and not _ATTRIBUTE.fullmatch(wanted):
        raise ConfigError(
            f"there is no attribute {wanted!r}",
            field=where,
            hint="@builtin @plugin @plugin:NAME @mcp @mcp:SERVER @readonly @resident @network @provides:X @preset:NAME",
        )


def _order_of(name: str, presets: Mapping[str, Preset]) -> tuple[str, ...]:
    """`name` and all that it includes, each once, included ones before those that include them."""
    order: dict[str, None] = {}
    path = [name]
    pending = [iter(presets[name].includes)]
    while pending:
        included = next(pending[-1], None)
        if included is None:
            pending.pop()
            order[path.pop()] = None
        elif included in path:
            circle = " > ".join([*path[path.index(included) :], included])
            raise ConfigError(f"presets include each other: {circle}", field=f"presets.{included}.includes")
        elif included not in presets:
            raise ConfigError(
                f"the preset {path[-1]!r} includes {included!r}, which does not exist",
                field=f"presets.{path[-1]}.includes",
                hint="presets: " + ", ".join(presets),
            )
        elif included not in order:
            path.append(included)
            pending.append(iter(presets[included].includes))
    return tuple(order)


def _is_name(entry: str) -> bool:
    return not entry.startswith("@") and not _PATTERN_SIGNS.intersection(entry)


def _matches(tool: ToolSpec, entry: str) -> bool:
    attribute, _, value = entry.partition(":")
    match attribute:
        case "@builtin":
            return tool.source == "builtin"
        case "@plugin" | "@mcp":
            kind = attribute.removeprefix("@")
            return tool.source == f"{kind}:{value}" if value else tool.source.startswith(f"{kind}:")
        case "@readonly":
            return tool.readonly
        case "@resident":
            return tool.residency == "resident"
        case "@network":
            return tool.network
        case "@provides":
            return value in tool.provides
        case "@preset":
            return value in tool.presets
        case _:
            return fnmatchcase(tool.name, entry)
