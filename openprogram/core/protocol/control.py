"""Actions by which a person answers what the agent asks."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import MaxLen

from openprogram.core.asking import ApprovalDecision
from openprogram.core.protocol.base import Name, SessionAction

Words = Annotated[str, MaxLen(10_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerApproval(SessionAction):
    """Answer a pending approval once, from any tab."""

    action: Literal["answer_approval"]
    approval_id: Name
    decision: ApprovalDecision
    note: Words | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuestion(SessionAction):
    """Answer a pending question once, from any tab: labels of choices, words of one's own, or neither to skip it."""

    action: Literal["answer_question"]
    question_id: Name
    chosen: tuple[Words, ...] = ()
    text: Words | None = None
