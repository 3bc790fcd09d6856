"""What the tool panel is told of tools: parts of the ack of `explain_tools`."""

from dataclasses import dataclass
from typing import Literal

from openprogram.core.intent import IntentField, Layer
from openprogram.core.prompt import Residency
from openprogram.core.tooling import DropReason

ToolStateName = Literal["on", "off", "deferred", "loaded", "unavailable", "down", "refused_by_mode"]
"""`down` and `refused_by_mode`: the tool is there as `residency` says, and its calls fail for now (`detail` says why).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolState:
    """One registered tool as this chat sees it now."""

    name: str
    description: str
    source: str
    state: ToolStateName
    reason: DropReason | None
    detail: str
    residency: Residency
    tokens: int | None
    """What its schema costs each request that declares it, in tokens of the chat's model; None where not counted yet.
    """
    tokens_now: int | None
    """What it costs each request as things are: the schema where it is declared, a line where the catalog names it."""
    switchable: bool
    """Whether `set_tool_disabled` applies (the chip's tools are the chip's)."""
    switched_off: bool
    """Whether this chat's own switch takes it away."""
    layer: Layer | None = None
    """Whose wish takes it away; None where it is not a wish, or the tool is on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Which layer decided a field of the merged intent, and to what."""

    field: IntentField
    layer: Layer
    value: bool | str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowOffer:
    """The chat's picked names look like a copy of what `preset` once meant: following it brings new tools again.

    `web_search`: the copy had it and the preset has not, so following takes the chip too.
    """

    preset: str
    web_search: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBudget:
    """What each request of a chat pays for tools, in tokens of its model; None where not everything is counted yet.

    `resident` is the price of the `declared` tools, `catalog` that of naming the `deferred` ones. `overhead` is what
    the model's vendor adds. `ratio` is the model's tokens for one of o200k, from `samples` answers (0: assumed).
    """

    model: str | None
    declared: int
    resident: int | None
    deferred: int
    catalog: int | None
    overhead: int
    ratio: float
    samples: int
