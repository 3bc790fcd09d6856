"""Everything that one fake API process holds, in one value that is handed to each endpoint."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from openprogram.fakeapi.bill import Bill
from openprogram.fakeapi.cache.automatic import AutomaticCache
from openprogram.fakeapi.cache.breakpoints import OPENAI_LOOKBACK, BreakpointCache
from openprogram.fakeapi.cache.segments import SegmentTable
from openprogram.fakeapi.diagnosis import Answers
from openprogram.fakeapi.fault_mode import FaultMode
from openprogram.fakeapi.log import RequestLog, Signal, StreamLog
from openprogram.fakeapi.models import DEMO
from openprogram.fakeapi.refusals import Refusing
from openprogram.fakeapi.scripts import ScriptQueue

DEFAULT_PACE: Final = 60.0
_MAX_THOUGHT: Final = 100_000


class Clock:
    """Seconds that only count forward: real time plus what a test has added."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def now(self) -> float:
        """The present, in seconds."""
        return time.monotonic() + self._ahead

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass at once for the caches."""
        self._ahead += seconds


class Holds:
    """Named places where answers wait until a test releases them. A release counts for ever, so it
    does not matter whether the answer was there first."""

    def __init__(self) -> None:
        self._events: dict[str, asyncio.Event] = {}

    def release(self, name: str) -> None:
        """Let everyone past who waits at `name` or comes there later."""
        self._event(name).set()

    async def wait(self, name: str) -> None:
        """Return once `name` has been released."""
        await self._event(name).wait()

    def is_released(self, name: str) -> bool:
        """Whether nobody has to wait at `name`."""
        return self._event(name).is_set()

    def _event(self, name: str) -> asyncio.Event:
        return self._events.setdefault(name, asyncio.Event())


class Thoughts:
    """The ids of tool calls that were given out behind a thinking block."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()

    def add(self, call_id: str) -> None:
        """Remember a call; the oldest are forgotten beyond 100,000."""
        self._ids[call_id] = None
        if len(self._ids) > _MAX_THOUGHT:
            self._ids.popitem(last=False)

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._ids


@dataclass(slots=True)
class FakeState:
    """One process's state. `pace` is the demo model's speed in deltas a second, 0 for no pacing.

    `token_factor` is how many input tokens are reported for one of o200k."""

    pace: float = DEFAULT_PACE
    clock: Clock = field(default_factory=Clock)
    signal: Signal = field(default_factory=Signal)
    scripts: ScriptQueue = field(default_factory=ScriptQueue)
    holds: Holds = field(default_factory=Holds)
    requests: RequestLog = field(default_factory=RequestLog)
    segments: SegmentTable = field(default_factory=SegmentTable)
    breakpoints: BreakpointCache = field(default_factory=BreakpointCache)
    openai_breakpoints: BreakpointCache = field(default_factory=lambda: BreakpointCache(OPENAI_LOOKBACK))
    automatic: AutomaticCache = field(default_factory=AutomaticCache)
    thoughts: Thoughts = field(default_factory=Thoughts)
    answers: Answers = field(default_factory=Answers)
    faults: FaultMode = field(default_factory=FaultMode)
    refusing: Refusing = field(default_factory=Refusing)
    bill: Bill = field(default_factory=Bill)
    listed_models: tuple[str, ...] = (DEMO,)
    token_factor: float = 1.0
    streams: StreamLog = field(init=False)

    def __post_init__(self) -> None:
        self.streams = StreamLog(self.signal)

    def reset(self) -> None:
        """As if the process had just started: open answers are broken off, everything is forgotten."""
        for stream in list(self.streams.open.values()):
            if stream.task is not None:
                stream.task.cancel()
        self.clock = Clock()
        self.scripts.clear()
        self.holds = Holds()
        self.requests.clear()
        self.breakpoints = BreakpointCache()
        self.openai_breakpoints = BreakpointCache(OPENAI_LOOKBACK)
        self.automatic = AutomaticCache()
        self.thoughts = Thoughts()
        self.answers = Answers()
        self.faults = FaultMode()
        self.refusing = Refusing()
        self.bill = Bill()
        self.listed_models = (DEMO,)
        self.token_factor = 1.0
        self.streams = StreamLog(self.signal)
        self.signal.notify()
