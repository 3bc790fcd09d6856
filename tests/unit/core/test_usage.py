"""Usage in one form: what is unknown stays unknown, and sums are sums (spec cache.md C17)."""

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.usage import Price, Usage

counts = st.none() | st.integers(0, 10**9)
usages = st.builds(Usage, counts, counts, counts, counts, counts, counts)


def test_the_prompt_is_all_input_and_unknown_where_the_uncached_part_is() -> None:
    assert Usage(uncached=10, cache_read=5, cache_write_5m=2, cache_write_1h=1).prompt == 18
    assert Usage(uncached=10).prompt == 10
    assert Usage(cache_read=5).prompt is None


def test_what_is_unknown_has_no_price() -> None:
    price = Price(input=3.0, output=15.0, cache_read=0.3, cache_write_5m=3.75, cache_write_1h=6.0)
    assert price.cost(Usage()) is None
    assert price.cost(Usage(uncached=1, output=None)) is None
    whole = Usage(1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000)
    assert price.cost(whole) == 3.0 + 0.3 + 3.75 + 6.0 + 15.0


@given(usages, usages, usages)
def test_sums_do_not_depend_on_their_order(one: Usage, other: Usage, third: Usage) -> None:
    assert one.plus(other) == other.plus(one)
    assert one.plus(other).plus(third) == one.plus(other.plus(third))
    assert one.plus(Usage()) == one


@given(usages, usages)
def test_a_known_count_is_never_lost(one: Usage, other: Usage) -> None:
    total = one.plus(other)
    assert (total.uncached is None) == (one.uncached is None and other.uncached is None)
    assert (total.uncached or 0) == (one.uncached or 0) + (other.uncached or 0)
