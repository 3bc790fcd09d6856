"""What an unfinished turn came to, read off its events alone. Pure; used by snapshots and by recovery."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from openprogram.core.events import (
    Event,
    MessageAdded,
    ReasoningDelta,
    StepStarted,
    TextDelta,
    ToolCallDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutputDelta,
    TurnFinished,
)
from openprogram.core.messages import Block, Message, ReasoningBlock, TextBlock, ToolResultBlock


@dataclass(slots=True)
class UnfinishedTurn:
    """The open ends of a turn.

    `step` is a request whose answer was not recorded; `blocks` what had arrived of it, in order. `answer` is the
    recorded answer whose calls have no recorded results yet; `started` and `finished` are those calls' states. `steps`
    counts the requests.
    """

    steps: int = 0
    step: StepStarted | None = None
    blocks: dict[int, TextBlock | ReasoningBlock] = field(default_factory=dict)
    answer: Message | None = None
    started: set[str] = field(default_factory=set)
    finished: dict[str, ToolResultBlock] = field(default_factory=dict)
    over: bool = False

    @property
    def partial(self) -> tuple[Block, ...]:
        """The blocks that had arrived, in order."""
        return tuple(block for _, block in sorted(self.blocks.items()))


def fold(events: Iterable[Event]) -> UnfinishedTurn:
    """Fold a turn's events, from its `turn_started` on, into its open ends."""
    turn = UnfinishedTurn()
    for event in events:
        _apply(turn, event)
    return turn


def _apply(turn: UnfinishedTurn, event: Event) -> None:
    match event:
        case StepStarted():
            turn.step, turn.steps, turn.blocks = event, event.step, {}
        case TextDelta(message_id, block, text) if turn.step and turn.step.message_id == message_id:
            before = turn.blocks.get(block)
            turn.blocks[block] = TextBlock((before.text if before else "") + text)
        case ReasoningDelta(message_id, block, text) if turn.step and turn.step.message_id == message_id:
            before = turn.blocks.get(block)
            turn.blocks[block] = ReasoningBlock((before.text if before else "") + text)
        case MessageAdded(message) if message.role == "assistant":
            turn.step, turn.blocks = None, {}
            turn.answer = message if message.calls else None
            turn.started, turn.finished = set(), {}
        case MessageAdded(message) if message.role == "tool":
            turn.answer = None
        case ToolCallStarted():
            turn.started.add(event.call_id)
        case ToolCallFinished():
            turn.finished[event.call_id] = event.result
        case TurnFinished():
            turn.over = True
        case _:
            pass


def since_last_message(events: Sequence[Event]) -> tuple[Event, ...]:
    """The running turn's events that no whole message covers yet, deltas of one block joined: for a snapshot.

    Starts at the last recorded message or at the turn's start, whichever is later; `message_added` events are left out,
    since a snapshot carries the messages.
    """
    last = max((at for at, event in enumerate(events) if _closes(event)), default=-1)
    joined: list[Event] = []
    for event in events[last + 1 :]:
        if isinstance(event, MessageAdded):
            continue
        previous = joined[-1] if joined else None
        merged = _join(previous, event)
        if merged is None:
            joined.append(event)
        else:
            joined[-1] = merged
    return tuple(joined)


def _closes(event: Event) -> bool:
    return isinstance(event, MessageAdded) and event.message.role == "tool"


def _join(first: Event | None, second: Event) -> Event | None:
    """One delta in place of two of the same block, or None."""
    match first, second:
        case ToolOutputDelta() as one, ToolOutputDelta() as two if one.call_id == two.call_id:
            return replace(one, text=one.text + two.text)
        case TextDelta() as one, TextDelta() as two if _block(one) == _block(two):
            return replace(one, text=one.text + two.text)
        case ReasoningDelta() as one, ReasoningDelta() as two if _block(one) == _block(two):
            return replace(one, text=one.text + two.text)
        case ToolCallDelta() as one, ToolCallDelta() as two if _block(one) == _block(two):
            return replace(one, text=one.text + two.text)
        case _:
            return None


def _block(delta: TextDelta | ReasoningDelta | ToolCallDelta) -> tuple[str, int]:
    return delta.message_id, delta.block
