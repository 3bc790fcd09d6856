"""The surface planner: last surface, wishes, capability, warmth -> next surface at the least cost (spec cache.md 2).

Pure. Within an epoch the declared array, the catalog and every delta stay as they were sent. What is authorised anew or
was discovered comes by a delta at the end of the history, in the result of a search, at the end of the array, or not
until the next rebase; what is withdrawn goes by a delta, or stays and is masked (announced in the newest message,
refused at dispatch): `strategies` tells which.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never

from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import Message
from openprogram.core.surface import (
    RESERVED_NAMES,
    Capability,
    Delta,
    PlanKind,
    PlanReason,
    Strategy,
    Surface,
    SurfacePlan,
)
from openprogram.surface import hosted
from openprogram.surface.economy import cheap, grown_loss, rebase_loss, worthwhile
from openprogram.surface.reserved import CALL_TOOL, PLACEHOLDER
from openprogram.surface.strategies import TRAITS
from openprogram.surface.wanted import Wanted, Warmth
from openprogram.surface.words import words

_MAY_WAIT: Final[frozenset[PlanReason]] = frozenset({"cold", "forced", "economy"})
_NOTHING_WARM: Final[frozenset[PlanReason]] = frozenset({"first_request", "cold", "model_changed"})


def plan(
    previous: Surface | None, wanted: Wanted, capability: Capability, warmth: Warmth, *, force: bool = False
) -> tuple[Surface, SurfacePlan]:
    """The next surface, and how it differs from the previous one with the reason and the tokens that it loses."""
    if previous is None:
        return _rebase(None, wanted, capability, warmth, "first_request")
    previous = _without_refused(previous, capability)
    here = previous if wanted.branch is None else previous.on(wanted.branch)
    additions = _additions(here, wanted, capability)
    reason = _rebase_reason(here, wanted, capability, warmth, force=force)
    if reason is None and additions and not here.declared and TRAITS[here.strategy].placeholder:
        reason = "added"  # with nothing declared at first, the first change costs everything anyway
    reason = reason or hosted.rebase_reason(here, wanted, capability, additions)
    if reason is not None:
        return _rebase(here, wanted, capability, warmth, reason)
    return _extend(previous, here, additions, wanted, capability, warmth)


def unchanged(previous: Surface, now: float, messages: Sequence[Message]) -> tuple[Surface, SurfacePlan]:
    """The next surface where an answer goes on that the provider has interrupted: nothing may come in between."""
    branch = [message.id for message in messages]
    here = previous.on(branch)
    surface = replace(previous, last_request_at=now, shown=branch[-1] if branch else previous.shown)
    return surface, SurfacePlan(
        "keep", "unchanged", previous.epoch, here.names, here.masked, predicted_loss=0, strategy=previous.strategy
    )


def _without_refused(previous: Surface, capability: Capability) -> Surface:
    """An endpoint that refused its first delta loses nothing: there is none to take back."""
    if capability.downgraded and previous.strategy != capability.strategy and not previous.deltas:
        return replace(previous, strategy=capability.strategy, deferred=())
    return previous


def _rebase_reason(
    here: Surface, wanted: Wanted, capability: Capability, warmth: Warmth, *, force: bool
) -> PlanReason | None:
    reason: PlanReason | None = None
    if not here.shown_to(wanted.model, capability.endpoint):
        reason = "model_changed"
    elif capability.downgraded and here.strategy != capability.strategy:
        reason = "provider"
    elif wanted.cut is not None and here.cut != wanted.cut:
        reason = "compacted"
    elif here.system_digest != wanted.system_digest:
        reason = "system_changed"
    elif warmth.now - here.last_request_at > capability.cache_ttl_s:
        reason = "cold"
    elif force:
        reason = "forced"
    elif worthwhile(here, lambda: _layout(wanted, capability, warmth).declared, warmth):
        reason = "economy"
    waits = capability.binds_thinking and not warmth.turn_start and reason in _MAY_WAIT
    return None if waits else reason


# -- a new epoch ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Layout:
    """What a rebase declares, and how the surface may change from there."""

    strategy: Strategy
    declared: tuple[JsonObject, ...]
    catalog: str


def _layout(wanted: Wanted, capability: Capability, warmth: Warmth, *, keep_hosted: bool = True) -> _Layout:
    strategy = capability.strategy
    traits = TRAITS[strategy]
    # An endpoint that can add later needs no floor, but for one tool that is declared at all.
    own = tuple(tool for tool in wanted.floor if not hosted.is_hosted(tool))
    floor = own if traits.needs_floor else own[: 0 if wanted.tools else 1]
    if capability.allowed_tools and keep_hosted:
        floor += tuple(filter(hosted.is_hosted, wanted.floor))  # masked while the chip is off
    tools = _merge(_named(wanted.tools, floor), wanted.tools)
    everything = _merge(tools, wanted.deferred)
    if strategy == "frozen" or (strategy == "append" and wanted.deferred and cheap(wanted.deferred, warmth)):
        if len(everything) <= capability.max_tools:
            return _Layout(strategy, _sorted(everything), "")
        strategy = "append"  # what does not fit has to be found
    bridge = (CALL_TOOL,) if strategy == "bridge" else ()
    return _Layout(strategy, _sorted((*bridge, *tools)[: capability.max_tools]), wanted.catalog)


def _rebase(
    previous: Surface | None, wanted: Wanted, capability: Capability, warmth: Warmth, reason: PlanReason
) -> tuple[Surface, SurfacePlan]:
    layout = _layout(wanted, capability, warmth, keep_hosted=reason != "search_off")
    names = tuple(map(_name, layout.declared))
    masked = _masked(names, wanted)
    traits = TRAITS[layout.strategy]
    surface = Surface(
        model=wanted.model,
        epoch=previous.epoch + 1 if previous else 1,
        declared=layout.declared,
        masked=masked,
        system_digest=wanted.system_digest,
        last_request_at=warmth.now,
        catalog=layout.catalog,
        strategy=layout.strategy,
        deferred=(PLACEHOLDER,) if traits.placeholder and layout.declared else (),
        deltas=(Delta(wanted.at, withdrawn=masked, answer=wanted.answer),) if traits.withdraws and masked else (),
        shown=wanted.at or None,
        thinking_after=(wanted.at or None) if capability.binds_thinking else None,
        thinking_since=wanted.answer if capability.binds_thinking else None,
        endpoint=capability.endpoint,
        cut=wanted.cut,
    )
    before = previous.masked if previous else ()
    warm = previous if reason not in _NOTHING_WARM else None
    return surface, SurfacePlan(
        "rebase",
        reason,
        surface.epoch,
        names,
        masked,
        withdrawn=tuple(name for name in masked if name not in before),
        restored=tuple(name for name in before if name in wanted.names),
        predicted_loss=0 if warm is None else rebase_loss(warm, surface, capability, warmth),
        strategy=surface.strategy,
    )


# -- within an epoch --------------------------------------------------------------------------------------------


def _additions(here: Surface, wanted: Wanted, capability: Capability) -> tuple[JsonObject, ...]:
    """What the model gets the schema of now. What was sent stays, whatever the limit is by now."""
    found = wanted.tools if wanted.discovered is None else wanted.discovered
    how = TRAITS[here.strategy].adds
    match how:
        case "delta":
            candidates = _merge(wanted.tools, found)
        case "array":
            candidates = found  # a floor that came later waits for the next rebase
        case "result":
            candidates = found if wanted.discovered is not None and _open_search(here, wanted) else ()
        case "never":
            candidates = ()
        case _:
            assert_never(how)
    known = {*here.names, *wanted.waiting}
    candidates = tuple(tool for tool in candidates if not hosted.is_hosted(tool) or hosted.comes_by_delta(here))
    new = tuple(tool for tool in _merge((), candidates) if _name(tool) not in known)
    return new[: max(0, capability.max_tools - len(here.names))]


def _open_search(here: Surface, wanted: Wanted) -> bool:
    """Whether the search's result was not sent yet, so that something may still be put into it."""
    if wanted.search is None or wanted.branch is None or wanted.search.message_id not in wanted.branch:
        return False
    if here.shown is None or here.shown not in wanted.branch:
        return True
    return wanted.branch.index(wanted.search.message_id) > wanted.branch.index(here.shown)


