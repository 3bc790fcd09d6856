"""From a chat's stored intent to what is in force: layers merged, expanded against the live registry."""

from dataclasses import replace
from types import MappingProxyType

from openprogram.core.errors import ConfigError, UnknownPreset
from openprogram.core.events import PermissionMode
from openprogram.core.intent import ChipEffect, Effective, StoredIntent, ToolIntent
from openprogram.core.obstacles import Obstacle
from openprogram.core.prompt import ModelInfo
from openprogram.core.tooling import DISCOVERY_TOOL, Resolution, Snapshot, ToolSpec
from openprogram.session_config.layers import Layers, merge
from openprogram.session_config.patches import WEB_SEARCH
from openprogram.sessions.hosted import as_served
from openprogram.sessions.hub import Hub
from openprogram.tools.obstacles import obstacle
from openprogram.tools.resolve import turn_view

_NOTHING = ToolIntent()


def layers(hub: Hub, session: ToolIntent, project: ToolIntent, override: ToolIntent | None = None) -> Layers:
    """The layers of one chat, highest first. `project` is what the directory that it works in says."""
    return Layers(
        override=override or _NOTHING,
        session=session,
        project=project,
        profile=hub.defaults.profile.intent,
        default=hub.defaults.intent,
    )


def resolution(
    hub: Hub, stored: StoredIntent, snapshot: Snapshot, project: ToolIntent, override: ToolIntent | None = None
) -> Resolution:
    """The chat's tools now. Raises `UnknownPreset` where the preset in force does not exist."""
    intent = merge(layers(hub, stored.intent, project, override))
    return hub.resolutions(intent, snapshot, hub.defaults.profile, "web", stored.revision)


def names_now(
    hub: Hub, stored: StoredIntent, snapshot: Snapshot, project: ToolIntent, override: ToolIntent | None
) -> frozenset[str]:
    """Names of the tools in force, among those of `snapshot`; a preset that vanished authorises nothing (law 6)."""
    try:
        view = turn_view(snapshot, hub.ports.snapshot())
        return frozenset(resolution(hub, stored, view, project, override).names)
    except (UnknownPreset, ConfigError):
        return frozenset()


def hindrance(hub: Hub, mode: PermissionMode, tool: ToolSpec) -> Obstacle | None:
    """Why calls of a tool would fail at this moment in a chat of this mode; the live registry knows what is away."""
    return obstacle(tool, hub.ports.snapshot(), mode, hub.ports.mode_rule)


def seen(hub: Hub, model_id: str | None) -> Snapshot:
    """The registry as a chat with this model (None: the default one) sees it: a search by its provider needs no service
    that is configured here."""
    snapshot = hub.ports.snapshot()
    model = hub.default_model if model_id is None else hub.ports.models.about(model_id)
    return snapshot if model is None else seen_by(model, snapshot)


def seen_by(model: ModelInfo, snapshot: Snapshot) -> Snapshot:
    """The registry as this model has it."""
    if model.capability.hosted_search is None or WEB_SEARCH not in snapshot.unavailable:
        return snapshot
    others = {name: reason for name, reason in snapshot.unavailable.items() if name != WEB_SEARCH}
    return replace(snapshot, unavailable=MappingProxyType(others))


def effective(hub: Hub, stored: StoredIntent, project: ToolIntent, model_id: str | None) -> Effective:
    """What the interface shows; a preset that does not exist makes the chip unavailable, not the chat unusable."""
    try:
        return Effective(resolution(hub, stored, seen(hub, model_id), project).web_search)
    except (UnknownPreset, ConfigError) as error:
        return Effective(ChipEffect("unavailable", error.message))


def floor(snapshot: Snapshot, resolved: Resolution, model: ModelInfo) -> tuple[ToolSpec, ...]:
    """What is declared from the first request on so that later changes are free, where it is configured (C1).

    The chip's tool, and in a chat that has tools the one through which whatever a preset brings in later is found.
    """
    has_tools = any(WEB_SEARCH not in tool.provides for tool in resolved.kept)
    names = (DISCOVERY_TOOL, WEB_SEARCH) if has_tools else (WEB_SEARCH,)
    specs = (snapshot.get(name) for name in names)
    known = (spec for spec in specs if spec is not None and spec.name not in snapshot.unavailable)
    return tuple(as_served(spec, model) for spec in known)
