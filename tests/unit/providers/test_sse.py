"""The event stream splitter, by the examples of the standard and of endpoints in the field."""

import pytest

from openprogram.providers.faults import Garbled
from openprogram.providers.sse import SseEvent, SseSplitter


def split(stream: bytes) -> list[SseEvent]:
    return SseSplitter().feed(stream)


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        pytest.param(b"data: a\n\n", [(b"", b"a")], id="plain"),
        pytest.param(b"event: e\ndata: a\n\n", [(b"e", b"a")], id="named"),
        pytest.param(b"data: a\nevent: e\n\n", [(b"e", b"a")], id="name-last"),
        pytest.param(b"data:a\n\n", [(b"", b"a")], id="no-space"),
        pytest.param(b"data:  a\n\n", [(b"", b" a")], id="one-space-only-is-dropped"),
        pytest.param(b"data: a\ndata: b\n\n", [(b"", b"a\nb")], id="several-data-lines"),
        pytest.param(b"data\n\n", [(b"", b"")], id="data-without-colon"),
        pytest.param(b"data: YHOO\ndata: +2\ndata: 10\n\n", [(b"", b"YHOO\n+2\n10")], id="from-the-standard"),
        pytest.param(b": ping\n\ndata: a\n\n", [(b"", b"a")], id="comment-between"),
        pytest.param(b": OPENROUTER PROCESSING\ndata: a\n\n", [(b"", b"a")], id="comment-inside"),
        pytest.param(b"event: ping\n\ndata: a\n\n", [(b"", b"a")], id="name-without-data-is-no-event"),
        pytest.param(b"id: 1\nretry: 10\nfoo: x\ndata: a\n\n", [(b"", b"a")], id="other-fields"),
        pytest.param(b"data: a\r\n\r\ndata: b\r\n\r\n", [(b"", b"a"), (b"", b"b")], id="crlf"),
        pytest.param(b"data: a\r\rdata: b\r\r", [(b"", b"a"), (b"", b"b")], id="cr"),
        pytest.param(b"data: a\n\r\ndata: b\r\r\n", [(b"", b"a"), (b"", b"b")], id="mixed"),
        pytest.param(b"data: a\n\n\n\n\ndata: b\n\n", [(b"", b"a"), (b"", b"b")], id="more-blank-lines"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", [(b"", b"a")], id="byte-order-mark"),
        pytest.param(b"data: a\n\ndata: b", [(b"", b"a")], id="cut-event-is-dropped"),
        pytest.param(b"data: a\n\ndata: b\n", [(b"", b"a")], id="event-without-blank-line-is-dropped"),
    ],
)
def test_stream_is_split_into_events(stream: bytes, events: list[SseEvent]) -> None:
    assert split(stream) == events


def test_a_cr_ends_its_line_before_the_next_byte_is_there() -> None:
    splitter = SseSplitter()
    assert splitter.feed(b"data: a\r\n\r") == [(b"", b"a")]
    assert splitter.feed(b"\ndata: b\n\n") == [(b"", b"b")]


def test_an_endless_event_is_refused_before_it_fills_the_memory() -> None:
    splitter = SseSplitter()
    megabyte = b"x" * 1024 * 1024
    for _ in range(32):
        splitter.feed(megabyte)
    with pytest.raises(Garbled):
        splitter.feed(megabyte)
