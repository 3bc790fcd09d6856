"""What the fake API remembers: the requests it got, and the streams it sends."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import orjson

from openprogram.fakeapi.cache.verdict import CacheVerdict
from openprogram.fakeapi.shapes import JsonObject

StreamState: TypeAlias = Literal["open", "finished", "closed_by_client", "broken_off"]

_MAX_BODIES: Final = 128 * 1024 * 1024
_MAX_RECORDS: Final = 20_000


class Signal:
    """Lets coroutines wait until something that others change has become true."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def notify(self) -> None:
        """Wake all that wait, so that they look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait_until(self, true: Callable[[], bool]) -> None:
        """Return once `true()` holds."""
        while not true():
            await self._changed.wait()


@dataclass(slots=True)
class RequestRecord:
    """One request as it came in and what became of it. `body` is the raw bytes, or `None` once they
    were dropped to save memory; `rule` is the number of the rule that refused it."""

    number: int
    api: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None
    status: int = 0
    rule: str | None = None
    error: str | None = None
    cache: CacheVerdict | None = None
    stream: StreamState | None = None

    def shown(self, *, body: bool = True) -> JsonObject:
        """The record as JSON, with its body or without; one that is no JSON is shown as text."""
        verdict = self.cache
        return {
            "number": self.number,
            "api": self.api,
            "path": self.path,
            "headers": dict(self.headers),
            "body": _readable(self.body) if body else None,
            "status": self.status,
            "rule": self.rule,
            "error": self.error,
            "stream": self.stream,
            "cache": None
            if verdict is None
            else {
                "prompt": verdict.prompt,
                "read": verdict.read,
                "write_5m": verdict.write_5m,
                "write_1h": verdict.write_1h,
                "write_30m": verdict.write_30m,
                "write_12h": verdict.write_12h,
                "uncached": verdict.uncached,
                "common_prefix": verdict.common_prefix,
            },
        }


def _readable(body: bytes | None) -> Any:
    if body is None:
        return None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return body.decode("utf-8", "replace")


class RequestLog:
    """Requests in order of arrival. Old bodies are dropped beyond `max_bodies` bytes, so that a demo
    that runs for weeks stays small; the tests' conversations fit many times over."""

    def __init__(self, max_bodies: int = _MAX_BODIES) -> None:
        self._max_bodies = max_bodies
        self._records: deque[RequestRecord] = deque(maxlen=_MAX_RECORDS)
        self._with_body: deque[RequestRecord] = deque()
        self._held = 0
        self.count = 0

    def add(self, api: str, path: str, headers: Mapping[str, str], body: bytes) -> RequestRecord:
        """Record a request that has just arrived."""
        self.count += 1
        record = RequestRecord(self.count, api, path, headers, body)
        self._records.append(record)
        self._with_body.append(record)
        self._held += len(body)
        while self._held > self._max_bodies and len(self._with_body) > 1:
            oldest = self._with_body.popleft()
            self._held -= len(oldest.body or b"")
            oldest.body = None
        return record

    def since(self, number: int) -> list[RequestRecord]:
        """The records with a higher number."""
        return [record for record in self._records if record.number > number]

    def clear(self) -> None:
        """Forget everything and start to count anew."""
        self._records.clear()
        self._with_body.clear()
        self._held = self.count = 0


@dataclass(slots=True)
class Stream:
    """One answer on its way. `deltas` counts the content events written so far; `held` is the name of
    the hold at which it waits."""

    number: int
    request: RequestRecord
    deltas: int = 0
    held: str | None = None
    task: asyncio.Task[None] | None = None


@dataclass(slots=True)
class StreamLog:
    """The open answers and the number of those that ended in each way."""

    signal: Signal
    open: dict[int, Stream] = field(default_factory=dict)
    ended: dict[StreamState, int] = field(default_factory=dict)
    count: int = 0

    def begin(self, request: RequestRecord) -> Stream:
        """A new answer begins."""
        self.count += 1
        request.stream = "open"
        stream = Stream(self.count, request)
        self.open[stream.number] = stream
        self.signal.notify()
        return stream

    def end(self, stream: Stream, state: StreamState) -> None:
        """The answer is over, for the first and only time."""
        if self.open.get(stream.number) is not stream:
            return
        del self.open[stream.number]
        stream.request.stream = state
        self.ended[state] = self.ended.get(state, 0) + 1
        self.signal.notify()

    def held(self, name: str) -> bool:
        """Whether any answer waits at the hold `name`."""
        return any(stream.held == name for stream in self.open.values())

    def shown(self) -> JsonObject:
        """The state as JSON."""
        return {
            "open": [
                {
                    "request": stream.request.number,
                    "api": stream.request.api,
                    "deltas": stream.deltas,
                    "held": stream.held,
                }
                for stream in self.open.values()
            ],
            "finished": self.ended.get("finished", 0),
            "closed_by_client": self.ended.get("closed_by_client", 0),
            "broken_off": self.ended.get("broken_off", 0),
        }
