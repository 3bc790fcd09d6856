"""Asking a person, about a call or on the agent's behalf: values, events, and the ports that one asks through."""

from dataclasses import dataclass
from typing import Literal, Protocol

from openprogram.core.jsonio import JsonObject

ApprovalDecision = Literal["once", "session", "deny"]


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A call waits for a person. `preview` is the exact command, or a unified diff without its last `left_out` lines;
    `digest` tells calls apart by all that they would do; `pattern` is what "for this chat" would allow, in `directory`
    only; that is empty where the directory does not matter, and None in what was asked before this field existed."""

    approval_id: str
    turn_id: str
    call_id: str
    tool: str
    arguments: JsonObject
    kind: Literal["command", "diff", "call"]
    preview: str
    reason: str
    pattern: str
    left_out: int = 0
    digest: str = ""
    directory: str | None = None
    type: Literal["approval_requested"] = "approval_requested"


@dataclass(frozen=True, slots=True)
class ApprovalResolved:
    """An approval is answered, or moot (`decision` None: the turn ended first). `held` names its call where nothing
    begins by this: the turn waits since a restart, and goes on with its last answer."""

    approval_id: str
    decision: ApprovalDecision | None
    note: str | None = None
    held: str | None = None
    type: Literal["approval_resolved"] = "approval_resolved"


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer to an approval."""

    decision: ApprovalDecision
    note: str | None = None


class Ask(Protocol):
    """Asking a person, durably: the question survives reload and restart (P9)."""

    async def __call__(self, request: ApprovalRequested) -> Answer:
        """Wait for the answer. A call id that was asked about before gets that question's answer; raises `ToolFailure`
        where the call would do something else by now.
        """
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to choose; `label` is what the model gets back."""

    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. `multiple`: several choices may be taken; `free_text`: words of one's own may be given, too."""

    text: str
    choices: tuple[Choice, ...] = ()
    multiple: bool = False
    free_text: bool = True


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """The labels that were chosen, in the order of the choices, and words of the person's own. Neither: skipped."""

    chosen: tuple[str, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A call asks a person something and waits. The event shows it in every tab until it is answered or moot."""

    question_id: str
    turn_id: str
    call_id: str
    question: Question
    type: Literal["question_asked"] = "question_asked"


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """A question is answered, or moot (`answer` None: the turn ended first). `held` names its call where the turn waits
    since a restart, and goes on with its last answer."""

    question_id: str
    answer: QuestionAnswer | None
    held: str | None = None
    type: Literal["question_answered"] = "question_answered"


QuestionEvent = QuestionAsked | QuestionAnswered


@dataclass(frozen=True, slots=True)
class PutQuestion:
    """A write of the store: a pending question; `Conflict` if its id exists."""

    asked: QuestionAsked
    type: Literal["put_question"] = "put_question"


@dataclass(frozen=True, slots=True)
class ResolveQuestion:
    """A write of the store: answer a pending question; `Conflict` if it is not pending."""

    question_id: str
    answer: QuestionAnswer | None
    type: Literal["resolve_question"] = "resolve_question"


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question with its answer; `pending` until answered or moot."""

    asked: QuestionAsked
    pending: bool
    answer: QuestionAnswer | None = None


class AskPerson(Protocol):
    """Asking the chat's person, durably: the question survives reload and restart (P9)."""

    async def __call__(self, question: Question, call_id: str, turn_id: str) -> QuestionAnswer:
        """Wait for the answer. A call that asked before gets that question's answer."""
        ...
