"""What the wire formats have in common: reading a JSON chunk, and what a parser of an answer is."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

import orjson

from openprogram.core.jsonio import JsonObject, scrub
from openprogram.core.messages import Block
from openprogram.core.prompt import Completed, ProviderEvent
from openprogram.core.usage import Usage
from openprogram.providers.faults import Garbled
from openprogram.providers.sse import SseEvent

_LONGEST_ID: Final = 256


class Parser(Protocol):
    """Reads one answer, event by event. `feed` and `ending` may raise a `Fault`."""

    def feed(self, events: Iterable[SseEvent]) -> None:
        """Read these events."""
        ...

    def take(self) -> list[ProviderEvent]:
        """The pieces of the answer since the last time; those before a fault too."""
        ...

    @property
    def done(self) -> bool:
        """Whether the mark that ends an answer has come."""
        ...

    def ending(self) -> Completed:
        """The whole answer, once the stream is at its end; raises `Cut` where it ended too early."""
        ...

    def counted(self) -> Usage:
        """What the endpoint has told of the tokens so far; the output only where it is the final count."""
        ...

    def partial(self) -> tuple[tuple[Block, ...], Usage]:
        """What had arrived, for an answer that failed."""
        ...


def read_chunk(data: bytes) -> JsonObject:
    """One event's JSON object. Raises `Garbled`."""
    try:
        value: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = _lenient(data)
    if not isinstance(value, dict):
        raise Garbled(f"expected a JSON object in the stream, found {_excerpt(data)}")
    return value


def _lenient(data: bytes) -> Any:
    """JavaScript servers that cut text into chunks halve characters outside the basic plane: JSON that Python's own
    parser takes, and UTF-8 cannot carry. The halves become U+FFFD."""
    try:
        return json.loads(data, object_pairs_hook=_scrubbed)
    except ValueError as error:
        raise Garbled(f"not JSON in the stream: {_excerpt(data)}") from error


def _scrubbed(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {scrub(name): scrub(value) if isinstance(value, str) else value for name, value in pairs}


def _excerpt(data: bytes) -> str:
    text = data[:80].decode("utf-8", "replace")
    return f"{text}…" if len(data) > 80 else text


def count(value: object) -> int | None:
    """A token count as reported; None where there is none (unknown is not zero)."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def string(value: object) -> str:
    """A field that has to be a text. Raises `TypeError`."""
    if type(value) is not str:
        raise TypeError(f"a text, found {type(value).__name__}")
    return value


def answer_id_of(answer: Mapping[str, Any]) -> str | None:
    """The endpoint's own name for its answer, if it gives one."""
    found = answer.get("id")
    return found if isinstance(found, str) and 0 < len(found) <= _LONGEST_ID else None


def object_in(parent: dict[str, Any], name: str) -> dict[str, Any]:
    """An object that another one holds under that name; empty where it holds none."""
    value = parent.get(name)
    return value if isinstance(value, dict) else {}
