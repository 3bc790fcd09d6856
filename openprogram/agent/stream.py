"""One model request: from the provider's events to the chat's events, keeping what arrived whatever happens."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import assert_never

from openprogram.agent.stop import Stopped, StopSignal
from openprogram.core.events import HostedAdded, Notice, ReasoningDelta, TextDelta, ToolCallDelta
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import Block, HostedBlock, MessageStatus, ReasoningBlock, TextBlock, ToolUseBlock
from openprogram.core.ports import Emit
from openprogram.core.prompt import (
    CallPiece,
    Completed,
    Failed,
    HostedPiece,
    ProviderEvent,
    ProviderFailure,
    ReasoningPiece,
    RequestSent,
    ResponseStarted,
    RetryScheduled,
    StopReason,
    TextPiece,
)
from openprogram.core.usage import ProviderDiagnosis, Usage


@dataclass(slots=True)
class Received:
    """An answer as far as it arrived. `pieces` joins streamed text by block until the whole blocks are known."""

    status: MessageStatus = "interrupted"
    stop_reason: StopReason | None = None
    failure: ProviderFailure | None = None
    usage: Usage = field(default_factory=Usage)
    answer_id: str | None = None
    diagnosis: ProviderDiagnosis | None = None
    first_piece_at: float | None = None
    blocks: tuple[Block, ...] | None = None
    pieces: dict[int, tuple[type[TextBlock] | type[ReasoningBlock], list[str]]] = field(default_factory=dict)
    hosted: dict[int, HostedBlock] = field(default_factory=dict)
    seen: dict[int, tuple[float, float]] = field(default_factory=dict)
    """When the first and the newest piece of each reasoning block came."""

    def add(self, block: int, kind: type[TextBlock] | type[ReasoningBlock], text: str) -> None:
        """Join a piece of text to its block."""
        pieces = self.pieces.get(block)
        if pieces is None:
            self.pieces[block] = kind, [text]
        else:
            pieces[1].append(text)

    def saw(self, block: int, now: float) -> None:
        """A piece of a reasoning block came."""
        self.seen[block] = (self.seen.get(block, (now, now))[0], now)

    def whole_or_partial(self) -> tuple[Block, ...]:
        """The blocks as the provider gave them at the end, else what was shown so far.

        Only a complete answer keeps its calls: no other answer's calls are run, and a call without a result is an error
        at the next request (design law 7).
        """
        if self.status == "complete" and self.blocks is not None:
            return self._timed(self.blocks)
        if self.blocks is not None:
            return self._timed(tuple(block for block in self.blocks if not isinstance(block, ToolUseBlock)))
        joined = ((place, kind, "".join(parts)) for place, (kind, parts) in self.pieces.items())
        shown: dict[int, Block] = {place: kind(text) for place, kind, text in joined if text}
        return self._timed(tuple(block for _, block in sorted((shown | self.hosted).items())))

    def _timed(self, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        """The blocks, reasoning with how long it was seen to take: from its first piece to its last."""
        took = iter([round((last - first) * 1000) for _, (first, last) in sorted(self.seen.items())])
        return tuple(
            replace(block, duration_ms=next(took, 0) or None)
            if isinstance(block, ReasoningBlock) and block.text
            else block
            for block in blocks
        )


async def receive(
    events: AsyncIterator[ProviderEvent],
    message_id: str,
    emit: Emit,
    stop: StopSignal,
    *,
    sent: Callable[[JsonObject], None],
    accepted: Callable[[], None],
    now: Callable[[], float],
) -> Received:
    """Consume one answer. `sent` is called with each body that goes out, `accepted` when the endpoint has taken the
    request (design law 5).

    Returns with status `complete`, `cut` (output limit), `error` (the provider failed) or `stopped`.
    """
    received = Received()
    try:
        await stop.run(_consume(events, message_id, emit, received, sent, accepted, now))
    except Stopped:
        received.status = "stopped"
    if received.status == "interrupted":  # a fault of the provider (law 9); what it gave is never taken for complete
        received.status, received.failure = "error", _NO_END
    return received


_NO_END = ProviderFailure("stream_cut", "The answer ended without saying so; it may be incomplete.", "retry")


def _told(received: Received, message_id: str, piece: HostedPiece | CallPiece) -> HostedAdded | ToolCallDelta:
    """What is told of a piece that is no text."""
    if isinstance(piece, CallPiece):
        return ToolCallDelta(message_id, piece.block, piece.call_id, piece.name, piece.json_text)
    received.hosted[piece.block] = piece.hosted
    return HostedAdded(message_id, piece.block, piece.hosted)


async def _consume(
    events: AsyncIterator[ProviderEvent],
    message_id: str,
    emit: Emit,
    received: Received,
    sent: Callable[[JsonObject], None],
    accepted: Callable[[], None],
    now: Callable[[], float],
) -> None:
    async with aclosing(events) as stream:  # type: ignore[type-var]
        async for event in stream:
            match event:
                case TextPiece(block, text):
                    if received.first_piece_at is None:
                        received.first_piece_at = now()
                    received.add(block, TextBlock, text)
                    emit(TextDelta(message_id, block, text))
                case ReasoningPiece(block, text):
                    received.first_piece_at = received.first_piece_at or now()
                    received.add(block, ReasoningBlock, text)
                    received.saw(block, now())
                    emit(ReasoningDelta(message_id, block, text))
                case HostedPiece() | CallPiece():
                    received.first_piece_at = received.first_piece_at or now()
                    emit(_told(received, message_id, event))
                case RequestSent(body):
                    sent(body)
                case ResponseStarted(usage):
                    received.usage = usage
                    accepted()
                case RetryScheduled(failure, attempt, delay_s):
                    emit(Notice("retry", f"{failure.message} Trying again in {delay_s:.0f} s (attempt {attempt})."))
                case Completed(blocks, stop_reason, usage):
                    received.blocks, received.usage, received.stop_reason = blocks, usage, stop_reason
                    received.answer_id, received.diagnosis = event.answer_id, event.diagnosis
                    received.status = "cut" if stop_reason == "max_tokens" else "complete"
                case Failed(failure, blocks, usage):
                    received.blocks, received.failure = blocks or None, failure
                    if usage.prompt is not None:
                        received.usage = usage
                    received.status = "error"
                case _:
                    assert_never(event)
