"""What each situation comes to on endpoints that can do more, or less, than grow the array (cache.md sections 1, 2)."""

from dataclasses import replace

import pytest

from openprogram.core.jsonio import digest
from openprogram.core.surface import RESERVED_NAMES, Capability, Delta, PlanReason, Strategy
from openprogram.surface import planner
from openprogram.surface.reserved import CALL_TOOL, PLACEHOLDER
from openprogram.surface.strategies import TRAITS, allowed
from openprogram.surface.wanted import Place, Warmth
from tests.support.surfaces import first, planned, tool, wanted

DELTAS: tuple[Strategy, ...] = ("inline_changes", "reference_changes", "additional_tools", "client_tool_search")
HIDING: tuple[Strategy, ...] = ("inline_changes", "reference_changes", "additional_tools")


# -- deltas -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", DELTAS)
def test_what_a_switch_brings_in_comes_by_a_delta_where_the_endpoint_can_add(strategy: Strategy) -> None:  # C2
    before = first(strategy, "read")
    after, chosen = planned(before, wanted("bash", "read", at="m2"), strategy)
    assert (after.declared, after.names) == (before.declared, ("read", "bash"))
    assert (chosen.kind, chosen.reason, chosen.added, chosen.predicted_loss) == ("delta", "added", ("bash",), 0)
    [delta] = after.deltas
    assert (delta.after, delta.offered) == ("m2", ("bash",))


@pytest.mark.parametrize("strategy", HIDING)
def test_what_is_withdrawn_goes_and_comes_back_by_deltas_that_stay_in_their_places(strategy: Strategy) -> None:  # C10
    before = first(strategy, "bash", "read")
    off, gone = planned(before, wanted("read", at="m2"), strategy)
    on, back = planned(off, wanted("bash", "read", at="m3"), strategy)
    assert (gone.kind, gone.reason, gone.withdrawn) == ("delta", "withdrawn", ("bash",))
    assert (back.kind, back.reason, back.restored) == ("delta", "restored", ("bash",))
    assert on.deltas[0] == off.deltas[0]
    assert [(delta.after, delta.withdrawn, delta.referenced) for delta in on.deltas] == [
        ("m2", ("bash",), ()),
        ("m3", (), ("bash",)),
    ]
    assert off.hidden == {"bash"}
    assert not on.hidden


@pytest.mark.parametrize("strategy", DELTAS)
def test_an_equal_contract_emits_nothing(strategy: Strategy) -> None:  # C3
    surface, _ = planned(first(strategy, "read"), wanted("bash", at="m2"), strategy)
    again, chosen = planned(surface, wanted("bash", at="m3"), strategy)
    assert (chosen.kind, chosen.reason, again.deltas) == ("keep", "unchanged", surface.deltas)


def test_by_reference_a_tool_is_declared_deferred_and_referred_to() -> None:
    before = first("reference_changes", "read")
    after, _ = planned(before, wanted("read", at="m2", found=("weather",)), "reference_changes")
    assert (before.deferred, after.deferred) == ((PLACEHOLDER,), (PLACEHOLDER, tool("weather")))
    assert after.deltas == (Delta("m2", referenced=("weather",)),)


def test_what_was_deferred_on_another_branch_is_declared_once() -> None:
    before = first("reference_changes", "read")
    one, _ = planned(before, wanted("read", at="m2", found=("weather",)), "reference_changes")
    other = replace(wanted("read", at="m2", found=("weather",)), branch=("m1", "x2"), at="x2")
    two, chosen = planned(one, other, "reference_changes")
    assert two.deferred == one.deferred
    assert chosen.added == ("weather",)
    assert [delta.after for delta in two.deltas] == ["m2", "x2"]


def test_a_branch_has_its_own_deltas_and_the_other_keeps_its_bytes() -> None:  # C10
    before = first("inline_changes", "read")
    one, _ = planned(before, wanted("bash", "read", at="m2"), "inline_changes")
    elsewhere = replace(wanted("bash", "read"), branch=("m1", "x2"), at="x2")
    two, chosen = planned(one, elsewhere, "inline_changes")
    assert chosen.added == ("bash",)  # the branch had not seen it
    back, kept = planned(two, wanted("bash", "read", at="m3"), "inline_changes")
    assert kept.kind == "keep"
    assert back.on(("m1", "m2", "m3")).deltas == one.deltas


def test_what_is_off_is_said_again_with_everything_new_where_it_cannot_be_taken_back() -> None:
    before = first("additional_tools", "bash", "read")
    off, _ = planned(before, wanted("read", at="m2"), "additional_tools")
    more, _ = planned(off, wanted("read", at="m3", found=("weather",)), "additional_tools")
    assert off.deltas[0].text == "Unavailable, do not call: bash."
    assert more.deltas[1].text.endswith("Unavailable, do not call: bash.")
    assert more.deltas[1].offered == ("weather",)


