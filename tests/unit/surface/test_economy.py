"""What a plan costs, and when a rewrite that nobody needs still pays (cache.md C4)."""

import pytest

from openprogram.core.jsonio import JsonObject, canonical
from openprogram.core.surface import Capability
from openprogram.surface import planner
from openprogram.surface.wanted import Warmth
from tests.support.surfaces import first, wanted


def _size(declaration: JsonObject) -> int:
    return len(canonical(declaration))


def test_growing_the_array_loses_what_stands_behind_it() -> None:
    before = first("append", "read")
    warmth = Warmth(1.0, prompt_tokens=5000, size=_size)
    _, chosen = planner.plan(before, wanted("read", at="m2", found=("weather",)), Capability(), warmth)
    assert chosen.predicted_loss == 5000 - sum(map(_size, before.declared))


def test_below_the_size_that_is_cached_nothing_can_be_lost() -> None:
    capability = Capability(min_cache_tokens=1024)
    warmth = Warmth(1.0, prompt_tokens=1023, size=_size)
    _, chosen = planner.plan(first("append", "read"), wanted("read", at="m2", found=("a",)), capability, warmth)
    assert (chosen.kind, chosen.predicted_loss) == ("append", 0)


def test_what_is_left_and_too_short_to_be_cached_is_lost_too() -> None:
    capability = Capability(min_cache_tokens=1024)
    warmth = Warmth(1.0, prompt_tokens=5000, size=lambda _: 100)
    _, chosen = planner.plan(first("append", "read"), wanted("read", at="m2", found=("a",)), capability, warmth)
    assert chosen.predicted_loss == 5000


@pytest.mark.parametrize(
    ("requests", "quiet", "rebased"),
    [(200, 10, True), (100, 10, False), (200, 9, False)],
    ids=["dead weight", "soon over", "just switched"],
)
def test_dead_weight_goes_where_carrying_it_would_cost_more(requests: int, quiet: int, rebased: bool) -> None:  # C4
    before = first("append", "bash", "read")
    # 100 tokens at a tenth for each further request, against 900 others at 1.25 - 0.1 once.
    warmth = Warmth(1.0, prompt_tokens=1000, size=lambda _: 100, requests=requests, turns_since_switch=quiet)
    surface, chosen = planner.plan(before, wanted("read", at="m2"), Capability(), warmth)
    assert (chosen.reason == "economy") == rebased
    assert ("bash" in surface.names) != rebased
