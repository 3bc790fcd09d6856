"""Tools that the provider runs itself: no dispatch stands between the model and them (spec cache.md section 1, tools.md
T4). Pure.

So one that is off may only stay in a request that names, out of the model's reach, what may be called (a hard mask).
Anywhere else it leaves the request, whatever that costs.
"""

from collections.abc import Sequence

from openprogram.core.jsonio import JsonObject
from openprogram.core.prompt import ProviderRequest
from openprogram.core.surface import Capability, PlanReason, Surface
from openprogram.surface.strategies import TRAITS
from openprogram.surface.wanted import Wanted


def is_hosted(tool: JsonObject) -> bool:
    """Whether the provider runs this declaration itself."""
    return "hosted" in tool


def comes_by_delta(here: Surface) -> bool:
    """Whether one can be added at the end of the history: not as what a search for tools has found."""
    traits = TRAITS[here.strategy]
    return traits.adds == "delta" and traits.by_value and not traits.own_search


def callable_in(request: ProviderRequest) -> frozenset[str]:
    """The names of those that a request lets the model call, as it goes out: only a list of others takes one away."""
    defined = (tool for delta in request.deltas for tool in delta.defined)
    names = frozenset(str(tool["name"]) for tool in (*request.tools, *defined) if is_hosted(tool))
    return names if request.allowed is None else names.intersection(request.allowed)


def rebase_reason(
    here: Surface, wanted: Wanted, capability: Capability, additions: Sequence[JsonObject]
) -> PlanReason | None:
    """Why the surface has to be declared anew, if a tool that the provider runs is off or on and it cannot be so here.

    Whether a list of what may be called may name tools that came by a delta is not documented: then it masks nothing.
    """
    defined = any(delta.defined for delta in here.deltas)
    listed = capability.allowed_tools and not defined and not (additions and TRAITS[here.strategy].adds == "delta")
    if here.hosted - wanted.names and not listed:
        return "search_off"
    missing = {str(tool["name"]) for tool in wanted.tools if is_hosted(tool)} - here.hosted
    missing -= {str(tool["name"]) for tool in additions}
    return "search_on" if missing and wanted.names.issuperset(missing) else None