# -- the floor and the reserved tools ---------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", TRAITS)
def test_the_chip_is_in_the_floor_where_adding_costs_and_only_there(strategy: Strategy) -> None:  # C1
    surface, chosen = planned(None, wanted("read"), strategy)
    assert ("web_search" in surface.names) == TRAITS[strategy].needs_floor
    assert ("web_search" in chosen.masked) == TRAITS[strategy].needs_floor


@pytest.mark.parametrize("strategy", TRAITS)
def test_a_placeholder_is_deferred_from_the_first_request_where_it_is_needed(strategy: Strategy) -> None:  # C8
    surface = first(strategy, "read")
    assert surface.deferred == ((PLACEHOLDER,) if TRAITS[strategy].placeholder else ())
    assert surface.declared  # never all deferred


def test_one_tool_is_declared_where_nothing_is_on_and_it_is_withdrawn() -> None:  # C1, C7
    surface, chosen = planned(None, wanted(), "inline_changes")
    assert (surface.names, chosen.masked) == (("web_search",), ("web_search",))
    assert surface.deltas == (Delta("m1", withdrawn=("web_search",)),)
    _, again = planned(surface, wanted(at="m2"), "inline_changes")
    assert again.kind == "keep"


def test_with_nothing_declared_at_first_the_first_addition_is_a_rebase() -> None:  # all deferred is refused
    empty, _ = planned(None, wanted(floor=()), "inline_changes")
    assert (empty.declared, empty.deferred) == ((), ())
    surface, chosen = planned(empty, wanted("read", at="m2"), "inline_changes")
    assert (chosen.kind, chosen.reason) == ("rebase", "added")
    assert surface.deferred == (PLACEHOLDER,)


def test_the_bytes_of_the_reserved_tools_are_fixed_for_ever() -> None:  # C8
    assert {PLACEHOLDER["name"], CALL_TOOL["name"]} == RESERVED_NAMES
    assert digest(PLACEHOLDER) == "21e88f0073cd11f5a2aaf9c85de5d425"
    assert digest(CALL_TOOL) == "8110da153caa44005cb3bbf348230b08"


# -- results, bridge, frozen ------------------------------------------------------------------------------------


def test_a_discovery_stands_in_the_result_of_its_search() -> None:
    before = first("tool_reference", "read")
    found = wanted("read", at="m4", found=("weather",), search=Place("m3", "c_1"))
    after, chosen = planned(before, found, "tool_reference")
    assert after.deltas == (Delta("m3", referenced=("weather",), call_id="c_1"),)
    assert after.deferred == (PLACEHOLDER, tool("weather"))
    assert (chosen.kind, chosen.reason, after.declared) == ("delta", "discovered", before.declared)


def test_a_result_that_was_sent_is_never_changed() -> None:  # law 4
    before, _ = planned(first("tool_reference", "read"), wanted("read", at="m3"), "tool_reference")
    found = wanted("read", at="m4", found=("weather",), search=Place("m3", "c_1"))
    after, chosen = planned(before, found, "tool_reference")
    assert (chosen.kind, after.deltas) == ("keep", ())


def test_through_a_bridge_nothing_is_ever_added() -> None:
    before = first("bridge", "read")
    assert before.declared == (CALL_TOOL, tool("read"), tool("web_search"))
    after, chosen = planned(before, wanted("bash", "read", at="m2", found=("weather",)), "bridge")
    assert (chosen.kind, chosen.added, after.declared) == ("keep", (), before.declared)
    assert CALL_TOOL["name"] not in chosen.masked
    cold, _ = planned(after, wanted("read", at="m3", found=("weather",)), "bridge", now=1000.0)
    assert cold.names == ("call_tool", "read", "weather", "web_search")


def test_frozen_declares_everything_and_what_comes_later_waits() -> None:
    before = first("frozen", "read", waiting=("notes", "weather"))
    assert (before.names, before.catalog) == (("notes", "read", "weather", "web_search"), "")
    after, chosen = planned(before, wanted("bash", "read", at="m2", waiting=("notes", "zebra")), "frozen")
    assert (chosen.kind, chosen.masked) == ("keep", ("weather", "web_search"))
    assert after.declared == before.declared


def test_what_does_not_fit_frozen_has_to_be_found() -> None:
    wish = wanted("read", waiting=("notes", "weather"))
    surface, _ = planned(None, wish, "frozen", max_tools=3)
    assert (surface.strategy, surface.names, surface.catalog) == ("append", ("read", "web_search"), "notes,weather")


def test_few_schemas_are_declared_at_once_where_one_discovery_would_cost_more() -> None:
    wish = wanted("read", waiting=("notes", "weather"))

    def declared(cost: int | None, requests: int = 0) -> tuple[str, ...]:
        warmth = Warmth(0.0, size=lambda _: 100, discovery_tokens=cost, requests=requests)
        return planner.plan(None, wish, Capability(), warmth)[0].names

    assert declared(201) == ("notes", "read", "weather", "web_search")
    assert declared(200) == declared(None) == ("read", "web_search")
    # In a chat of 50 requests so far they are read in as many again, at a tenth each.
    assert declared(1201, 50) == declared(201)
    assert declared(1200, 50) == declared(200)


