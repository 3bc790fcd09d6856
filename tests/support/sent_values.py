"""Requests as they were sent, by hypothesis: anything that a store may be given to keep."""

from hypothesis import strategies as st

from openprogram.core.sent import Conditions, PutSent, SentRecord, StoredSegment
from openprogram.core.usage import CacheRules, Price

names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
name_tuples = st.lists(names, max_size=4).map(tuple)
tallies = st.none() | st.integers(0, 10**9)
json_objects = st.dictionaries(names, st.none() | st.booleans() | names, max_size=2)


def digests(number: int) -> str:
    """A digest."""
    return f"{number:032x}"


segments = st.builds(StoredSegment, st.integers(0, 3).map(digests), st.binary(max_size=20))
conditions = st.builds(Conditions, names, names, st.integers(0, 9), name_tuples, tallies)
sents = st.builds(
    PutSent,
    st.builds(
        SentRecord,
        names,
        st.integers(1, 3),
        names,
        st.none() | names,
        names,
        st.sampled_from(("anthropic", "openai-chat")),
        st.floats(0, 1e9),
        st.integers(0, 3),
        st.integers(0, 3),
        st.integers(0, 3),
        st.lists(st.integers(0, 3).map(digests), max_size=3).map(tuple),
        st.integers(0, 3).map(digests),
        st.lists(st.tuples(names, st.integers(0, 3), st.none(), json_objects), max_size=2).map(tuple),
        conditions,
        st.builds(CacheRules, st.floats(0, 1e5), tallies, st.integers(1, 128)),
        st.none() | st.builds(Price, *[st.floats(0, 100)] * 5),
    ),
    st.lists(segments, max_size=3, unique_by=lambda segment: segment.digest).map(tuple),
)
