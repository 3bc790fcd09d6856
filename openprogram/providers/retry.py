"""Sending again, where that is safe and may help (spec protocol.md P14).

A wrapper around a provider: it repeats a request only while nothing of an answer was shown, only for failures that
pass by themselves, after a growing and jittered wait that is never shorter than what the endpoint asked for.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Protocol

from openprogram.core.prompt import (
    CallPiece,
    Completed,
    Failed,
    FailureCode,
    HostedPiece,
    ModelInfo,
    ProviderEvent,
    ProviderFailure,
    ProviderRequest,
    ReasoningPiece,
    RequestSent,
    ResponseStarted,
    RetryScheduled,
    TextPiece,
)

PASSING: Final[frozenset[FailureCode]] = frozenset(("rate_limited", "overloaded", "endpoint_down", "stream_cut"))


class OneTry(Protocol):
    """A provider without retries, whose stream is a generator that can be closed."""

    def stream(self, request: ProviderRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Send the request once."""
        ...

    async def models(self) -> tuple[ModelInfo, ...]:
        """See `core.ports.Provider`."""
        ...

    async def aclose(self) -> None:
        """See `core.ports.Provider`."""
        ...


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long: waits double from `first_s` up to `longest_s`, each taken at 50 to 100 %.

    An endpoint that asks for a longer pause than `patience_s` is not waited for: the user sees its time and decides.
    """

    retries: int = 4
    first_s: float = 0.5
    longest_s: float = 20.0
    patience_s: float = 60.0

    def delay(self, attempt: int, failure: ProviderFailure, chance: float) -> float | None:
        """Seconds to wait before retry number `attempt` (from 1), None for no retry. `chance` is in 0 to 1."""
        if failure.code not in PASSING or attempt > self.retries:
            return None
        asked = failure.retry_after_s or 0.0
        if asked > self.patience_s:
            return None
        backoff = min(self.longest_s, self.first_s * 2.0 ** (attempt - 1)) * (0.5 + chance / 2)
        return max(backoff, asked * (1 + chance / 10))


class RetryingProvider:
    """Implements `core.ports.Provider` over one that does not retry. `sleep` and `chance` are the tests' to own."""

    def __init__(
        self,
        inner: OneTry,
        policy: RetryPolicy = RetryPolicy(),
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._inner = inner
        self._policy = policy
        self._sleep = sleep
        self._chance = chance

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Send, and send again while that is safe; see `core.ports.Provider.stream`."""
        attempt = 0
        started = False
        while True:
            shown = False
            failed: Failed | None = None
            async with aclosing(self._inner.stream(request)) as events:
                async for event in events:
                    match event:  # nearly every event is a piece
                        case TextPiece() | ReasoningPiece() | CallPiece() | HostedPiece():
                            shown = True
                            yield event
                        case Completed() | RetryScheduled():
                            shown = True
                            yield event
                        case Failed():
                            failed = event
                        case RequestSent():
                            yield event
                        case ResponseStarted():
                            if not started:
                                started = True
                                yield event
            if failed is None:
                return
            attempt += 1
            delay = None if shown else self._policy.delay(attempt, failed.failure, self._chance())
            if delay is None:
                yield failed
                return
            yield RetryScheduled(failed.failure, attempt, delay)
            await self._sleep(delay)

    async def models(self) -> tuple[ModelInfo, ...]:
        """See `core.ports.Provider.models`; a person who waits for a list is told at once."""
        return await self._inner.models()

    async def aclose(self) -> None:
        """Close connections."""
        await self._inner.aclose()