def _extend(
    previous: Surface,
    here: Surface,
    additions: tuple[JsonObject, ...],
    wanted: Wanted,
    capability: Capability,
    warmth: Warmth,
) -> tuple[Surface, SurfacePlan]:
    traits = TRAITS[here.strategy]
    added = tuple(map(_name, additions))
    names = (*here.names, *added)
    masked = _masked(names, wanted)
    grows = traits.adds == "array" and bool(additions)
    delta = None if traits.adds in ("array", "never") else _delta(here, additions, masked, wanted)
    surface = replace(
        previous,
        declared=previous.declared + additions if grows else previous.declared,
        masked=masked,
        last_request_at=warmth.now,
        deferred=previous.deferred if traits.by_value else _merge(previous.deferred, additions),
        deltas=previous.deltas if delta is None else (*previous.deltas, delta),
        shown=wanted.at or None,
    )
    kind: PlanKind = "append" if grows else "keep" if delta is None else "delta"
    return surface, SurfacePlan(
        kind=kind,
        reason=_extension_reason(added, delta, wanted),
        epoch=previous.epoch,
        declared=names,
        masked=masked,
        withdrawn=tuple(name for name in masked if name not in here.masked),
        restored=tuple(name for name in here.masked if name in wanted.names),
        added=added,
        predicted_loss=grown_loss(here, capability, warmth) if grows else 0,
        strategy=surface.strategy,
    )


