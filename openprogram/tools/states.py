"""Every tool as the tool panel shows it: its state now, and why."""

from collections.abc import Callable, Collection, Mapping
from typing import Final, assert_never

from openprogram.core.intent import IntentField, Layer
from openprogram.core.loaded import LoadedSet
from openprogram.core.obstacles import Obstacle
from openprogram.core.prompt import Residency
from openprogram.core.protocol.tool_frames import ToolState, ToolStateName
from openprogram.core.tooling import DISCOVERY_TOOL, Resolution, Snapshot, ToolSpec
from openprogram.session_config.layers import Layers, disabled_by, explain
from openprogram.session_config.patches import WEB_SEARCH

DESCRIBED: Final = 400
"""Characters of a tool's description that go to each tab whenever it asks; a plug-in may have written a book."""


def tool_states(
    snapshot: Snapshot,
    resolution: Resolution,
    switched_off: Collection[str],
    loaded: LoadedSet,
    tokens: Mapping[str, int],
    now: Mapping[str, int],
    layers: Layers | None = None,
    obstacle: Callable[[ToolSpec], Obstacle | None] = lambda _tool: None,
) -> tuple[ToolState, ...]:
    """One line per registered tool, by name. `switched_off` are the chat's own.

    `tokens` prices by name what was counted, `now` what is paid for it as things are. `layers` are what the resolution
    came from: they tell whose wish it is that a tool is not there. `obstacle` tells why calls of one that is
    there would fail now.
    """
    discovery = DISCOVERY_TOOL in resolution.names
    obstacles = {tool.name: found for tool in resolution.kept if (found := obstacle(tool)) is not None}
    return tuple(
        ToolState(
            name=tool.name,
            description=tool.description.partition("\n")[0][:DESCRIBED],
            source=tool.source,
            state=obstacles[tool.name].state
            if tool.name in obstacles
            else _state(tool.name, tool.residency if discovery else "resident", resolution, loaded),
            reason=resolution.dropped[tool.name].reason if tool.name in resolution.dropped else None,
            detail=_detail(tool.name, resolution, obstacles),
            residency=tool.residency,
            tokens=tokens.get(tool.name),
            tokens_now=now.get(tool.name),
            switchable=tool.name != WEB_SEARCH,
            switched_off=tool.name in switched_off,
            layer=_layer(tool.name, resolution, layers),
        )
        for tool in snapshot.tools
    )


def _detail(name: str, resolution: Resolution, obstacles: Mapping[str, Obstacle]) -> str:
    told = resolution.dropped.get(name) or obstacles.get(name)
    return told.detail if told is not None else ""


def _layer(name: str, resolution: Resolution, layers: Layers | None) -> Layer | None:
    drop = resolution.dropped.get(name)
    if drop is None or layers is None:
        return None
    match drop.reason:
        case "tools_off":
            return explain(layers, "enabled").layer
        case "not_in_preset":
            fields: tuple[IntentField, ...] = ("picked", "toolset", "allowed")
            said = (decided for decided in (explain(layers, field) for field in fields) if decided.value is not None)
            return next((decided.layer for decided in said), "default")
        case "switched_off":
            return disabled_by(layers, name)
        case "chip_off":
            return explain(layers, "web_search").layer
        case "profile_forbids" | "source_forbids" | "not_configured":
            return None
        case _:
            assert_never(drop.reason)


def _state(name: str, residency: Residency, resolution: Resolution, loaded: LoadedSet) -> ToolStateName:
    drop = resolution.dropped.get(name)
    if drop is not None:
        return "unavailable" if drop.reason == "not_configured" else "off"
    match residency:
        case "resident":
            return "on"
        case "deferred":
            return "loaded" if name in loaded else "deferred"
        case _:
            assert_never(residency)
