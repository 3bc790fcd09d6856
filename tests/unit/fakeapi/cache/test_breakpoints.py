"""Anthropic's simulated cache, rule by rule (C21)."""

from dataclasses import replace

import pytest

from openprogram.fakeapi.cache.breakpoints import LOOKBACK, BreakpointCache
from openprogram.fakeapi.cache.segments import Prompt, Segment, SegmentTable, Ttl
from openprogram.fakeapi.cache.verdict import CacheVerdict

TABLE = SegmentTable()


def block(text: str, ttl: Ttl | None = None) -> Segment:
    return TABLE.segment(text, "messages", ttl)


def blocks(count: int, name: str = "block") -> Prompt:
    return tuple(block(f"{name} {number}") for number in range(count))


def marked(prompt: Prompt, *places: int, ttl: Ttl = "5m") -> Prompt:
    """`prompt` with marks at these indices."""
    chosen = {place % len(prompt) for place in places}
    return tuple(replace(s, breakpoint=ttl) if i in chosen else s for i, s in enumerate(prompt))


def size(prompt: Prompt) -> int:
    return sum(segment.size for segment in prompt)


class Api:
    """A cache with a clock; `send` looks up and commits at once, as an answer that begins does."""

    def __init__(self) -> None:
        self.cache = BreakpointCache()
        self.now = 0.0

    def send(self, prompt: Prompt, model: str = "m", minimum: int = 0) -> CacheVerdict:
        plan = self.cache.look_up(model, prompt, minimum, self.now)
        self.cache.commit(plan)
        return plan.verdict


def test_the_first_request_writes_up_to_its_last_mark() -> None:
    prompt = marked(blocks(5), 3)
    verdict = Api().send(prompt)
    assert (verdict.read, verdict.write_5m, verdict.uncached) == (0, size(prompt[:4]), prompt[4].size)


def test_without_a_mark_nothing_is_written_or_read() -> None:
    api = Api()
    api.send(blocks(5))
    assert api.send(blocks(5)) == CacheVerdict(size(blocks(5)), 0, 0, 0, size(blocks(5)))


def test_an_extended_request_reads_what_the_previous_one_wrote() -> None:
    api = Api()
    first = marked(blocks(4), -1)
    api.send(first)
    longer = marked(blocks(7), -1)
    verdict = api.send(longer)
    assert verdict.read == size(first)
    assert verdict.write_5m == size(longer) - size(first)
    assert verdict.uncached == 0


@pytest.mark.parametrize(("added", "found"), [(LOOKBACK - 1, True), (LOOKBACK, False)])
def test_lookback_checks_twenty_places_with_the_mark_itself(added: int, found: bool) -> None:
    api = Api()
    first = marked(blocks(4), -1)
    api.send(first)
    verdict = api.send(marked(blocks(4 + added), -1))
    assert (verdict.read == size(first)) is found


def test_a_mark_where_the_previous_one_stood_needs_no_lookback() -> None:  # C15
    api = Api()
    first = marked(blocks(4), -1)
    api.send(first)
    assert api.send(marked(blocks(80), 3, -1)).read == size(first)


def test_a_changed_block_loses_what_follows_it() -> None:
    api = Api()
    prompt = marked(blocks(6), 1, -1)
    api.send(prompt)
    changed = (*prompt[:3], block("changed"), *prompt[4:])
    verdict = api.send(changed)
    assert verdict.read == size(prompt[:2])
    assert verdict.common_prefix >= size(prompt[:3])


def test_a_prefix_below_the_minimum_is_not_written() -> None:
    api = Api()
    prompt = marked(blocks(3), -1)
    verdict = api.send(prompt, minimum=size(prompt) + 1)
    assert (verdict.write_5m, verdict.uncached) == (0, size(prompt))
    assert api.send(prompt, minimum=size(prompt) + 1).read == 0


@pytest.mark.parametrize(("ttl", "seconds"), [("5m", 300), ("1h", 3600)])
def test_an_entry_lives_as_long_as_its_ttl_says(ttl: Ttl, seconds: float) -> None:
    prompt = marked(blocks(3), -1, ttl=ttl)
    for passed, read in ((seconds - 1, size(prompt)), (seconds, 0)):
        api = Api()
        api.send(prompt)
        api.now += passed
        assert api.send(prompt).read == read


def test_a_read_renews_the_entry() -> None:
    api = Api()
    prompt = marked(blocks(3), -1)
    api.send(prompt)
    for _ in range(5):
        api.now += 299
        assert api.send(prompt).read == size(prompt)


def test_reading_a_longer_prefix_renews_the_shorter_ones_in_it() -> None:
    api = Api()
    prompt = marked(blocks(8), 1, -1)
    api.send(prompt)
    api.now += 299
    api.send(prompt)
    api.now += 299
    assert api.send((*prompt[:2], block("other", "5m"))).read == size(prompt[:2])


def test_one_hour_and_five_minute_writes_are_billed_apart() -> None:
    api = Api()
    first, _, *rest = blocks(6)
    prompt = (first, block("block 1", "1h"), *rest[:2], block("block 4", "5m"), rest[3])
    verdict = api.send(prompt)
    assert verdict.write_1h == size(prompt[:2])
    assert verdict.write_5m == size(prompt[2:5])
    assert verdict.uncached == prompt[5].size


def test_an_entry_serves_no_other_model() -> None:
    api = Api()
    prompt = marked(blocks(3), -1)
    api.send(prompt, model="a")
    assert api.send(prompt, model="b").read == 0


def test_an_entry_is_readable_only_once_its_answer_has_begun() -> None:
    cache = BreakpointCache()
    prompt = marked(blocks(3), -1)
    first = cache.look_up("m", prompt, 0, 0.0)
    assert cache.look_up("m", prompt, 0, 0.0).verdict.read == 0
    cache.commit(first)
    assert cache.look_up("m", prompt, 0, 0.0).verdict.read == size(prompt)


def test_a_changed_marker_loses_what_follows_it_although_it_has_no_tokens() -> None:
    api = Api()
    tools, messages = marked(blocks(2, "tool"), -1), marked(blocks(3), -1)
    api.send((*tools, TABLE.marker("tool_choice auto", "messages"), *messages))
    verdict = api.send((*tools, TABLE.marker("tool_choice none", "messages"), *messages))
    assert verdict.read == size(tools)
