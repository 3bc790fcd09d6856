"""Any run, cut at every point of its log, is recovered: paired, complete as far as it was shown, once (R1, R2)."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from hypothesis import given

from openprogram.agent.environment import Resumed
from openprogram.core.asking import ApprovalResolved, QuestionAnswer, QuestionAnswered
from openprogram.core.events import (
    Event,
    MessageAdded,
    ReasoningDelta,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from openprogram.core.loaded import LoadedSet
from openprogram.core.messages import ReasoningBlock, TextBlock
from openprogram.sessions.approvals import Broker
from openprogram.sessions.fold import fold, since_last_message
from openprogram.sessions.questions import Questions
from openprogram.sessions.recover import Asked, close, standing
from tests.support.replica import Replica
from tests.support.script import ScriptedProvider, assert_paired, say
from tests.support.stories import Recording, Stage, Story, record, stories

NOW = "2026-01-01T12:00:00.000Z"


def _asked(replica: Replica) -> Asked:
    return Asked(tuple(replica.pending), tuple(replica.open_questions), tuple(replica.answered))


def _recovered(events: Sequence[Event]) -> tuple[Replica, bool]:
    """The chat after a crash at this point of its log, and whether its turn was left to wait, or goes on."""
    replica = Replica.of(events)
    if replica.turn_id is None:
        return replica, False
    turn, asked = fold(replica.turn), _asked(replica)
    if standing(turn, asked) != "cut":
        return replica, True
    replica.apply(close(turn, replica.turn_id, asked, LoadedSet(replica.loaded), now=NOW, reason="interrupted"))
    return replica, False


def _shown(events: Sequence[Event], message_id: str) -> str:
    deltas = (event for event in events if isinstance(event, TextDelta | ReasoningDelta))
    return "".join(delta.text for delta in deltas if delta.message_id == message_id)


@given(stories)
def test_every_cut_of_every_run_is_recovered(story: Story) -> None:  # R1, R2, law 7
    recording = asyncio.run(record(story))
    for cut in range(1, len(recording.events) + 1):
        events = recording.events[:cut]
        replica, waits = _recovered(events)
        if waits:
            assert fold(replica.turn).asked
            assert (standing(fold(replica.turn), _asked(replica)) == "waits") == bool(_asked(replica).calls)
            continue
        assert replica.turn_id is None
        assert (replica.pending, replica.open_questions) == ([], [])
        assert_paired(replica.branch)
        steps = [event for event in events if isinstance(event, StepStarted)]
        shown = {step.message_id: text for step in steps if (text := _shown(events, step.message_id))}
        for message_id, text in shown.items():
            kept = replica.messages[message_id]
            blocks = [block for block in kept.blocks if isinstance(block, TextBlock | ReasoningBlock)]
            assert "".join(block.text for block in blocks) == text
        assert set(replica.messages) >= {event.message.id for event in events if isinstance(event, MessageAdded)}


@given(stories)
def test_a_call_that_may_have_run_is_never_run_again(story: Story) -> None:  # R1, R2, P9
    recording = asyncio.run(record(story))
    for cut in range(1, len(recording.events) + 1):
        events = recording.events[:cut]
        replica, waits = _recovered(events)
        began = {call for call, at in recording.ran.items() if at <= cut}
        if not waits:
            results = {result.call_id: result for message in replica.branch for result in message.results}
            for call in began & results.keys():
                finished = [e for e in events if isinstance(e, ToolCallFinished) and e.call_id == call]
                told = results[call].content[0].text
                assert finished or _readonly(call, events) or "its effect is unknown" in told
            continue
        asyncio.run(_resume(replica, began, events))


def _readonly(call_id: str, events: Sequence[Event]) -> bool:
    started = [e.name for e in events if isinstance(e, ToolCallStarted) and e.call_id == call_id]
    return not started or started in (["safe"], ["ask_user"])


async def _resume(replica: Replica, began: set[str], events: Sequence[Event]) -> None:
    """Answer what waits; the turn goes on, runs only what had not begun, and ends paired. Wherever it is cut again, it
    goes on once more only while nothing may have run."""
    assert replica.turn_id is not None
    again = Recording()
    stage = Stage(ScriptedProvider(*[say("Resumed.")] * 2), again, defaultdict(lambda: "once"))
    chat = stage.chat
    for row in replica.pending:
        replica.apply((ApprovalResolved(row.request.approval_id, "once", held=row.request.call_id),))
    known = [row for row in replica.approvals.values() if row.request.turn_id == replica.turn_id]
    stage.broker = Broker(chat.emit, chat.stop, known)
    for open_question in replica.open_questions:
        answer = QuestionAnswered(
            open_question.asked.question_id, QuestionAnswer(text="yes"), open_question.asked.call_id
        )
        replica.apply((answer,))
    turn = fold(replica.turn)
    assert standing(turn, _asked(replica)) == "answered"
    before = list(replica.turn)
    stage.questions = Questions(chat.emit, chat.stop, replica.questions.values())
    chat.history = type(chat.history)(replica.branch)
    chat.inbox.history = chat.history
    await stage.run(Resumed(replica.turn_id, turn.steps, turn.finished, turn.fingerprint))
    effects = {call for call in again.ran if not _readonly(call, events)}
    assert not effects & began
    assert not again.ran.keys() & turn.finished.keys()
    assert_paired(chat.history.messages)
    for cut in range(len(chat.emit.events)):
        once_more = fold([*before, *chat.emit.events[:cut]])
        if once_more.answer is not None and once_more.answer.id == (turn.answer and turn.answer.id):
            may_have_run = {call for call in effects if again.ran[call] <= cut} - once_more.finished.keys()
            how = standing(once_more, Asked(answered=_asked(replica).answered))
            assert how == "cut" or not may_have_run
    replica.apply(chat.emit.events)
    assert not replica.running
    assert_paired(replica.branch)


@given(stories)
def test_what_a_snapshot_shows_of_a_turn_is_what_no_message_shows(story: Story) -> None:  # P3
    recording = asyncio.run(record(story))
    for cut in range(1, len(recording.events) + 1):
        replica = Replica.of(recording.events[:cut])
        shown = [event for _, event in since_last_message([("", event) for event in replica.turn])]
        told = {event.message_id for event in shown if isinstance(event, TextDelta | ReasoningDelta)}
        assert not told & replica.messages.keys()
        step = fold(replica.turn).step
        assert told <= ({step.message_id} if step else set())
        assert _text(shown) == _text([event for event in replica.turn if not _recorded(event, replica)])


def _recorded(event: Event, replica: Replica) -> bool:
    return isinstance(event, TextDelta | ReasoningDelta) and event.message_id in replica.messages


def _text(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta | ReasoningDelta))
