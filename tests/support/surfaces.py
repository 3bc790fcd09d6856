"""Planning surfaces in tests."""

from dataclasses import replace

from openprogram.core.jsonio import JsonObject
from openprogram.core.surface import Capability, Strategy, Surface, SurfacePlan
from openprogram.surface import planner
from openprogram.surface.wanted import Place, Wanted, Warmth


def plan(
    previous: Surface | None,
    wanted: Wanted,
    *,
    now: float,
    cache_ttl_s: float,
    force: bool = False,
    strategy: Strategy = "append",
    most: int = 10_000,
) -> tuple[Surface, SurfacePlan]:
    """What the planner chooses where nothing is known of the chat but its time."""
    capability = Capability(strategy=strategy, cache_ttl_s=cache_ttl_s, max_tools=most)
    return planner.plan(previous, wanted, capability, Warmth(now), force=force)


def tool(name: str) -> JsonObject:
    """A declaration."""
    return {"name": name, "description": name, "parameters": {}}


def wanted(
    *residents: str,
    at: str = "m1",
    found: tuple[str, ...] = (),
    waiting: tuple[str, ...] = (),
    floor: tuple[str, ...] = ("web_search",),
    search: Place | None = None,
) -> Wanted:
    """A wish at the message `at` of a branch m1, m2, ... where `found` were loaded and `waiting` are only named."""
    return Wanted(
        "e/m",
        tuple(map(tool, (*residents, *found))),
        tuple(map(tool, floor)),
        "d",
        authorised=frozenset((*residents, *found, *waiting)),
        discovered=tuple(map(tool, found)),
        deferred=tuple(map(tool, waiting)),
        catalog=",".join(waiting),
        branch=tuple(f"m{number}" for number in range(1, int(at[1:]) + 1)),
        at=at,
        search=search,
    )


def planned(
    previous: Surface | None, wish: Wanted, strategy: Strategy, *, now: float = 1.0, **fields: object
) -> tuple[Surface, SurfacePlan]:
    """Plan on an endpoint that can do this."""
    capability = replace(Capability(strategy=strategy, cache_ttl_s=300.0), **fields)  # type: ignore[arg-type]
    return planner.plan(previous, wish, capability, Warmth(now))


def first(strategy: Strategy, *residents: str, waiting: tuple[str, ...] = ()) -> Surface:
    """The first surface of a chat with these tools."""
    return planned(None, wanted(*residents, waiting=waiting), strategy, now=0.0)[0]
