"""Rows are projections of events: each kind of event writes what it says, in the order of the events."""

from typing import get_args

from openprogram.core.asking import (
    ApprovalResolved,
    PutQuestion,
    Question,
    QuestionAnswer,
    QuestionAnswered,
    QuestionAsked,
    ResolveQuestion,
)
from openprogram.core.compaction import Compacted
from openprogram.core.events import (
    BranchSelected,
    ErrorInfo,
    ErrorRaised,
    Event,
    IntentChanged,
    LoadedChanged,
    MessageAdded,
    QueueChanged,
    SessionChanged,
    SessionInfo,
    TextDelta,
    ToolOutputDelta,
    TurnFinished,
    TurnStarted,
)
from openprogram.core.intent import ChipEffect, Effective, ToolIntent
from openprogram.core.storage import (
    AddNote,
    EndTurn,
    PutIntent,
    PutLoaded,
    PutMessage,
    PutQueue,
    PutSession,
    PutUsage,
    ResolveApproval,
    SetLeaf,
    StartTurn,
    UsageRow,
    Write,
)
from openprogram.core.usage import Usage
from openprogram.sessions.project import project
from tests.support.script import message

MESSAGE = message("user", "hello", None)
INFO = SessionInfo("s_1", "A chat", "2026", "2026")


def test_a_message_is_a_row_and_the_leaf() -> None:
    assert project((MessageAdded(MESSAGE),), "u_1") == (PutMessage(MESSAGE), SetLeaf(MESSAGE.id))


def test_events_of_one_commit_are_mirrored_in_their_order() -> None:
    started = TurnStarted("t_1", "f", (), {}, 0, 1)
    events: tuple[Event, ...] = (
        SessionChanged(INFO),
        IntentChanged(ToolIntent(enabled=True), 3, Effective(ChipEffect("off"))),
        BranchSelected(None),
        QueueChanged(()),
        LoadedChanged(("weather",), ("weather",)),
        started,
        ApprovalResolved("a_1", "deny", "no"),
        QuestionAsked("u_1", "t_1", "c_1", Question("Which?")),
        QuestionAnswered("u_1", QuestionAnswer(("A",))),
        Compacted("t_1", "t_2", "failed", None, "e/m", Usage(output=5), 0.1),
        TurnFinished("t_1", "stopped"),
    )
    writes: tuple[Write, ...] = (
        PutSession(INFO, "u_1"),
        PutIntent(ToolIntent(enabled=True), 2),
        SetLeaf(None),
        PutQueue(()),
        PutLoaded(("weather",)),
        StartTurn("t_1"),
        ResolveApproval("a_1", "deny", "no"),
        PutQuestion(QuestionAsked("u_1", "t_1", "c_1", Question("Which?"))),
        ResolveQuestion("u_1", QuestionAnswer(("A",))),
        PutUsage(UsageRow("t_2", 1, "e/m", Usage(output=5), 0.1, "summary")),
        EndTurn(TurnFinished("t_1", "stopped")),
    )
    assert project(events, "u_1") == writes


def test_what_only_tells_writes_nothing() -> None:
    telling: tuple[Event, ...] = (TextDelta("m", 0, "x"), ToolOutputDelta("c", "x"))
    assert project(telling, "u_1") == ()


def test_an_error_that_ends_a_turn_is_told_once() -> None:
    error, other = ErrorInfo("no_endpoint", "there is no model"), ErrorInfo("unknown_tool", "there is no tool")
    ended = TurnFinished("t_1", "error", error)
    assert project((ErrorRaised(other), ErrorRaised(error), ended), "u_1") == (
        AddNote(ErrorRaised(other)),
        EndTurn(ended),
    )


def test_every_kind_of_event_is_known() -> None:
    """A new event needs a decision here: a row, or none."""
    mirrored = {
        "MessageAdded", "BranchSelected", "TurnStarted", "TurnFinished", "StepFinished", "IntentChanged",
        "ApprovalRequested", "ApprovalResolved", "QueueChanged", "SessionChanged", "LoadedChanged",
        "TurnAccepted", "Notice", "ErrorRaised",
        "QuestionAsked", "QuestionAnswered", "Compacted",
    }  # fmt: skip
    telling = {
        "StepStarted", "TextDelta", "ReasoningDelta", "ToolCallDelta", "ToolCallStarted", "ToolOutputDelta",
        "ToolCallFinished", "CompactionStarted", "HostedAdded",
    }  # fmt: skip
    assert {kind.__name__ for kind in get_args(Event)} == mirrored | telling
