"""The surface planner on `append`: what each situation comes to. The laws over all of them are in `tests/property`."""

from dataclasses import replace

import pytest

from openprogram.core.jsonio import JsonObject
from openprogram.core.surface import PlanReason, Surface
from openprogram.surface.wanted import Wanted
from tests.support.surfaces import plan

TTL = 300.0


def tool(name: str, **fields: str) -> JsonObject:
    return {"name": name, "description": fields.get("description", name), "parameters": {}}


def wanted(*names: str, floor: tuple[str, ...] = (), model: str = "e/m", system: str = "d") -> Wanted:
    return Wanted(model, tuple(map(tool, names)), tuple(map(tool, floor)), system)


def shown(*names: str, masked: tuple[str, ...] = (), at: float = 0.0) -> Surface:
    return Surface("e/m", 1, tuple(map(tool, names)), masked, "d", at)


def test_the_first_request_declares_what_is_authorised_and_the_floor() -> None:  # C1
    surface, chosen = plan(None, wanted("read", "bash", floor=("web_search",)), now=1.0, cache_ttl_s=TTL)
    assert surface.names == ("bash", "read", "web_search")
    assert (chosen.kind, chosen.reason, chosen.masked, chosen.withdrawn) == (
        "rebase",
        "first_request",
        ("web_search",),
        ("web_search",),
    )
    assert (surface.epoch, surface.last_request_at) == (1, 1.0)


def test_the_chip_is_free_where_its_tool_is_in_the_floor() -> None:  # C1, C2
    off, _ = plan(None, wanted("read", floor=("web_search",)), now=0.0, cache_ttl_s=TTL)
    on, chosen = plan(off, wanted("read", "web_search", floor=("web_search",)), now=1.0, cache_ttl_s=TTL)
    assert on.declared == off.declared
    assert (chosen.kind, chosen.restored, chosen.added) == ("keep", ("web_search",), ())


def test_what_is_withdrawn_stays_declared_and_is_masked() -> None:  # C2
    surface, chosen = plan(shown("bash", "read"), wanted("read"), now=1.0, cache_ttl_s=TTL)
    assert surface.names == ("bash", "read")
    assert (chosen.kind, chosen.masked, chosen.withdrawn) == ("keep", ("bash",), ("bash",))


def test_what_is_new_is_appended_at_the_end() -> None:
    surface, chosen = plan(shown("read"), wanted("bash", "read"), now=1.0, cache_ttl_s=TTL)
    assert surface.names == ("read", "bash")
    assert (chosen.kind, chosen.reason, chosen.added) == ("append", "added", ("bash",))


def test_a_floor_that_grows_within_an_epoch_costs_nothing() -> None:  # C2, C5: a key was given in mid-chat
    surface, chosen = plan(shown("read"), wanted("read", floor=("web_search",)), now=1.0, cache_ttl_s=TTL)
    assert surface.names == ("read",)
    assert (chosen.kind, chosen.added, chosen.masked) == ("keep", (), ())


def test_a_declaration_that_changes_within_an_epoch_moves_no_byte() -> None:  # law 4
    changed = Wanted("e/m", (tool("read", description="reads better"),), (), "d")
    surface, chosen = plan(shown("read"), changed, now=1.0, cache_ttl_s=TTL)
    assert surface.declared == (tool("read"),)
    assert chosen.kind == "keep"


def test_an_equal_contract_changes_nothing() -> None:  # C3
    surface, chosen = plan(shown("bash", "read", masked=("bash",)), wanted("read"), now=1.0, cache_ttl_s=TTL)
    assert (chosen.kind, chosen.reason) == ("keep", "unchanged")
    assert chosen.withdrawn == chosen.restored == chosen.added == ()
    assert surface == replace(shown("bash", "read", masked=("bash",)), last_request_at=1.0)


