"""A search that the provider runs itself: why the surface is declared anew, and what that gives up."""

import pytest

from openprogram.core.jsonio import JsonObject
from openprogram.core.surface import Capability, PlanReason, Surface
from openprogram.surface.planner import plan
from openprogram.surface.wanted import Wanted, Warmth

READ: JsonObject = {"name": "read", "description": "Reads.", "parameters": {}}
SEARCH: JsonObject = {"name": "web_search", "description": "Searches.", "parameters": {}, "hosted": "web_search"}
CAPABILITY = Capability(strategy="append", cache_ttl_s=300.0)


@pytest.mark.parametrize(
    ("model", "now", "reason", "lost"),
    [("e/m", 1.0, "search_off", 9_000), ("e/m", 301.0, "cold", 0), ("e/other", 1.0, "model_changed", 0)],
)
def test_a_search_that_is_switched_off_gives_up_nothing_where_nothing_is_warm(
    model: str, now: float, reason: PlanReason, lost: int
) -> None:  # C1: a rebase that comes anyway is not the switch's
    here = Surface("e/m", 1, (READ, SEARCH), (), "d", 0.0)
    warmth = Warmth(now, prompt_tokens=9_000, size=lambda _tool: 0)
    surface, chosen = plan(here, Wanted(model, (READ,), (), "d"), CAPABILITY, warmth)
    assert surface.names == ("read",)
    assert (chosen.kind, chosen.reason, chosen.predicted_loss) == ("rebase", reason, lost)


def test_a_search_that_is_switched_off_waits_for_no_turn() -> None:  # T4 beats what thinking is bound to
    here = Surface("e/m", 1, (READ, SEARCH), (), "d", 0.0)
    binds = Capability(strategy="append", cache_ttl_s=300.0, binds_thinking=True)
    _, chosen = plan(here, Wanted("e/m", (READ,), (), "d"), binds, Warmth(301.0, turn_start=False))
    assert chosen.reason == "search_off"
