"""Rows as the log projects them: what a store holds after these events, in memory and pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from openprogram.core.asking import PutQuestion, QuestionRow, ResolveQuestion
from openprogram.core.events import Event
from openprogram.core.messages import Message, QueuedMessage
from openprogram.core.sent import PutSent
from openprogram.core.storage import (
    AddGrant,
    AddNote,
    ApprovalRow,
    DropGrants,
    EndTurn,
    Node,
    PutApproval,
    PutIntent,
    PutLoaded,
    PutMessage,
    PutQueue,
    PutSession,
    PutUsage,
    RememberRequest,
    ResolveApproval,
    SetLeaf,
    StartTurn,
    Write,
)
from openprogram.core.surface import EndEpoch, PutSurface
from openprogram.sessions.project import project
from openprogram.sessions.tree import path


@dataclass
class Replica:
    """One chat. `turn` are the events of its unfinished turn."""

    messages: dict[str, Message] = field(default_factory=dict)
    leaf_id: str | None = None
    turn_id: str | None = None
    turn: list[Event] = field(default_factory=list)
    approvals: dict[str, ApprovalRow] = field(default_factory=dict)
    questions: dict[str, QuestionRow] = field(default_factory=dict)
    queue: tuple[QueuedMessage, ...] = ()
    loaded: tuple[str, ...] = ()
    revision: int = 0
    usage: dict[tuple[str, int], PutUsage] = field(default_factory=dict)

    @classmethod
    def of(cls, events: Iterable[Event]) -> "Replica":
        """The rows after these events."""
        return cls().apply(events)

    def apply(self, events: Iterable[Event]) -> "Replica":
        """More events, each a commit of its own."""
        for event in events:
            for write in project((event,), "u_ada"):
                self._write(write)
            if self.turn_id is not None:
                self.turn.append(event)
        return self

    @property
    def running(self) -> bool:
        """Whether there is an unfinished turn."""
        return self.turn_id is not None

    @property
    def nodes(self) -> Sequence[Node]:
        """The tree."""
        return [Node(message.id, message.parent_id, message.role) for message in self.messages.values()]

    @property
    def branch(self) -> list[Message]:
        """The active branch."""
        return [self.messages[id_] for id_ in path(self.nodes, self.leaf_id)]

    @property
    def pending(self) -> list[ApprovalRow]:
        """Approvals without an answer."""
        return [row for row in self.approvals.values() if row.pending]

    @property
    def open_questions(self) -> list[QuestionRow]:
        """Questions without an answer."""
        return [row for row in self.questions.values() if row.pending]

    @property
    def answered(self) -> list[QuestionRow]:
        """Questions of the unfinished turn that have an answer."""
        return [row for row in self.questions.values() if row.answer and row.asked.turn_id == self.turn_id]

    def _write(self, write: Write) -> None:  # noqa: C901 - one case for each kind of write
        match write:
            case PutMessage(message):
                assert message.id not in self.messages
                assert message.parent_id is None or message.parent_id in self.messages
                self.messages[message.id] = message
            case SetLeaf(leaf_id):
                self.leaf_id = leaf_id
            case StartTurn(turn_id):
                if self.turn_id != turn_id:
                    self.turn_id, self.turn = turn_id, []
            case EndTurn(outcome):
                if self.turn_id == outcome.turn_id:
                    self.turn_id, self.turn = None, []
            case PutApproval(request):
                assert request.approval_id not in self.approvals
                self.approvals[request.approval_id] = ApprovalRow(request, pending=True)
            case ResolveApproval(approval_id, decision, note):
                row = self.approvals[approval_id]
                assert row.pending, "a question was resolved twice"
                self.approvals[approval_id] = replace(row, pending=False, decision=decision, note=note)
            case PutQuestion(asked):
                assert asked.question_id not in self.questions
                self.questions[asked.question_id] = QuestionRow(asked, pending=True)
            case ResolveQuestion(question_id, answer):
                open_question = self.questions[question_id]
                assert open_question.pending, "a question was resolved twice"
                self.questions[question_id] = replace(open_question, pending=False, answer=answer)
            case PutLoaded(names):
                self.loaded = names
            case PutQueue(queue):
                self.queue = queue
            case PutIntent(_, expected_revision):
                assert expected_revision == self.revision
                self.revision += 1
            case PutUsage(row):
                assert (row.turn_id, row.step) not in self.usage, "a step was counted twice"
                self.usage[row.turn_id, row.step] = write
            case PutSession() | PutSurface() | EndEpoch() | PutSent() | AddNote() | AddGrant() | DropGrants():
                pass
            case RememberRequest():
                pass
            case _:
                assert_never(write)
