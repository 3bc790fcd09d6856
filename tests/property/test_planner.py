"""The surface planner over any sequence of wishes: within an epoch nothing that was sent moves (cache.md C1 to C3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.jsonio import JsonObject, canonical
from openprogram.core.surface import Surface, SurfacePlan
from openprogram.surface.wanted import Wanted
from tests.support.surfaces import plan

TTL = 300.0
NAMES = ("bash", "edit", "read", "weather", "web_search", "write")
FLOOR = ("web_search",)


@dataclass(frozen=True)
class Request:
    """What the world looks like at one request."""

    names: frozenset[str]
    floor: tuple[str, ...]
    wait: float
    wording: int
    model: str
    force: bool


requests = st.builds(
    Request,
    names=st.frozensets(st.sampled_from(NAMES)),
    floor=st.sampled_from(((), FLOOR)),
    wait=st.sampled_from((0.0, 1.0, TTL, TTL + 1, -50.0)),
    wording=st.integers(0, 1),
    model=st.sampled_from(("e/m", "e/m", "e/m", "e/n")),
    force=st.sampled_from((False, False, False, True)),
)


def _tool(name: str, wording: int) -> JsonObject:
    return {"name": name, "description": f"{name} in wording {wording}", "parameters": {"type": "object"}}


def _wanted(request: Request) -> Wanted:
    tools = tuple(_tool(name, request.wording) for name in sorted(request.names))
    return Wanted(request.model, tools, tuple(_tool(name, request.wording) for name in request.floor), "digest")


def _play(sequence: Sequence[Request]) -> list[tuple[Request, Surface | None, Surface, SurfacePlan]]:
    played: list[tuple[Request, Surface | None, Surface, SurfacePlan]] = []
    now = 1000.0
    for request in sequence:
        now += request.wait
        before = played[-1][2] if played else None
        played.append((request, before, *plan(before, _wanted(request), now=now, cache_ttl_s=TTL, force=request.force)))
    return played


@given(st.lists(requests, min_size=1, max_size=12))
def test_within_an_epoch_the_declared_array_is_a_growing_prefix_of_equal_bytes(sequence: list[Request]) -> None:
    for _, before, surface, chosen in _play(sequence):  # law 4, C2
        if chosen.kind == "rebase":
            assert before is None or surface.epoch == before.epoch + 1
            continue
        assert before is not None
        assert surface.epoch == before.epoch
        kept = surface.declared[: len(before.declared)]
        assert [canonical(tool) for tool in kept] == [canonical(tool) for tool in before.declared]
        assert (chosen.kind == "append") == (len(surface.declared) > len(before.declared))


@given(st.lists(requests, min_size=1, max_size=12))
def test_what_is_masked_is_what_is_declared_and_not_authorised(sequence: list[Request]) -> None:  # C1, C2
    for request, _, surface, chosen in _play(sequence):
        assert set(surface.masked) == set(surface.names) - request.names
        assert request.names <= set(surface.names)
        assert (chosen.declared, chosen.masked) == (surface.names, surface.masked)
        assert len(set(surface.names)) == len(surface.names)


@given(st.lists(requests, min_size=1, max_size=12))
def test_the_plan_names_exactly_the_masks_that_change(sequence: list[Request]) -> None:  # C3
    for request, before, surface, chosen in _play(sequence):
        masked = set(before.masked) if before else set()
        assert set(chosen.withdrawn) == set(surface.masked) - masked
        assert set(chosen.restored) == masked & request.names
        assert not set(chosen.withdrawn) & set(chosen.restored)


@given(st.lists(requests, min_size=1, max_size=12))
def test_a_rebase_declares_what_is_authorised_and_the_floor_and_nothing_else(sequence: list[Request]) -> None:
    for request, _, surface, chosen in _play(sequence):  # C1, C4
        if chosen.kind == "rebase":
            assert list(surface.names) == sorted(request.names | set(request.floor))
            assert surface.declared == tuple(_tool(name, request.wording) for name in surface.names)


@given(st.lists(requests, min_size=1, max_size=8))
def test_a_wish_that_is_the_same_at_the_next_request_emits_nothing(sequence: list[Request]) -> None:  # C3
    request, _, surface, _ = _play(sequence)[-1]  # on, off and on again in between is no request: nobody sees it
    again, chosen = plan(surface, _wanted(request), now=surface.last_request_at + 1, cache_ttl_s=TTL)
    assert (chosen.kind, chosen.withdrawn, chosen.restored, chosen.added) == ("keep", (), (), ())
    assert (again.declared, again.masked, again.epoch) == (surface.declared, surface.masked, surface.epoch)


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.frozensets(st.sampled_from(NAMES)))
def test_the_chip_never_changes_a_byte_where_its_tool_is_in_the_floor(
    chip: list[bool], others: frozenset[str]
) -> None:  # C1, C2, promise 2
    base = others - set(FLOOR)
    sequence = [Request(base | set(FLOOR) if on else base, FLOOR, 1.0, 0, "e/m", False) for on in chip]
    assert len({canonical(list(surface.declared)) for _, _, surface, _ in _play(sequence)}) == 1


@given(st.lists(requests, min_size=1, max_size=12))
def test_planning_is_pure(sequence: list[Request]) -> None:  # T11
    assert _play(sequence) == _play(sequence)


@dataclass(frozen=True)
class Discovery:
    """A request of a chat that discovers: what is authorised and found, and whether the cache is still warm."""

    authorised: frozenset[str]
    found: tuple[str, ...]
    warm: bool


discoveries = st.builds(
    Discovery,
    authorised=st.frozensets(st.sampled_from(NAMES)),
    found=st.lists(st.sampled_from(NAMES), unique=True, max_size=4).map(tuple),
    warm=st.sampled_from((True, True, True, False)),
)


@given(st.lists(discoveries, min_size=1, max_size=12))
def test_within_an_epoch_only_discoveries_grow_the_array_and_the_catalog_stands_still(
    sequence: list[Discovery],
) -> None:  # C2, T18
    surface: Surface | None = None
    now = 0.0
    for request in sequence:
        now += 1.0 if request.warm else TTL + 1
        residents = request.authorised & {"bash", "read"}
        found = tuple(name for name in request.found if name in request.authorised)
        wish = Wanted(
            "e/m",
            tuple(_tool(name, 0) for name in (*sorted(residents), *found)),
            (),
            "digest",
            authorised=request.authorised,
            discovered=tuple(_tool(name, 0) for name in found),
            catalog=",".join(sorted(request.authorised)),
        )
        before = surface
        surface, chosen = plan(before, wish, now=now, cache_ttl_s=TTL)
        assert set(surface.masked) == set(surface.names) - request.authorised
        assert set(found) <= set(surface.names)
        if chosen.kind == "rebase":
            assert surface.catalog == wish.catalog
            continue
        assert before is not None
        assert surface.catalog == before.catalog
        assert surface.names == (*before.names, *(name for name in found if name not in before.names))
