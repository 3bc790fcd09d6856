"""What an unfinished turn came to, read off its events alone. Pure; used by snapshots and by recovery."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter

from openprogram.core.asking import ApprovalRequested, ApprovalResolved, QuestionAnswered, QuestionAsked
from openprogram.core.compaction import Compacted, CompactionStarted
from openprogram.core.events import (
    Event,
    HostedAdded,
    MessageAdded,
    ReasoningDelta,
    StepStarted,
    TextDelta,
    ToolCallDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutputDelta,
    TurnStarted,
)
from openprogram.core.messages import Block, HostedBlock, Message, ReasoningBlock, TextBlock, ToolResultBlock


@dataclass(slots=True)
class UnfinishedTurn:
    """The open ends of a turn.

    `step` is a request whose answer was not recorded; `blocks` what had arrived of it, in order. `answer` is the
    recorded answer whose calls have no recorded results yet; `started` and `finished` are those calls' states, `asked`
    the ids of what a person was asked about them, `held` those that have their answer and wait for the turn to go on,
    `discovered` what the finished ones asked to have loaded. `steps` counts the requests, `fingerprint` is the
    contract's.
    """

    fingerprint: str = ""
    steps: int = 0
    step: StepStarted | None = None
    blocks: dict[int, tuple[type[TextBlock] | type[ReasoningBlock], list[str]]] = field(default_factory=dict)
    hosted: dict[int, HostedBlock] = field(default_factory=dict)
    answer: Message | None = None
    started: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    finished: dict[str, ToolResultBlock] = field(default_factory=dict)
    discovered: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def partial(self) -> tuple[Block, ...]:
        """The blocks that had arrived, in order."""
        shown: dict[int, Block] = {place: kind("".join(pieces)) for place, (kind, pieces) in self.blocks.items()}
        return tuple(block for _, block in sorted((shown | self.hosted).items()))


def fold(events: Iterable[Event]) -> UnfinishedTurn:
    """Fold a turn's events, from its `turn_started` on, into its open ends."""
    turn = UnfinishedTurn()
    for event in events:
        _apply(turn, event)
    return turn


def _apply(turn: UnfinishedTurn, event: Event) -> None:
    match event:
        case TurnStarted():
            turn.fingerprint = event.fingerprint
            turn.held -= turn.finished.keys()  # it goes on, with those that were denied
        case StepStarted():
            turn.step, turn.steps, turn.blocks, turn.hosted = event, event.step, {}, {}
        case TextDelta(message_id) | ReasoningDelta(message_id) if turn.step and turn.step.message_id == message_id:
            kind = TextBlock if isinstance(event, TextDelta) else ReasoningBlock
            turn.blocks.setdefault(event.block, (kind, []))[1].append(event.text)
        case HostedAdded(message_id, block, hosted) if turn.step and turn.step.message_id == message_id:
            turn.hosted[block] = hosted
        case MessageAdded(message) if message.role == "assistant":
            turn.step, turn.blocks, turn.hosted = None, {}, {}
            turn.answer = message if message.calls else None
            turn.started, turn.asked, turn.held, turn.finished, turn.discovered = set(), set(), set(), {}, {}
        case MessageAdded(message) if message.role == "tool":
            turn.answer = None
        case ApprovalRequested():
            turn.asked.add(event.approval_id)
        case QuestionAsked():
            turn.asked.add(event.question_id)
        case ApprovalResolved(held=str(call_id)) | QuestionAnswered(held=str(call_id)):
            turn.held.add(call_id)
        case ToolCallStarted():
            turn.started.add(event.call_id)
            turn.held.discard(event.call_id)  # on record before its effect can happen (R2)
        case ToolCallFinished():
            turn.finished[event.call_id] = event.result
            turn.discovered[event.call_id] = event.discovered
        case _:
            pass


_DELTA = TextDelta | ReasoningDelta | ToolCallDelta | ToolOutputDelta
_ASKED = ApprovalRequested | ApprovalResolved | QuestionAnswered
_WORK = (
    _DELTA | HostedAdded | _ASKED | CompactionStarted | TurnStarted | StepStarted | ToolCallStarted | ToolCallFinished
)
"""Events of a turn that tell of its work; what the others tell is elsewhere in a snapshot."""

Timed = tuple[str, Event]
"""An event and when it happened."""


def since_last_message(events: Sequence[Timed]) -> tuple[Timed, ...]:
    """What a running turn did that no whole message tells yet, deltas of one block joined: for a snapshot.

    Starts after the last answer, results or compaction, or at the turn's start; the contract that is in force comes
    first anyway.
    """
    last = max((at for at, (_, event) in enumerate(events) if _closes(event)), default=-1)
    frozen = [timed for timed in events[: last + 1] if isinstance(timed[1], TurnStarted)]
    work = (timed for timed in (*frozen[-1:], *events[last + 1 :]) if isinstance(timed[1], _WORK))
    return tuple(_joined([timed for _, timed in run]) for _, run in groupby(_numbered(work), itemgetter(0)))


def _numbered(events: Iterable[Timed]) -> Iterator[tuple[int, Timed]]:
    """Each event with a number, the same for deltas of one block that follow each other."""
    number, before = 0, None
    for timed in events:
        event = timed[1]
        block = (type(event), _block(event)) if isinstance(event, _DELTA) else None
        number += block is None or block != before
        before = block
        yield number, timed


def _joined(run: Sequence[Timed]) -> Timed:
    """One delta in place of many of the same block, as of the first; any other event is alone."""
    deltas = [event for _, event in run if isinstance(event, _DELTA)]
    if len(deltas) < 2:
        return run[0]
    return run[0][0], replace(deltas[-1], text="".join(delta.text for delta in deltas))


def _closes(event: Event) -> bool:
    answered = isinstance(event, MessageAdded) and event.message.role in ("assistant", "tool")
    return answered or isinstance(event, Compacted)


def _block(delta: TextDelta | ReasoningDelta | ToolCallDelta | ToolOutputDelta) -> tuple[str, int]:
    return (delta.call_id, 0) if isinstance(delta, ToolOutputDelta) else (delta.message_id, delta.block)
