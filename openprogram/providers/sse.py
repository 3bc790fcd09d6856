"""Splitting a server-sent event stream, bytes in, `(event, data)` out.

Follows https://html.spec.whatwg.org/multipage/server-sent-events.html, section "Interpreting an event stream", with
the fields that model endpoints use: `event` and `data`. `id`, `retry`, unknown fields and comments are skipped, and an
event that the end of the stream cuts short is dropped, as there.
"""

from typing import Final

from openprogram.providers.faults import Garbled

SseEvent = tuple[bytes, bytes]
"""The event's name, empty where it has none, and its data lines joined by line feeds."""

_BOM: Final = b"\xef\xbb\xbf"
_MAX_EVENT_BYTES: Final = 32 * 1024 * 1024


class SseSplitter:
    """Feed it chunks as they arrive; any chunking gives the same events as one chunk would."""

    __slots__ = ("_after_cr", "_rest", "_started")

    def __init__(self) -> None:
        self._rest = bytearray()
        self._after_cr = False
        self._started = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Events that this chunk completes. Raises `Garbled` for one of more than 32 MB."""
        if not self._started:
            chunk = self._begin(chunk)
        if self._after_cr or b"\r" in chunk:
            chunk = self._line_feeds(chunk)
        if self._rest:
            self._rest += chunk
            if self._rest.find(b"\n\n", max(0, len(self._rest) - len(chunk) - 1)) < 0:
                if len(self._rest) > _MAX_EVENT_BYTES:
                    raise Garbled("an endless event in place of a stream of them")
                return []
            chunk = bytes(self._rest)
        *blocks, rest = chunk.split(b"\n\n")
        self._rest = bytearray(rest)
        events = []
        for block in blocks:
            event = _parse(block)
            if event is not None:
                events.append(event)
        return events

    def _begin(self, chunk: bytes) -> bytes:
        """Drop a leading byte order mark, which may itself be split over chunks."""
        head = bytes(self._rest) + chunk
        self._rest.clear()
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._rest += head
            return b""
        self._started = True
        return head.removeprefix(_BOM)

    def _line_feeds(self, chunk: bytes) -> bytes:
        """CR and CRLF become LF. A CR ends its line at once; an LF that follows in the next chunk belongs to it."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if chunk.endswith(b"\r"):
            self._after_cr = True
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _parse(block: bytes) -> SseEvent | None:
    """One block of lines; None where it holds no data."""
    if b"\n" not in block:
        if block.startswith(b"data: "):
            return b"", block[6:]
    elif block.startswith(b"event: "):
        first, _, second = block.partition(b"\n")
        if second.startswith(b"data: ") and b"\n" not in second:
            return first[7:], second[6:]
    return _parse_lines(block)


def _parse_lines(block: bytes) -> SseEvent | None:
    name = b""
    data: list[bytes] = []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    return (name, b"\n".join(data)) if data else None