@pytest.mark.parametrize(
    ("next_request", "now", "force", "reason"),
    [
        (wanted("read"), TTL + 1, False, "cold"),
        (wanted("read", model="e/other"), 1.0, False, "model_changed"),
        (wanted("read", system="other"), 1.0, False, "system_changed"),
        (wanted("read"), 1.0, True, "forced"),
    ],
)
def test_a_cold_or_forced_prefix_is_rebased_without_dead_weight(
    next_request: Wanted, now: float, force: bool, reason: PlanReason
) -> None:  # C1, C4
    before = shown("bash", "read", masked=("bash",))
    surface, chosen = plan(before, next_request, now=now, cache_ttl_s=TTL, force=force)
    assert (chosen.kind, chosen.reason) == ("rebase", reason)
    assert (surface.names, surface.masked, surface.epoch) == (("read",), (), 2)


def test_a_clock_that_jumps_back_is_no_reason_to_rebase() -> None:  # R8
    _, chosen = plan(shown("read", at=1000.0), wanted("read"), now=1.0, cache_ttl_s=TTL)
    assert chosen.kind == "keep"


# -- discovery --------------------------------------------------------------------------------------------------


def discovering(
    *residents: str, found: tuple[str, ...] = (), waiting: tuple[str, ...] = (), catalog: str = ""
) -> Wanted:
    """A wish where `waiting` are authorised and only named, and `found` were loaded."""
    loaded = tuple(map(tool, found))
    return replace(
        wanted(*residents, *found),
        authorised=frozenset((*residents, *found, *waiting)),
        discovered=loaded,
        catalog=catalog,
    )


def test_what_is_discovered_is_appended_in_the_order_of_discovery() -> None:  # T18
    surface, chosen = plan(shown("bash"), discovering("bash", found=("zebra", "ant")), now=1.0, cache_ttl_s=TTL)
    assert surface.names == ("bash", "zebra", "ant")
    assert (chosen.kind, chosen.reason, chosen.added) == ("append", "discovered", ("zebra", "ant"))


def test_what_a_switch_brings_in_waits_to_be_discovered() -> None:  # C2
    surface, chosen = plan(shown("read"), discovering("read", "bash", waiting=("notes",)), now=1.0, cache_ttl_s=TTL)
    assert surface.names == ("read",)
    assert (chosen.kind, chosen.added, chosen.masked) == ("keep", (), ())


def test_what_is_authorised_is_not_masked_though_it_waits() -> None:
    surface, chosen = plan(
        shown("notes", "read", masked=("notes",)), discovering("read", waiting=("notes",)), now=1.0, cache_ttl_s=TTL
    )
    assert (surface.masked, chosen.restored) == ((), ("notes",))


def test_no_more_is_declared_than_the_endpoint_takes() -> None:  # report 40
    many = tuple(f"tool_{number:03}" for number in range(200))
    first = wanted(*many, floor=("web_search",))
    surface, chosen = plan(None, first, now=0.0, cache_ttl_s=TTL, most=128)
    assert (len(surface.declared), "web_search" in surface.names) == (128, True)
    assert set(surface.names) < {*many, "web_search"}
    more = discovering(*many, found=("zebra", "ant"))
    surface, chosen = plan(surface, more, now=1.0, cache_ttl_s=TTL, most=129)
    assert chosen.added == ("zebra",)
    surface, chosen = plan(surface, more, now=2.0, cache_ttl_s=TTL, most=1)
    assert (chosen.kind, len(surface.declared)) == ("keep", 129)


def test_the_catalog_moves_at_a_rebase_only() -> None:  # C2, T18
    first, _ = plan(None, discovering("read", waiting=("notes",), catalog="notes"), now=0.0, cache_ttl_s=TTL)
    warm, _ = plan(first, discovering("read", waiting=("x",), catalog="x"), now=1.0, cache_ttl_s=TTL)
    cold, _ = plan(warm, discovering("read", waiting=("x",), catalog="x"), now=TTL + 2, cache_ttl_s=TTL)
    assert [surface.catalog for surface in (first, warm, cold)] == ["notes", "notes", "x"]
