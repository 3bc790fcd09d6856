"""Whatever a search provider sends, reading it gives hits or none, never a crash, and no hit that cannot be opened."""

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.jsonio import encode
from openprogram.tools.builtin.search_providers import APIS, complaint
from openprogram.tools.builtin.search_results import day, distinct, hit

names = st.sampled_from(
    [
        "results",
        "web",
        "organic",
        "type",
        "title",
        "url",
        "link",
        "content",
        "description",
        "snippet",
        "highlights",
        "date",
        "age",
        "page_age",
        "publishedDate",
        "published_date",
        "text",
        "message",
        "detail",
        "error",
        "code",
        "unresponsive_engines",
    ]
)
texts = st.text(max_size=30) | st.sampled_from(["search", "https://x.example/", "<b>x</b>", "&#xD800;", "\ud800"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from(sorted(APIS)), st.dictionaries(names, values, max_size=5))
def test_any_answer_can_be_read(provider, answer):
    found = APIS[provider].read(answer)
    for one in distinct(found or [], 20):
        assert one.url.startswith(("http://", "https://"))
        assert len(one.snippet) <= 600
        assert len(one.title) <= 2_000
        encode(one.display)


@given(values)
def test_any_error_has_a_complaint_that_is_text(value):
    assert len(complaint(value)) <= 200


@given(values)
def test_any_date_is_a_short_text_or_none(value):
    found = day(value)
    assert found is None or len(found) <= 40


@given(values, values, values)
def test_a_hit_without_an_address_is_none(title, snippet, date):
    assert hit(title, "ftp://x", snippet, date) is None
    assert hit(title, None, snippet, date) is None