def test_what_is_masked_is_not_among_what_is_allowed() -> None:
    surface, _ = planned(first("append", "bash", "read"), wanted("read", at="m2"), "append")
    assert allowed(surface, Capability(allowed_tools=True)) == ("read",)
    assert allowed(surface, Capability()) is None
    assert allowed(first("frozen", "read", "web_search"), Capability(allowed_tools=True)) is None
    nothing, _ = planned(surface, wanted(at="m3"), "append")
    assert allowed(nothing, Capability(allowed_tools=True)) == ()


def test_no_list_is_sent_that_would_have_to_name_what_came_by_a_delta() -> None:
    more, _ = planned(first("additional_tools", "bash", "read"), wanted("read", "new", at="m2"), "additional_tools")
    assert more.masked == ("bash",)
    assert allowed(more, Capability(allowed_tools=True)) is None


# -- rebases ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", TRAITS)
def test_a_rebase_folds_the_deltas_into_the_array(strategy: Strategy) -> None:  # C10
    before = first(strategy, "bash", "read")
    found = wanted("read", at="m3", found=("weather",), search=Place("m2", "c_1"))
    changed, _ = planned(before, found, strategy)
    cold, chosen = planned(changed, wanted("read", at="m4", found=("weather",), floor=()), strategy, now=1000.0)
    own = ("call_tool",) if strategy == "bridge" else ()
    assert (cold.names, cold.deltas) == ((*own, "read", "weather"), ())
    assert (chosen.kind, chosen.reason, chosen.predicted_loss) == ("rebase", "cold", 0)


def test_a_strategy_stays_for_its_epoch() -> None:  # C13: an upgrade that knows more of an endpoint moves no byte
    before = first("append", "read")
    after, chosen = planned(before, wanted("bash", "read", at="m2"), "inline_changes")
    assert (after.strategy, after.deltas, chosen.kind) == ("append", (), "keep")
    cold, _ = planned(after, wanted("read", at="m3"), "inline_changes", now=1000.0)
    assert cold.strategy == "inline_changes"


def test_deltas_that_the_endpoint_now_refuses_are_rendered_away() -> None:  # C9
    accepted, _ = planned(first("inline_changes", "read"), wanted("bash", "read", at="m2"), "inline_changes")
    after, chosen = planned(accepted, wanted("bash", "read", at="m3"), "append", downgraded=True)
    assert (chosen.kind, chosen.reason) == ("rebase", "provider")
    assert (after.deltas, after.deferred, after.names) == ((), (), ("bash", "read", "web_search"))


def test_the_first_delta_that_is_refused_costs_nothing() -> None:  # C9
    before = first("inline_changes", "bash", "read")
    after, chosen = planned(before, wanted("read", at="m2"), "append", downgraded=True)
    assert (chosen.kind, chosen.masked, after.strategy) == ("keep", ("bash",), "append")
    assert (after.declared, after.deltas, after.deferred) == (before.declared, (), ())


@pytest.mark.parametrize(
    ("turn_start", "kind", "reason"), [(False, "keep", "unchanged"), (True, "rebase", "cold")], ids=["step", "turn"]
)
def test_where_thinking_is_bound_a_rebase_waits_for_a_turn_and_leaves_the_thinking_out(
    turn_start: bool, kind: str, reason: PlanReason
) -> None:  # C1
    capability = Capability(strategy="inline_changes", binds_thinking=True)
    before, _ = planner.plan(None, wanted("read"), capability, Warmth(0.0))
    after, chosen = planner.plan(before, wanted("read", at="m2"), capability, Warmth(1000.0, turn_start))
    assert (chosen.kind, chosen.reason) == (kind, reason)
    assert after.thinking_after == ("m2" if turn_start else "m1")


def test_another_endpoint_of_the_same_name_is_shown_everything_anew() -> None:  # C1: base URL, API and model
    before, _ = planned(None, wanted("read"), "inline_changes", endpoint="anthropic http://one")
    found = wanted("read", at="m2", found=("weather",))
    changed, _ = planned(before, found, "inline_changes", endpoint="anthropic http://one")
    moved, chosen = planned(changed, replace(found, at="m3"), "append", endpoint="openai-chat http://one/v1")
    assert (chosen.kind, chosen.reason, moved.strategy, moved.deltas) == ("rebase", "model_changed", "append", ())
    assert "weather" in chosen.declared


def test_a_surface_from_before_endpoints_were_told_apart_goes_on() -> None:  # C13
    before = replace(first("append", "read"), endpoint="")
    after, chosen = planned(before, wanted("read", at="m2"), "append", endpoint="openai-chat http://one/v1")
    assert (chosen.kind, after.epoch) == ("keep", before.epoch)
