"""What every wire format offers to the rest of the fake API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from openprogram.fakeapi.answer import Answer
from openprogram.fakeapi.cache.segments import Rendering, SegmentTable
from openprogram.fakeapi.cache.verdict import CacheVerdict
from openprogram.fakeapi.conversation import Conversation
from openprogram.fakeapi.models import Api
from openprogram.fakeapi.rules.base import Violation
from openprogram.fakeapi.shapes import JsonObject


class Frame(NamedTuple):
    """One server-sent event in bytes. `hold` delays it; `delta` says that it carries content, so it
    is paced and counted. (A named tuple: thousands are made a second.)"""

    data: bytes
    hold: str | None = None
    delta: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request that was accepted, and what will be said. `output` and `reasoning` are tokens;
    `show_thinking` is false where the client wants signatures without text; `dropped` are the places of
    thinking blocks that the model did not get to see; `bills_writes` says whether writing to the cache costs;
    `diagnosis` is what the client asked to be told about the cache. For the other fields see `RequestOptions`.
    """

    id: str
    model: str
    created: int
    answer: Answer
    cache: CacheVerdict
    output: int
    reasoning: int
    include_usage: bool = True
    show_thinking: bool = True
    dropped: tuple[str, ...] = ()
    bills_writes: bool = False
    echo: JsonObject = field(default_factory=dict)
    client_search: bool = False
    loadable: Mapping[str, JsonObject] = field(default_factory=dict)
    search_sources: bool = False
    diagnosis: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The few parameters of a request that every wire format has in some spelling.

    `echo` are those that the answer repeats. `client_search` says that the client searches for tools, and
    `loadable` holds the definitions, by name, that the provider's own search may load. `search_sources`: the client
    wants to know what its searches of the web found.
    """

    stream: bool
    max_output: int | None
    include_usage: bool
    show_thinking: bool
    thinks: bool
    echo: JsonObject = field(default_factory=dict)
    client_search: bool = False
    loadable: Mapping[str, JsonObject] = field(default_factory=dict)
    search_sources: bool = False


class Dialect(Protocol):
    """One wire format. Implementations have no state."""

    api: Api
    call_prefix: str
    """How ids of tool calls begin."""
    message_prefix: str
    """How ids of answers begin."""

    def options(self, body: JsonObject) -> RequestOptions:
        """The common parameters of a valid request."""
        ...

    def conversation(self, body: JsonObject) -> Conversation:
        """A valid request as the demo model sees it."""
        ...

    def render(self, body: JsonObject, table: SegmentTable) -> Rendering:
        """A valid request as tokenised segments, in the order in which the model reads them."""
        ...

    def frames(self, exchange: Exchange) -> Iterator[Frame]:
        """The answer as a stream of events."""
        ...

    def whole(self, exchange: Exchange) -> bytes:
        """The answer as one JSON body."""
        ...

    def error_body(self, violation: Violation, request_id: str) -> bytes:
        """The body of an error."""
        ...

    def error_frame(self, violation: Violation, request_id: str) -> bytes:
        """An error in the middle of a stream."""
        ...

    def broken_frame(self) -> bytes:
        """An event whose JSON ends too early."""
        ...

    def fault(self, kind: str, model: str) -> Violation:
        """The error that this API answers for an error kind of `faults`."""
        ...


def merged_usage(usage: JsonObject, override: JsonObject) -> JsonObject:
    """Reported usage with a script's changes; a null takes a field away."""
    merged = {**usage, **override}
    return {key: value for key, value in merged.items() if value is not None}
