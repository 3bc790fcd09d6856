"""The verdict of one step, by example: which cause a miss has, and what is no miss (spec cache.md C18)."""

from dataclasses import replace
from typing import Any

import pytest

from openprogram.core.usage import CacheRules, CacheVerdict, Usage
from openprogram.ledger.difference import Excerpt, Outline
from openprogram.ledger.inspect import Inspected, missed_of
from openprogram.ledger.verdict import explain, lost_cost, shows_time
from tests.support.sent import CONDITIONS, PRICE, answered, outline

WHOLE = Usage(uncached=1000, cache_read=0)
NOTHING_READ = Usage(uncached=1200, cache_read=0)
BEFORE = outline(tools="ab", system="s", messages="m")


def cause(after: Outline, left_branch: bool = False, wait_s: float = 1.0, **changed: Any) -> str | None:
    """The cause of reading nothing, under these changed conditions."""
    now = replace(CONDITIONS, **changed)
    current = answered(2, after, NOTHING_READ, now, sent_at=1.0 + wait_s)
    return explain(answered(1, BEFORE, WHOLE), current, left_branch=left_branch).verdict.cause


def test_a_prompt_that_was_read_whole_missed_nothing() -> None:
    current = answered(2, outline("ab", "s", "mn"), Usage(uncached=20, cache_read=1000))
    assert explain(answered(1, BEFORE, WHOLE), current, left_branch=False).verdict == CacheVerdict(1000, 0)


@pytest.mark.parametrize(
    ("after", "changed", "expected"),
    [
        (outline("abc", "s", "m"), {"reason": "discovered"}, "discovery"),
        (outline("abc", "s", "m"), {"reason": "added", "intent_revision": 1}, "toggle"),
        (outline("abc", "s", "m"), {"reason": "added", "registry_version": 1}, "mcp"),
        (outline("a", "s", "m"), {"reason": "cold", "epoch": 2}, "ttl"),
        (outline("a", "s", "m"), {"reason": "forced", "epoch": 2}, "user"),
        (outline("ab", "t", "m"), {"reason": "system_changed", "epoch": 2}, "settings"),
        (outline("ab", "t", "m"), {"boot_id": "e_2"}, "restart"),
        (outline("ab", "s", "n"), {"left_branch": True}, "edit"),
        (outline("ab", "s", "n"), {"cut": "m_5"}, "compaction"),
        (outline("ab", "s", "n"), {"boot_id": "e_2"}, "restart"),
        (outline("ab", "s", "n"), {"reason": "model_changed", "epoch": 2}, "model"),
        (outline("ab", "s", "n"), {}, "program"),
        (outline("ab", "s", "mn", settings="other"), {}, "settings"),
        (outline("ab", "s", "mn"), {}, "provider"),
        (outline("ab", "s", "mn"), {"wait_s": 301.0}, "ttl"),
        (outline("xy", "s", "m"), {"wait_s": 301.0, "intent_revision": 1}, "ttl"),
    ],
)
def test_the_cause_is_what_was_recorded(after: Outline, changed: dict[str, Any], expected: str) -> None:  # C18
    assert cause(after, **changed) == expected


def test_what_a_provider_does_not_report_is_unknown_and_never_a_miss() -> None:  # C17
    for before, now, expected in (
        (Usage(uncached=100), Usage(uncached=120), CacheVerdict(None, None)),
        (Usage(), Usage(uncached=1, cache_read=5), CacheVerdict(5, None)),
    ):
        current = answered(2, outline("x"), now)
        assert explain(answered(1, BEFORE, before), current, left_branch=False).verdict == expected
    first = explain(None, answered(1, BEFORE, WHOLE), left_branch=False)
    assert (first.verdict, first.place) == (CacheVerdict(0, None), None)


def test_a_prompt_below_the_providers_minimum_size_is_no_miss() -> None:
    rules = CacheRules(300.0, minimum=1024)
    previous = answered(1, BEFORE, WHOLE, rules=rules)
    assert explain(previous, answered(2, BEFORE, NOTHING_READ), left_branch=False).verdict == CacheVerdict(0, 0)
    larger = answered(1, BEFORE, Usage(uncached=1024), rules=rules)
    assert explain(larger, answered(2, BEFORE, NOTHING_READ), left_branch=False).verdict.missed == 1024


def test_what_an_endpoint_rounds_off_is_no_miss() -> None:
    rules = CacheRules(300.0, granularity=128)
    for read, missed in ((896, 0), (768, 232)):
        current = answered(2, outline("ab", "s", "mn"), Usage(uncached=1200 - read, cache_read=read))
        assert explain(answered(1, BEFORE, WHOLE, rules=rules), current, left_branch=False).verdict.missed == missed


def test_a_miss_costs_the_difference_to_reading() -> None:
    assert lost_cost(1_000_000, Usage(cache_write_5m=5), PRICE) == pytest.approx(11.5)
    assert lost_cost(1_000_000, Usage(cache_write_1h=5), PRICE) == pytest.approx(19.0)
    assert lost_cost(1_000_000, Usage(uncached=5), PRICE) == pytest.approx(9.0)
    assert lost_cost(0, Usage(uncached=5), PRICE) == 0
    assert lost_cost(None, Usage(), PRICE) is None
    assert lost_cost(5, Usage(), None) is None


@pytest.mark.parametrize(
    ("before", "after", "room", "shown"),
    [
        ("Today is 2026-01-01.", "Today is 2026-01-02.", 18, True),
        ("at 9:59:01 now", "at 9:59:02 now", 9, True),
        ("price 12", "price 13", 7, False),
        ("2026-01-01 tools: a", "2026-01-01 tools: b", 18, False),
    ],
)
def test_a_time_at_the_byte_is_recognised(before: str, after: str, room: int, shown: bool) -> None:
    assert shows_time(Excerpt(room, before, after, room)) is shown


def test_misses_that_no_endpoint_tells_of_are_unknown_and_not_none() -> None:  # C17
    def step(missed: int | None) -> Inspected:
        record = answered(1, BEFORE, Usage()).record
        return Inspected(record, BEFORE, None, None, CacheVerdict(None, missed), None, None)

    assert missed_of([]) == missed_of([step(None)]) == 0
    assert missed_of([step(None), step(None)]) is None
    assert missed_of([step(None), step(0)]) == 0
    assert missed_of([step(None), step(3), step(None), step(4)]) == 7
