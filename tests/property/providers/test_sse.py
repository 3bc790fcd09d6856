"""However a stream is cut into chunks, the same events come out."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers.sse import SseEvent, SseSplitter

_line_ends = st.sampled_from([b"\n", b"\r", b"\r\n"])
_lines = st.sampled_from(
    [
        b"data: a",
        b"data:b",
        b"data",
        b"event: e",
        b": comment",
        b"",
        b"id: 1",
        b"data: \xc3\xa9",
        b"\xef\xbb\xbfdata: c",
    ]
)
_streams = st.lists(st.tuples(_lines, _line_ends)).map(lambda lines: b"".join(line + end for line, end in lines))


def by_the_standard(stream: bytes) -> list[SseEvent]:
    """The algorithm of the standard, word for word and line by line."""
    stream = stream.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    events: list[SseEvent] = []
    name, data, seen = b"", b"", False
    for line in stream.split(b"\n")[:-1]:
        if not line:
            if seen:
                events.append((name, data[:-1]))
            name, data, seen = b"", b"", False
        elif not line.startswith(b":"):
            field, _, value = line.partition(b":")
            value = value[1:] if value.startswith(b" ") else value
            if field == b"data":
                data, seen = data + value + b"\n", True
            elif field == b"event":
                name = value
    return events


@given(_streams, st.lists(st.integers(0, 400)))
def test_any_chunking_equals_one_chunk(stream: bytes, cuts: list[int]) -> None:
    splitter = SseSplitter()
    edges = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    events = [event for start, end in pairwise(edges) for event in splitter.feed(stream[start:end])]
    assert events == by_the_standard(stream)


@given(_streams)
def test_byte_by_byte_equals_one_chunk(stream: bytes) -> None:
    splitter = SseSplitter()
    events = [event for index in range(len(stream)) for event in splitter.feed(stream[index : index + 1])]
    assert events == by_the_standard(stream) == SseSplitter().feed(stream)
