"""A bill as another tokenizer writes it."""

from hypothesis import given
from hypothesis import strategies as st

from openprogram.fakeapi.cache.verdict import CacheVerdict

tokens = st.integers(0, 10**6)


@given(tokens, tokens, tokens, tokens, st.floats(0.5, 3.0))
def test_the_parts_of_a_bill_in_other_tokens_add_up(
    read: int, write_5m: int, write_1h: int, uncached: int, factor: float
) -> None:
    ours = CacheVerdict(read + write_5m + write_1h + uncached, read, write_5m, write_1h, read)
    theirs = ours.times(factor)
    assert theirs.read + theirs.write_5m + theirs.write_1h + theirs.uncached == theirs.prompt
    for part, same in ((ours.prompt, theirs.prompt), (ours.read, theirs.read), (ours.uncached, theirs.uncached)):
        assert abs(same - part * factor) <= 4
    assert ours.times(1.0) == ours
