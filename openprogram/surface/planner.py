"""The surface planner: last surface, new contract, warmth -> next surface at the least cost (spec cache.md section 2).

Pure. The `append` strategy, for endpoints that know no other way: within an epoch the declared array only grows at its
end, by what was discovered; what is withdrawn stays declared and is masked (announced in the newest message, refused at
dispatch); the catalog of deferred tools stays as it was sent. Strategies with deltas join behind the same function.
"""

from dataclasses import dataclass, replace

from openprogram.core.jsonio import JsonObject
from openprogram.core.prompt import PlanReason, Surface, SurfacePlan


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the next request should offer.

    `tools` are the declarations that a rebase makes. `floor` are those that must be declared from the first request so
    that a later switch is free. `discovered` are what an epoch may append, in order (None: all of `tools`). What is
    declared and not `authorised` (None: not among `tools`) is masked. `catalog` is the catalog of a rebase. Never more
    than `most` are declared: the floor first, the rest in order.
    """

    model: str
    tools: tuple[JsonObject, ...]
    floor: tuple[JsonObject, ...]
    system_digest: str
    authorised: frozenset[str] | None = None
    discovered: tuple[JsonObject, ...] | None = None
    catalog: str = ""
    most: int | None = None


def plan(
    previous: Surface | None, wanted: Wanted, *, now: float, cache_ttl_s: float, force: bool = False
) -> tuple[Surface, SurfacePlan]:
    """The next surface, and how it differs from the previous one with the reason."""
    reason = _rebase_reason(previous, wanted, now=now, cache_ttl_s=cache_ttl_s, force=force)
    if previous is None or reason is not None:
        return _rebase(previous, wanted, now, reason or "first_request")
    return _extend(previous, wanted, now)


def _rebase_reason(
    previous: Surface | None, wanted: Wanted, *, now: float, cache_ttl_s: float, force: bool
) -> PlanReason | None:
    if previous is None:
        return "first_request"
    if previous.model != wanted.model:
        return "model_changed"
    if previous.system_digest != wanted.system_digest:
        return "system_changed"
    if now - previous.last_request_at > cache_ttl_s:
        return "cold"
    return "forced" if force else None


def _name(declaration: JsonObject) -> str:
    return str(declaration["name"])


def _merge(first: tuple[JsonObject, ...], second: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    """`first`, then what of `second` has a new name."""
    names = {_name(tool) for tool in first}
    return first + tuple(tool for tool in second if _name(tool) not in names)


def _authorised(wanted: Wanted) -> frozenset[str]:
    if wanted.authorised is not None:
        return wanted.authorised
    return frozenset(_name(tool) for tool in wanted.tools)


def _named(tools: tuple[JsonObject, ...], floor: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    """The floor, as the authorised tools have it where they have it."""
    known = {_name(tool): tool for tool in tools}
    return tuple(known.get(_name(tool), tool) for tool in floor)


def _rebase(previous: Surface | None, wanted: Wanted, now: float, reason: PlanReason) -> tuple[Surface, SurfacePlan]:
    authorised = _authorised(wanted)
    fitting = _merge(_named(wanted.tools, wanted.floor), wanted.tools)[: wanted.most]
    declared = tuple(sorted(fitting, key=_name))
    names = tuple(_name(tool) for tool in declared)
    masked = tuple(name for name in names if name not in authorised)
    surface = Surface(
        model=wanted.model,
        epoch=previous.epoch + 1 if previous else 1,
        declared=declared,
        masked=masked,
        system_digest=wanted.system_digest,
        last_request_at=now,
        catalog=wanted.catalog,
    )
    before = previous.masked if previous else ()
    withdrawn = tuple(name for name in masked if name not in before)
    restored = tuple(name for name in before if name in authorised)
    plan = SurfacePlan("rebase", reason, surface.epoch, names, masked, withdrawn, restored)
    return surface, plan


def _extend(previous: Surface, wanted: Wanted, now: float) -> tuple[Surface, SurfacePlan]:
    authorised = _authorised(wanted)
    grown = wanted.tools if wanted.discovered is None else wanted.discovered
    # A floor that came later waits for the next rebase. What was sent stays, whatever the limit is by now.
    declared = previous.declared + _merge(previous.declared, grown)[len(previous.declared) : wanted.most]
    names = tuple(_name(tool) for tool in declared)
    added = names[len(previous.declared) :]
    masked = tuple(name for name in names if name not in authorised)
    surface = replace(previous, declared=declared, masked=masked, last_request_at=now)
    plan = SurfacePlan(
        kind="append" if added else "keep",
        reason="unchanged" if not added else "added" if wanted.discovered is None else "discovered",
        epoch=previous.epoch,
        declared=names,
        masked=masked,
        withdrawn=tuple(name for name in masked if name not in previous.masked),
        restored=tuple(name for name in previous.masked if name in authorised),
        added=added,
    )
    return surface, plan