def _delta(here: Surface, additions: tuple[JsonObject, ...], masked: tuple[str, ...], wanted: Wanted) -> Delta | None:
    """What stands at the end of the history from now on, or in the newest search's result; None where nothing does."""
    traits, hidden = TRAITS[here.strategy], here.hidden
    restored = tuple(name for name in here.names if name in hidden and name in wanted.names)
    withdrawn = tuple(name for name in masked if name not in hidden) if traits.withdraws else ()
    if not (additions or restored or withdrawn):
        return None
    referenced = restored if traits.by_value else (*map(_name, additions), *restored)
    delta = Delta(wanted.at, additions if traits.by_value else (), referenced, withdrawn, answer=wanted.answer)
    if traits.adds == "result" and wanted.search is not None:
        return replace(delta, after=wanted.search.message_id, call_id=wanted.search.call_id)
    return replace(delta, text=words(here, delta))


def _extension_reason(added: tuple[str, ...], delta: Delta | None, wanted: Wanted) -> PlanReason:
    if added:
        found = {_name(tool) for tool in wanted.discovered or ()}
        return "discovered" if found.issuperset(added) else "added"
    if delta is None:
        return "unchanged"
    return "withdrawn" if delta.withdrawn else "restored"


# -- declarations -----------------------------------------------------------------------------------------------


def _name(declaration: JsonObject) -> str:
    return str(declaration["name"])


def _sorted(tools: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    return tuple(sorted(tools, key=_name))


def _merge(first: tuple[JsonObject, ...], second: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    """`first`, then what of `second` has a new name."""
    by_name = {_name(tool): tool for tool in reversed((*first, *second))}
    return tuple(by_name[name] for name in dict.fromkeys(map(_name, (*first, *second))))


def _named(tools: tuple[JsonObject, ...], floor: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    """The floor, as the authorised tools have it where they have it."""
    known = {_name(tool): tool for tool in tools}
    return tuple(known.get(_name(tool), tool) for tool in floor)


def _masked(names: tuple[str, ...], wanted: Wanted) -> tuple[str, ...]:
    return tuple(name for name in names if name not in wanted.names and name not in RESERVED_NAMES)
