"""From the moment a message is accepted its turn runs, for every tab, however long it is being prepared."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from openprogram.core.events import (
    ErrorRaised,
    Event,
    MessageAdded,
    QueueChanged,
    TurnAccepted,
    TurnFinished,
    TurnStarted,
)
from tests.support.script import Gate, failed, say
from tests.support.sessions import Chats, crashed, opened
from tests.support.view import View


async def _hanging(chats: Chats, begin: Callable[[], Awaitable[object]]) -> Gate:
    """Begin something whose turn is not prepared before the gate is open."""
    gate = chats.catalog.hangs = Gate()
    await begin()
    await gate.reached()
    return gate


async def test_every_tab_sees_a_turn_run_from_the_message_on_while_it_is_prepared(tmp_path: Path) -> None:  # P2, P3
    async with opened(tmp_path, say("Hello.")) as chats:
        session_id = await chats.draft()
        gate = await _hanging(chats, lambda: chats.say("hi", session_id))
        events = await chats.events(session_id)
        (accepted,) = [event for event in events if isinstance(event, TurnAccepted)]
        added = next(event for event in events if isinstance(event, MessageAdded))
        assert events.index(accepted) < events.index(added)
        assert not any(isinstance(event, TurnStarted) for event in events)
        state = (await chats.snapshot(session_id)).state
        assert (state.status, state.turn_id) == ("running", accepted.turn_id)
        assert state.partial is not None
        assert (state.partial.events, state.partial.started_at) == ((), (await chats.log(session_id))[0].at)
        assert View.of(state, {}) == View().apply(events)
        gate.open()
        finished = await chats.until(session_id, TurnFinished)
        assert finished.turn_id == accepted.turn_id


async def test_stop_ends_a_turn_that_is_still_being_prepared(tmp_path: Path) -> None:  # P7
    async with opened(tmp_path) as chats:
        session_id = await chats.draft()
        gate = await _hanging(chats, lambda: chats.say("hi", session_id))
        await chats.do("stop", session_id=session_id)
        finished = await chats.until(session_id, TurnFinished)
        await chats.rest(session_id)
        assert (finished.reason, gate.cancelled) == ("stopped", True)
        assert (await chats.snapshot(session_id)).state.status == "idle"
        assert await chats.of(session_id, TurnStarted) == []


async def test_a_message_to_a_turn_that_is_being_prepared_waits_in_its_queue(tmp_path: Path) -> None:  # P6
    async with opened(tmp_path, say("One."), say("Two.")) as chats:
        session_id = await chats.draft()
        gate = await _hanging(chats, lambda: chats.say("one", session_id))
        assert (await chats.say("two", session_id)).queued
        gate.open()
        await chats.until(session_id, TurnFinished, 2)
        assert len(await chats.of(session_id, TurnAccepted)) == 2


async def test_a_turn_from_the_queue_is_accepted_with_its_message(tmp_path: Path) -> None:
    first = Gate()
    async with opened(tmp_path, (first, *say("One.")), say("Two.")) as chats:
        session_id = (await chats.say("one")).session_id
        await first.reached()
        await chats.say("two", session_id)
        chats.catalog.hangs = gate = Gate()
        first.open()
        await gate.reached()
        tail = (await chats.events(session_id))[-3:]
        assert [type(event) for event in tail] == [TurnAccepted, QueueChanged, MessageAdded]
        assert (await chats.snapshot(session_id)).state.status == "running"
        gate.open()
        await chats.until(session_id, TurnFinished, 2)


@pytest.mark.parametrize("action", ["edit_message", "regenerate", "continue_turn"])
async def test_whatever_begins_a_turn_says_so_at_once(tmp_path: Path, action: str) -> None:
    async with opened(tmp_path, (failed(),), say("Two.")) as chats:
        sent = await chats.say("one")
        session_id = sent.session_id
        await chats.until(session_id, TurnFinished)
        await chats.rest(session_id)
        before = len(await chats.log(session_id))
        more = {} if action == "continue_turn" else {"message_id": sent.message_id}
        if action == "edit_message":
            more["text"] = "better"
        gate = await _hanging(chats, lambda: chats.do(action, session_id=session_id, **more))
        assert isinstance((await chats.events(session_id, before))[0], TurnAccepted)
        gate.open()
        await chats.until(session_id, TurnFinished, 2)


async def test_a_kill_while_a_turn_is_prepared_ends_it_as_interrupted(tmp_path: Path) -> None:  # P9, R1
    async with opened(tmp_path) as chats:
        session_id = await chats.draft()
        gate = await _hanging(chats, lambda: chats.say("hi", session_id))
        folder = crashed(tmp_path, tmp_path / "after")
        gate.open()
        await chats.do("stop", session_id=session_id)
    async with opened(folder) as chats:
        (finished,) = await chats.of(session_id, TurnFinished)
        state = (await chats.snapshot(session_id)).state
        assert (finished.reason, state.status, state.outcome) == ("interrupted", "idle", finished)


async def test_an_error_before_or_in_a_turn_is_kept_once_until_the_chat_goes_on(tmp_path: Path) -> None:  # P13
    async with opened(tmp_path, (failed(),), say("Better.")) as chats:
        chats.catalog.gone = True
        session_id = await chats.said("one")
        await _told_once(chats, session_id, "no_endpoint")
        chats.catalog.gone = False
        await chats.said("two", session_id)
        await _told_once(chats, session_id, "overloaded")
        await chats.said("three", session_id)
        state = (await chats.snapshot(session_id)).state
        assert state.outcome is not None
        assert (state.outcome.reason, state.outcome.error, state.notes) == ("done", None, ())


async def _told_once(chats: Chats, session_id: str, code: str) -> None:
    state = (await chats.snapshot(session_id)).state
    assert state.outcome is not None
    assert state.outcome.error is not None
    assert (state.outcome.error.code, state.outcome_at) == (code, (await chats.log(session_id))[-1].at)
    assert state.notes == ()


async def test_what_a_turn_complains_of_is_there_after_a_reload(tmp_path: Path) -> None:
    async with opened(tmp_path, say("Fine.")) as chats:
        session_id = await chats.draft()
        await chats.patch("pick_tools", session_id, tools=["ghost"])
        await chats.said("hi", session_id)
        raised: list[Event] = [*await chats.of(session_id, ErrorRaised)]
        notes = (await chats.snapshot(session_id)).state.notes
        first = (await chats.branch(session_id))[0]
        assert [(note.after_id, note.event) for note in notes] == [(first.id, event) for event in raised]
        assert len(raised) == 1
