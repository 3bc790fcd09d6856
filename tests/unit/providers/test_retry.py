"""Sending again, and above all not sending again (P14)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from openprogram.core.messages import TextBlock
from openprogram.core.prompt import (
    CallPiece,
    Completed,
    Failed,
    FailureCode,
    ModelInfo,
    ProviderEvent,
    ProviderFailure,
    ProviderRequest,
    ReasoningPiece,
    ResponseStarted,
    RetryScheduled,
    TextPiece,
)
from openprogram.core.usage import Usage
from openprogram.providers.retry import PASSING, RetryingProvider, RetryPolicy

REQUEST = ProviderRequest("m", (), (), ())
POLICY = RetryPolicy()
DONE = Completed((TextBlock("Hi"),), "end_turn", Usage())


def failed(code: FailureCode = "overloaded", retry_after_s: float | None = None) -> Failed:
    return Failed(ProviderFailure(code, "no", "retry", retry_after_s=retry_after_s))


class Scripted:
    """Gives one list of events for each request."""

    def __init__(self, *answers: list[ProviderEvent]) -> None:
        self.answers = list(answers)
        self.closed = 0

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[ProviderEvent, None]:
        try:
            for event in self.answers.pop(0):
                yield event
        finally:
            self.closed += 1

    async def models(self) -> tuple[ModelInfo, ...]:
        return ()

    async def aclose(self) -> None:
        self.answers.clear()


async def run(inner: Scripted, policy: RetryPolicy = POLICY) -> tuple[list[ProviderEvent], list[float]]:
    """All events, and the waits."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    provider = RetryingProvider(inner, policy, sleep=sleep, chance=lambda: 1.0)
    return [event async for event in provider.stream(REQUEST)], waits


async def test_a_failure_before_anything_was_shown_is_retried_and_announced() -> None:
    events, waits = await run(Scripted([failed()], [ResponseStarted(), TextPiece(0, "Hi"), DONE]))
    assert events == [RetryScheduled(failed().failure, 1, 0.5), ResponseStarted(), TextPiece(0, "Hi"), DONE]
    assert waits == [0.5]


@pytest.mark.parametrize(
    "piece",
    [TextPiece(0, "H"), ReasoningPiece(0, "hm"), CallPiece(0, "c_1", "read", "")],
    ids=["text", "reasoning", "call"],
)
async def test_what_was_shown_is_never_sent_again(piece: ProviderEvent) -> None:
    end = failed("stream_cut")
    inner = Scripted([ResponseStarted(), piece, end], [DONE])
    assert await run(inner) == ([ResponseStarted(), piece, end], [])
    assert len(inner.answers) == 1


async def test_an_answer_that_broke_before_its_first_piece_is_retried_and_starts_once() -> None:
    events, _ = await run(Scripted([ResponseStarted(), failed("stream_cut")], [ResponseStarted(), DONE]))
    assert [type(event) for event in events] == [ResponseStarted, RetryScheduled, Completed]


@pytest.mark.parametrize(
    "code", ["bad_key", "no_credit", "context_too_long", "model_not_found", "bad_request", "bad_response", "refused"]
)
async def test_a_failure_that_does_not_pass_by_itself_is_not_retried(code: FailureCode) -> None:
    assert code not in PASSING
    assert await run(Scripted([failed(code)], [DONE])) == ([failed(code)], [])


async def test_waits_grow_and_end_with_the_last_failure() -> None:
    answers: list[list[ProviderEvent]] = [[failed()] for _ in range(6)]
    events, waits = await run(Scripted(*answers), RetryPolicy(retries=5, longest_s=3.0))
    assert waits == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert events[-1] == failed()


async def test_a_wait_that_the_endpoint_asks_for_is_kept() -> None:
    _, waits = await run(Scripted([failed("rate_limited", 7.0)], [DONE]))
    assert waits == [pytest.approx(7.7)]
    policy = RetryPolicy()
    for chance in (0.0, 0.5, 1.0):
        delay = policy.delay(1, failed("rate_limited", 7.0).failure, chance)
        assert delay is not None
        assert delay >= 7.0


async def test_a_wait_beyond_patience_is_left_to_the_user() -> None:
    assert await run(Scripted([failed("rate_limited", 3600.0)], [DONE])) == ([failed("rate_limited", 3600.0)], [])


async def test_jitter_spreads_the_wait_over_half_of_it() -> None:
    assert [RetryPolicy().delay(3, failed().failure, chance) for chance in (0.0, 0.5, 1.0)] == [1.0, 1.5, 2.0]


async def test_closing_closes_the_request_below() -> None:
    inner = Scripted([ResponseStarted(), TextPiece(0, "H"), DONE])
    async with aclosing(RetryingProvider(inner).stream(REQUEST)) as events:
        await anext(events)
        assert inner.closed == 0
    assert inner.closed == 1
