"""The cache verdict: what was read, what could have been; unknown is not zero."""

from openprogram.core.surface import SurfacePlan
from openprogram.core.usage import CacheVerdict, Usage
from openprogram.ledger.verdict import verdict

KEEP = SurfacePlan("keep", "unchanged", 1, ())
REBASE = SurfacePlan("rebase", "cold", 2, ())


def test_a_prompt_that_was_read_whole_missed_nothing() -> None:
    before, now = Usage(uncached=100), Usage(uncached=20, cache_read=100)
    assert verdict(before, now, KEEP) == CacheVerdict(100, 0)


def test_a_miss_has_the_cause_that_the_plan_states() -> None:  # vocabulary: every miss has a cause
    before, now = Usage(uncached=10, cache_read=90), Usage(uncached=120, cache_read=0)
    assert verdict(before, now, REBASE) == CacheVerdict(0, 100, "cold")


def test_a_miss_under_an_unchanged_surface_is_not_blamed_on_it() -> None:
    assert verdict(Usage(uncached=100), Usage(uncached=120, cache_read=40), KEEP) == CacheVerdict(40, 60)


def test_what_a_provider_does_not_report_is_unknown_and_never_a_miss() -> None:  # C17
    assert verdict(Usage(uncached=100), Usage(uncached=120), REBASE) == CacheVerdict(None, None)
    assert verdict(Usage(), Usage(uncached=1, cache_read=5), REBASE) == CacheVerdict(5, None)
    assert verdict(None, Usage(uncached=1, cache_read=5), REBASE) == CacheVerdict(5, None)
