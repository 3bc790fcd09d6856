"""What a client knows of a chat: the reference for replaying events, from the beginning or from a snapshot (P2, P3)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from openprogram.core.asking import ApprovalRequested, ApprovalResolved, QuestionAnswered, QuestionAsked
from openprogram.core.compaction import Compacted, CompactionStarted
from openprogram.core.events import (
    BranchSelected,
    ErrorRaised,
    Event,
    HostedAdded,
    IntentChanged,
    LoadedChanged,
    MessageAdded,
    Notice,
    QueueChanged,
    ReasoningDelta,
    SessionChanged,
    StepFinished,
    StepStarted,
    TextDelta,
    ToolCallDelta,
    ToolCallFinished,
    ToolCallStarted,
    ToolOutputDelta,
    TurnAccepted,
    TurnFinished,
    TurnStarted,
)
from openprogram.core.intent import ToolIntent
from openprogram.core.messages import HostedBlock, Message, QueuedMessage, ToolResultBlock
from openprogram.core.protocol.state import SessionState
from openprogram.core.storage import NOTES_KEPT, Note
from openprogram.core.usage import Usage


@dataclass
class Call:
    """A call of the last answer, until its results are in the chat."""

    output: str = ""
    result: ToolResultBlock | None = None


@dataclass
class View:
    """One client's state. `known` are messages it can load when a branch is chosen that it does not hold."""

    known: Mapping[str, Message] = field(default_factory=dict, repr=False, compare=False)
    messages: list[Message] = field(default_factory=list)
    turn_id: str | None = None
    live: str | None = None
    text: dict[tuple[str, int], str] = field(default_factory=dict)
    hosted: dict[int, HostedBlock] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    intent: ToolIntent = field(default_factory=ToolIntent)
    revision: int = 0
    queue: tuple[QueuedMessage, ...] = ()
    approvals: dict[str, ApprovalRequested] = field(default_factory=dict)
    questions: dict[str, QuestionAsked] = field(default_factory=dict)
    title: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    turn: TurnStarted | None = None
    outcome: TurnFinished | None = None
    notes: list[Note] = field(default_factory=list)
    steps: dict[str, StepFinished] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, state: SessionState, known: Mapping[str, Message]) -> "View":
        """The state that a snapshot describes."""
        view = cls(
            known=known,
            messages=list(state.messages),
            turn_id=state.turn_id,
            intent=state.intent,
            revision=state.revision,
            queue=state.queue,
            approvals={asked.approval_id: asked for asked in state.approvals},
            title=state.session.title,
            usage=state.usage,
            cost=state.cost or 0.0,
            outcome=state.outcome,
            notes=list(state.notes),
            steps={step.message_id: step for step in state.steps},
        )
        if state.partial is not None:
            view.live = state.partial.message_id or None
            view.apply(state.partial.events)
        return view

    def apply(self, events: Iterable[Event]) -> "View":
        """See these events."""
        for event in events:
            self._see(event)
        return self

    def _see(self, event: Event) -> None:  # noqa: C901 - one case for each kind of event
        match event:
            case MessageAdded(message):
                self._added(message)
            case BranchSelected(leaf_id):
                self.messages, self.outcome = self._path(leaf_id), None
            case TurnAccepted():
                self.turn_id, self.outcome = event.turn_id, None
            case TurnStarted():
                self.turn_id, self.turn = event.turn_id, event
            case StepStarted():
                self.live, self.text, self.hosted = event.message_id, {}, {}
            case TextDelta() | ReasoningDelta() | ToolCallDelta():
                assert event.message_id == self.live, "a delta of no open answer"
                key = (event.type, event.block)
                self.text[key] = self.text.get(key, "") + event.text
            case HostedAdded():
                assert event.message_id == self.live, "a search of no open answer"
                self.hosted[event.block] = event.hosted
            case ToolCallStarted():
                self.calls[event.call_id] = Call()
            case ToolOutputDelta():
                self.calls[event.call_id].output += event.text
            case ToolCallFinished():
                self.calls.setdefault(event.call_id, Call()).result = event.result
            case StepFinished():
                self.usage = self.usage.plus(event.usage)
                self.cost += event.cost or 0.0
                self.steps[event.message_id] = event
            case CompactionStarted():
                self.live, self.text = None, {}
            case Compacted():
                self.usage = self.usage.plus(event.usage)
                self.cost += event.cost or 0.0
            case TurnFinished():
                self.turn_id, self.turn, self.live, self.text, self.calls, self.approvals = None, None, None, {}, {}, {}
                self.outcome = event
                if event.error and self.notes and self.notes[-1].event == ErrorRaised(event.error):
                    self.notes.pop()
                self.questions, self.hosted = {}, {}
            case IntentChanged():
                self.intent, self.revision = event.intent, event.revision
            case QueueChanged(queue):
                self.queue = queue
            case ApprovalRequested():
                self.approvals[event.approval_id] = event
            case ApprovalResolved():
                self.approvals.pop(event.approval_id, None)
            case QuestionAsked():
                self.questions[event.question_id] = event
            case QuestionAnswered():
                self.questions.pop(event.question_id, None)
            case SessionChanged(session):
                self.title = session.title
            case Notice() | ErrorRaised():
                self.notes = [*self.notes, Note(self.messages[-1].id if self.messages else None, event)][-NOTES_KEPT:]
            case LoadedChanged():
                pass
            case _:
                assert_never(event)

    def _added(self, message: Message) -> None:
        ids = [known.id for known in self.messages]
        keep = ids.index(message.parent_id) + 1 if message.parent_id is not None else 0
        self.messages, self.outcome = [*self.messages[:keep], message], None
        if message.role == "assistant":
            self.live, self.text, self.calls, self.hosted = None, {}, {}, {}
        if message.role == "tool":
            self.calls = {}

    def _path(self, leaf_id: str | None) -> list[Message]:
        known = {**self.known, **{message.id: message for message in self.messages}}
        path: list[Message] = []
        while leaf_id is not None:
            path.insert(0, known[leaf_id])
            leaf_id = known[leaf_id].parent_id
        return path
