"""What a chat stores about tools: the user's intent, never the tools it meant on some day (spec tools.md section 1)."""

from dataclasses import dataclass, field
from typing import Literal

ChipState = Literal["off", "on", "unavailable"]
Layer = Literal["override", "session", "project", "profile", "default"]
IntentField = Literal["enabled", "toolset", "web_search", "disabled", "picked", "allowed"]


@dataclass(frozen=True, slots=True)
class ToolIntent:
    """One layer's wishes; `None` in a field falls through to the layer below.

    `disabled` is kept sorted and without duplicates, so that equal wishes are equal values. `picked` keeps its order.
    """

    enabled: bool | None = None
    toolset: str | None = None
    web_search: bool | None = None
    disabled: tuple[str, ...] = ()
    picked: tuple[str, ...] | None = None
    allowed: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        ordered = tuple(sorted(set(self.disabled)))
        if ordered != self.disabled:
            object.__setattr__(self, "disabled", ordered)


@dataclass(frozen=True, slots=True)
class StoredIntent:
    """An intent with the revision under which the store holds it; a chat that has none yet is at revision 0."""

    intent: ToolIntent = field(default_factory=ToolIntent)
    revision: int = 0


@dataclass(frozen=True, slots=True)
class ChipEffect:
    """What the web-search chip really is now, with the reason when it is not simply what was clicked."""

    state: ChipState
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Effective:
    """The effective state that the interface shows, as opposed to the stored intent."""

    web_search: ChipEffect
