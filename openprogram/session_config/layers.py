"""Layers of intent and how they become one: per-turn override > session > project > agent profile > default (T9)."""

from dataclasses import dataclass
from typing import Final, get_args

from openprogram.core.intent import IntentField, Layer, ToolIntent
from openprogram.core.protocol.tool_frames import Decided

_ORDER: Final[tuple[Layer, ...]] = get_args(Layer)
_FIELDS: Final[tuple[IntentField, ...]] = get_args(IntentField)
_NOTHING: Final = ToolIntent()


@dataclass(frozen=True, slots=True)
class Layers:
    """What each layer wishes, highest first. A layer that wishes nothing is an empty intent."""

    override: ToolIntent = _NOTHING
    session: ToolIntent = _NOTHING
    project: ToolIntent = _NOTHING
    profile: ToolIntent = _NOTHING
    default: ToolIntent = _NOTHING

    def of(self, layer: Layer) -> ToolIntent:
        """The intent of one layer."""
        match layer:
            case "override":
                return self.override
            case "session":
                return self.session
            case "project":
                return self.project
            case "profile":
                return self.profile
            case "default":
                return self.default


def merge(layers: Layers) -> ToolIntent:
    """The intent in force: each field from the highest layer that says anything; all `disabled` lists united."""
    enabled = toolset = web_search = picked = allowed = None
    disabled: set[str] = set()
    for layer in _ORDER:
        intent = layers.of(layer)
        enabled = intent.enabled if enabled is None else enabled
        toolset = intent.toolset if toolset is None else toolset
        web_search = intent.web_search if web_search is None else web_search
        picked = intent.picked if picked is None else picked
        allowed = intent.allowed if allowed is None else allowed
        disabled.update(intent.disabled)
    return ToolIntent(enabled, toolset, web_search, tuple(disabled), picked, allowed)


def explain(layers: Layers, field: IntentField) -> Decided:
    """Which layer decided a field of the merged intent, and to what; `default` where no layer says anything.

    Of `disabled`, which all layers decide together, the highest layer with a part in it.
    """
    said = [layer for layer in _ORDER if _says(layers.of(layer), field)]
    return Decided(field=field, layer=said[0] if said else "default", value=_value(merge(layers), field))


def explain_all(layers: Layers) -> tuple[Decided, ...]:
    """`explain` for every field, in the order of the fields."""
    return tuple(explain(layers, field) for field in _FIELDS)


def disabled_by(layers: Layers, name: str) -> Layer | None:
    """The highest layer that switches this tool off. Only where that is `session` can the chat's own switch lift it."""
    return next((layer for layer in _ORDER if name in layers.of(layer).disabled), None)


def _says(intent: ToolIntent, field: IntentField) -> bool:
    return bool(intent.disabled) if field == "disabled" else _value(intent, field) is not None


def _value(intent: ToolIntent, field: IntentField) -> bool | str | tuple[str, ...] | None:
    match field:
        case "enabled":
            return intent.enabled
        case "toolset":
            return intent.toolset
        case "web_search":
            return intent.web_search
        case "disabled":
            return intent.disabled
        case "picked":
            return intent.picked
        case "allowed":
            return intent.allowed
