"""What each strategy can do between two rebases, as data (spec cache.md section 1)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from openprogram.core.surface import Capability, Strategy, Surface


@dataclass(frozen=True, slots=True)
class Traits:
    """How a strategy adds and withdraws.

    `adds`: by a `delta` at the end of the history, inside the `result` of the call that searched for it, at the end of
    the declared `array` (a planned miss), or `never`. `by_value`: a delta holds the definition; else it refers to a
    declaration that the endpoint keeps out of the prompt. `withdraws`: by a delta that the endpoint honours, or only by
    telling the model and refusing (a mask). `placeholder`: later deltas are free only if one was declared at first.
    `own_search`: every request declares the API's own form of a search, which an endpoint may not know.
    """

    adds: Literal["delta", "result", "array", "never"]
    by_value: bool = True
    withdraws: bool = False
    placeholder: bool = False
    own_search: bool = False

    @property
    def needs_floor(self) -> bool:
        """Whether a switch is free only for tools that were declared at first."""
        return self.adds != "delta"


TRAITS: Final[Mapping[Strategy, Traits]] = {
    "inline_changes": Traits("delta", withdraws=True, placeholder=True),
    "reference_changes": Traits("delta", by_value=False, withdraws=True, placeholder=True),
    "tool_reference": Traits("result", by_value=False, placeholder=True),
    "additional_tools": Traits("delta", withdraws=True),
    "client_tool_search": Traits("delta", own_search=True),
    "append": Traits("array"),
    "bridge": Traits("never"),
    "frozen": Traits("never"),
}

UNDER_DELTAS: Final[Strategy] = "append"
"""What an endpoint is taken to do that has refused the deltas which it should have taken: every one can."""


def downgraded(capability: Capability) -> Capability:
    """The capability of an endpoint that has refused the strategy it should have."""
    return replace(capability, strategy=UNDER_DELTAS, downgraded=True)


def without(capability: Capability, refused: Strategy) -> Capability:
    """What is left of a capability when an endpoint has refused a surface of this strategy: what a configuration says
    since that surface was begun, where it says another one."""
    return downgraded(capability) if capability.strategy == refused else replace(capability, downgraded=True)


def deals_in_changes(surface: Surface) -> bool:
    """Whether a request of this surface holds anything that an endpoint may refuse and could do without."""
    traits = TRAITS[surface.strategy]
    return traits.own_search or (traits.adds in ("delta", "result") and bool(surface.deltas or surface.deferred))


def allowed(surface: Surface, capability: Capability) -> tuple[str, ...] | None:
    """The declared tools that may be called, where some may not and the endpoint takes a list of the others.

    Whether the list may name tools that came by a delta is not documented: with one, the mask is words and dispatch.
    """
    if not capability.allowed_tools or not surface.masked or any(delta.defined for delta in surface.deltas):
        return None
    return tuple(name for name in surface.names if name not in surface.masked)
