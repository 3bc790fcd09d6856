"""The first difference is the first one, to the byte; a miss has a cause and nothing else has (spec cache.md C18)."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.jsonio import digest_bytes
from openprogram.core.usage import CacheRules, Usage
from openprogram.ledger.body import SECTIONS
from openprogram.ledger.difference import Outline, excerpt, first_byte, first_place
from openprogram.ledger.verdict import Answered, explain
from tests.support.sent import CONDITIONS, record

texts = st.text("abäß→", max_size=6).map(str.encode)
long_texts = st.tuples(st.integers(0, 9000), texts).map(lambda both: b"x" * both[0] + both[1])
sections = st.lists(st.sampled_from((b"a", b"b", b"ab", b"abc", b"")), max_size=4).map(tuple)
requests = st.tuples(sections, sections, sections)


def outline_of(request: tuple[tuple[bytes, ...], ...]) -> Outline:
    tools, system, messages = (tuple(map(digest_bytes, section)) for section in request)
    return Outline(tools, system, messages)


@given(long_texts, long_texts)
def test_the_first_byte_that_differs_is_named_exactly(before: bytes, after: bytes) -> None:  # C18
    byte = first_byte(before, after)
    if byte is None:
        assert before == after
    else:
        assert before[:byte] == after[:byte]
        assert before[byte : byte + 1] != after[byte : byte + 1]


@given(requests, requests)
def test_the_first_segment_that_differs_is_named_and_no_other(
    before: tuple[tuple[bytes, ...], ...], after: tuple[tuple[bytes, ...], ...]
) -> None:  # C18
    place = first_place(outline_of(before), outline_of(after))
    bytes_of = {digest_bytes(data): data for request in (before, after) for section in request for data in section}
    if place is None:
        assert before[:2] == after[:2]
        shorter = min(len(before[2]), len(after[2]))
        assert before[2][:shorter] == after[2][:shorter]
        return
    number = SECTIONS.index(place.section)
    assert before[:number] == after[:number], "an earlier section differs"
    old, new = before[number], after[number]
    assert old[: place.index] == new[: place.index], "an earlier segment differs"
    was, now = bytes_of.get(place.before or "", b""), bytes_of.get(place.after or "", b"")
    assert (was, now) == (b"".join(old[place.index :][:1]), b"".join(new[place.index :][:1]))
    assert place.before != place.after
    shown = excerpt(place, bytes_of)
    assert was[: shown.byte] == now[: shown.byte]


@given(requests, st.lists(st.sampled_from((b"a", b"b")), max_size=3).map(tuple))
def test_a_request_that_goes_on_has_no_difference(
    request: tuple[tuple[bytes, ...], ...], more: tuple[bytes, ...]
) -> None:
    grown = (*request[:2], request[2] + more)
    assert first_place(outline_of(request), outline_of(grown)) is None
    assert first_place(outline_of(grown), outline_of(request)) is None  # what is shorter misses nothing of its own


counts = st.none() | st.integers(0, 5000)
usages = st.builds(Usage, counts, counts, counts, counts, counts)
conditions = st.builds(
    replace,
    st.just(CONDITIONS),
    reason=st.sampled_from(("unchanged", "cold", "discovered", "added", "forced", "system_changed", "a_new_one")),
    epoch=st.integers(1, 2),
    intent_revision=st.integers(0, 1),
    registry_version=st.integers(0, 1),
    boot_id=st.sampled_from(("e_1", "e_2")),
    cut=st.sampled_from((None, "m_9")),
)


@st.composite
def answers(draw: st.DrawFn) -> Answered:
    rules = CacheRules(300.0, draw(st.sampled_from((None, 1024))), draw(st.sampled_from((1, 128))))
    sent_at = draw(st.integers(0, 1000)) * 1.0
    made = record(1, conditions=draw(conditions), rules=rules, sent_at=sent_at)
    return Answered(made, outline_of(draw(requests)), draw(usages))


@given(st.none() | answers(), answers(), st.booleans())
def test_a_miss_has_a_cause_and_nothing_else_has(previous: Answered | None, current: Answered, left: bool) -> None:
    verdict = explain(previous, current, left_branch=left).verdict  # vocabulary: every miss has a cause
    assert verdict.read == current.usage.cache_read
    assert (verdict.cause is not None) == bool(verdict.missed)
    if previous is None or current.usage.cache_read is None:
        assert verdict.missed is None
    elif verdict.missed:
        assert verdict.missed <= (previous.usage.prompt or 0)
        assert verdict.missed <= (current.usage.prompt or 0)


@given(answers(), answers())
def test_the_same_bytes_are_never_blamed_on_openprogram(previous: Answered, current: Answered) -> None:
    same = replace(current, outline=previous.outline)
    cause = explain(previous, same, left_branch=False).verdict.cause
    assert cause in (None, "ttl", "provider")
