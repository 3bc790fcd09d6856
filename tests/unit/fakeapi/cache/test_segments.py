"""Tokenised segments."""

from openprogram.fakeapi.cache.segments import SegmentTable
from openprogram.tokens import count_tokens


def test_a_segment_has_its_texts_tokens_and_a_separator() -> None:
    segment = SegmentTable().segment("hello world", "messages")
    assert segment.size == count_tokens("hello world") + 1


def test_the_same_text_in_another_section_is_another_segment() -> None:
    table = SegmentTable()
    assert table.segment("x", "tools").digest != table.segment("x", "system").digest


def test_a_salt_changes_the_key_and_not_the_tokens() -> None:
    table = SegmentTable()
    plain, salted = table.segment("x", "messages"), table.segment("x", "messages", salt="signature")
    assert plain.tokens == salted.tokens
    assert plain.digest != salted.digest


def test_a_forgotten_text_is_tokenised_again_to_the_same_segment() -> None:
    table = SegmentTable(limit=100)
    first = table.segment("the first", "messages")
    for number in range(50):
        table.segment(f"another {number}", "messages")
    assert table.segment("the first", "messages") == first


def test_a_marker_has_no_tokens_and_is_no_block() -> None:
    marker = SegmentTable().marker("x", "messages")
    assert (marker.size, marker.block) == (0, False)
