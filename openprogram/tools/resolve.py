"""What an intent means today: the authorised tools in a fixed order, and a reason for each other one. Pure.

    base      nothing where `enabled` is false; else the picked names; else the preset; else `default`, filtered by
              `allowed`
    - disabled
    chip      true adds `web_search` (also to nothing); false takes away all that provide it
    - what the agent profile, the source of the turn or the parent forbids, and what is not configured

Tools are kept in the order of the snapshot, which is by name. Spec tools.md sections 1 and 2.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final

from openprogram.core.intent import ChipEffect, ToolIntent
from openprogram.core.tooling import (
    AgentProfile,
    Drop,
    Origin,
    Permission,
    Resolution,
    Snapshot,
    ToolSpec,
)
from openprogram.session_config.patches import WEB_SEARCH, unknown_preset
from openprogram.tools.presets import DEFAULT, Expansion, expand

FORBIDDEN_BY_ORIGIN: Final = MappingProxyType[Origin, frozenset[Permission]]({"channel": frozenset({"execute"})})
"""A chat channel carries words of people that this server does not know: no shell."""


PEOPLED: Final = frozenset[Origin]({"web"})
"""Where a question card is seen: a person sits at the interface."""


def resolve(
    intent: ToolIntent,
    snapshot: Snapshot,
    profile: AgentProfile,
    origin: Origin,
    *,
    revision: int = 0,
    parent: Resolution | None = None,
) -> Resolution:
    """Expand a merged intent. `revision` is the session intent's; `parent` bounds a subagent (T15).

    Raises `UnknownPreset` with the choices where the preset in force does not exist (T13).
    """
    base = _base(intent, snapshot)
    kept: list[ToolSpec] = []
    dropped: dict[str, Drop] = {}
    for tool in snapshot.tools:
        drop = (
            _unwanted(tool, intent, base) or _forbidden(tool, profile, origin, parent) or _unconfigured(tool, snapshot)
        )
        if drop is None:
            kept.append(tool)
        else:
            dropped[tool.name] = drop
    return Resolution(
        kept=tuple(kept),
        dropped=MappingProxyType(dropped),
        unknown=_unknown(intent, base, snapshot),
        web_search=_chip(intent, snapshot, kept, dropped, base.preset),
        preset=base.preset,
        intent_revision=revision,
        registry_version=snapshot.version,
    )


def turn_view(frozen: Snapshot, live: Snapshot) -> Snapshot:
    """The snapshot against which a running turn asks whether the newest intent still authorises a call (T21).

    Tools and presets are those of the turn's start; presets made since are known, so that choosing one is no error.
    """
    if live is frozen:
        return frozen
    return replace(frozen, presets=MappingProxyType({**live.presets, **frozen.presets}))


@dataclass(frozen=True, slots=True)
class _Base:
    """The set before switches: its names, the preset that it came from, and why a tool is not in it."""

    names: frozenset[str]
    preset: str | None
    outside: Drop
    filtered: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()


def _base(intent: ToolIntent, snapshot: Snapshot) -> _Base:
    if intent.enabled is False:
        return _Base(frozenset(), None, Drop("tools_off", "tools are switched off"))
    if intent.picked is not None:
        return _Base(frozenset(intent.picked), None, Drop("not_in_preset", "not among the picked tools"))
    name = DEFAULT if intent.toolset is None else intent.toolset
    if name not in snapshot.presets:
        raise unknown_preset(name, snapshot.presets)
    expansion = expand(name, snapshot.presets, snapshot.tools)
    outside = Drop("not_in_preset", f"not in the preset {name}")
    if intent.toolset is None and intent.allowed is not None:
        return _filtered(expansion, intent.allowed, outside)
    return _Base(frozenset(expansion.names), name, outside, unknown=expansion.unknown)


def _filtered(expansion: Expansion, allowed: tuple[str, ...], outside: Drop) -> _Base:
    names = frozenset(name for name in expansion.names if _any_matches(allowed, name))
    rest = frozenset(expansion.names) - names
    return _Base(names, DEFAULT, outside, filtered=rest, unknown=expansion.unknown)


def _unwanted(tool: ToolSpec, intent: ToolIntent, base: _Base) -> Drop | None:
    """Why the user does not want this tool, if so."""
    if tool.name == WEB_SEARCH and intent.web_search is True:
        return None
    if tool.name in base.filtered:
        return Drop("not_in_preset", "matches none of the allowed patterns")
    if tool.name not in base.names:
        return base.outside
    # A name may pass to another tool that comes later: off is off for whoever had it (T3).
    if tool.name in intent.disabled or tool.asked_name in intent.disabled:
        return Drop("switched_off", "switched off for this chat")
    if WEB_SEARCH in tool.provides and intent.web_search is False:
        return Drop("chip_off", "web search is switched off")
    return None


def _forbidden(tool: ToolSpec, profile: AgentProfile, origin: Origin, parent: Resolution | None) -> Drop | None:
    if _any_matches(profile.forbidden, tool.name):
        return Drop("profile_forbids", f"the agent profile {profile.name} forbids it")
    if tool.permission in FORBIDDEN_BY_ORIGIN.get(origin, frozenset()):
        return Drop("source_forbids", f"not allowed in a turn from a {origin}")
    if tool.needs_person and origin not in PEOPLED:
        return Drop("source_forbids", f"nobody can be asked in a turn from a {origin}")
    if parent is not None and tool.name not in parent.names:
        return Drop("source_forbids", "the parent chat does not have it")
    return None


def _unconfigured(tool: ToolSpec, snapshot: Snapshot) -> Drop | None:
    reason = snapshot.unavailable.get(tool.name)
    return None if reason is None else Drop("not_configured", reason)


def _unknown(intent: ToolIntent, base: _Base, snapshot: Snapshot) -> tuple[str, ...]:
    picked = intent.picked if intent.picked is not None and intent.enabled is not False else ()
    known = {tool.name for tool in snapshot.tools}
    return tuple(sorted({*base.unknown, *intent.disabled, *picked} - known))


def _chip(
    intent: ToolIntent,
    snapshot: Snapshot,
    kept: Iterable[ToolSpec],
    dropped: dict[str, Drop],
    preset: str | None,
) -> ChipEffect:
    """The effective state: on if the model can search, whatever was clicked (T4)."""
    able = [tool for tool in kept if WEB_SEARCH in tool.provides]
    if able and all(tool.source in snapshot.down for tool in able):
        return ChipEffect("unavailable", snapshot.down[able[0].source])
    if able:
        by_preset = intent.web_search is None and preset is not None
        return ChipEffect("on", f"the preset {preset} has it" if by_preset else None)
    if intent.web_search is True and snapshot.get(WEB_SEARCH) is None:
        return ChipEffect("unavailable", "no web search is installed")
    searching = (tool.name for tool in snapshot.tools if WEB_SEARCH in tool.provides)
    for drop in (dropped[name] for name in searching if name in dropped):
        if drop.reason in ("profile_forbids", "source_forbids", "not_configured"):
            return ChipEffect("unavailable", drop.detail)
    return ChipEffect("off")


def _any_matches(patterns: Iterable[str], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
