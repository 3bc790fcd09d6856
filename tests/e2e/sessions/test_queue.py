"""Messages during a turn: they wait or steer, and none is lost or sent twice (spec protocol.md P6)."""

from pathlib import Path
from typing import Any

import pytest

from openprogram.core.errors import BadField, StorageError
from openprogram.core.events import (
    MessageAdded,
    QueueChanged,
    TurnAccepted,
    TurnFinished,
    TurnStarted,
)
from tests.support.agent import FakeTool, held
from tests.support.script import Gate, assert_paired, call, failed, say, use
from tests.support.sessions import Chats, failing, opened


async def test_a_message_during_a_turn_waits_and_starts_the_next_one(tmp_path: Path) -> None:  # P6
    gate = Gate()
    async with opened(tmp_path, (gate, *say("One.")), say("Two."), say("Three.")) as chats:
        first = await chats.say("one?")
        await gate.reached()
        second = await chats.say("two?", first.session_id)
        third = await chats.say("three?", first.session_id)
        assert (first.queued, second.queued, third.queued) == (False, True, True)
        gate.open()
        await chats.until(first.session_id, TurnFinished, 3)
        assert await chats.texts(first.session_id) == [
            "user: one?",
            "assistant: One.",
            "user: two?",
            "assistant: Two.",
            "user: three?",
            "assistant: Three.",
        ]
        assert [len(event.queue) for event in await chats.of(first.session_id, QueueChanged)] == [1, 2, 1, 0]


async def test_leaving_the_queue_and_entering_the_chat_is_one_commit(
    tmp_path: Path,
) -> None:  # P6: never lost nor twice
    gate = Gate()
    async with opened(tmp_path, (gate, *say("One.")), say("Two.")) as chats:
        session_id = (await chats.say("one?")).session_id
        await gate.reached()
        await chats.say("two?", session_id)
        commits: list[list[type]] = []

        async def note(events: object, _writes: object) -> None:
            commits.append([type(event) for event in events])  # type: ignore[attr-defined]

        chats.store.before_commit = note
        gate.open()
        await chats.until(session_id, TurnFinished, 2)
        assert [TurnAccepted, QueueChanged, MessageAdded] in commits


async def test_the_queue_can_be_edited(tmp_path: Path) -> None:  # P6
    gate = Gate()
    async with opened(tmp_path, (gate, *say("One.")), say("Better.")) as chats:
        session_id = (await chats.say("one?")).session_id
        await gate.reached()
        second, third = await chats.say("two?", session_id), await chats.say("three?", session_id)
        await chats.do("edit_queue", session_id=session_id, queued_id=second.message_id, text="better?")
        await chats.do("edit_queue", session_id=session_id, queued_id=third.message_id, text=None)
        gate.open()
        await chats.until(session_id, TurnFinished, 2)
        await chats.rest(session_id)
        assert (await chats.texts(session_id))[2:] == ["user: better?", "assistant: Better."]
        with pytest.raises(BadField, match="no longer waits"):
            await chats.do("edit_queue", session_id=session_id, queued_id=second.message_id, text="late")


@pytest.mark.parametrize("end", ["stop", "failure"])
async def test_what_waits_since_a_stop_or_failure_goes_before_the_next_message(tmp_path: Path, end: str) -> None:  # P6
    gate = Gate()
    first = (gate, failed()) if end == "failure" else (gate,)
    async with opened(tmp_path, first, say("Two."), say("Three.")) as chats:
        session_id = (await chats.say("one?")).session_id
        await gate.reached()
        await chats.say("two?", session_id)
        if end == "stop":
            await chats.do("stop", session_id=session_id)
        gate.open()
        await chats.until(session_id, TurnFinished)
        await chats.rest(session_id)
        assert [waiting.text for waiting in (await chats.snapshot(session_id)).state.queue] == ["two?"]
        third = await chats.say("three?", session_id)
        assert third.queued
        await chats.until(session_id, TurnFinished, 3)
        assert (await chats.texts(session_id))[-4:] == [
            "user: two?",
            "assistant: Two.",
            "user: three?",
            "assistant: Three.",
        ]


async def _stopped_with_a_queue(chats: Chats, gate: Gate, *texts: str) -> tuple[str, list[str]]:
    """A chat at rest in which these messages wait; returns it with their ids."""
    session_id = (await chats.say("one?")).session_id
    await gate.reached()
    waiting = [(await chats.say(text, session_id)).message_id for text in texts]
    await chats.do("stop", session_id=session_id)
    await chats.until(session_id, TurnFinished)
    await chats.rest(session_id)
    return session_id, waiting


async def test_sending_a_waiting_message_now_is_one_commit_and_happens_once(tmp_path: Path) -> None:  # P5, P6
    gate = Gate()
    async with opened(tmp_path, (gate,), say("Three."), say("Two.")) as chats:
        session_id, (_, third) = await _stopped_with_a_queue(chats, gate, "two?", "three?")
        before = len(await chats.log(session_id))
        send: dict[str, Any] = {"session_id": session_id, "queued_id": third, "text": None, "send": True, "id": "click"}
        assert await chats.do("edit_queue", **send) == await chats.do("edit_queue", **send)
        accepted, queue, added = (await chats.events(session_id, before))[:3]
        assert [type(event) for event in (accepted, queue, added)] == [TurnAccepted, QueueChanged, MessageAdded]
        await chats.until(session_id, TurnFinished, 3)
        assert (await chats.texts(session_id))[-4:] == [
            "user: three?",
            "assistant: Three.",
            "user: two?",
            "assistant: Two.",
        ]


async def test_a_waiting_message_that_cannot_be_sent_now_still_waits(tmp_path: Path) -> None:  # P6, P12
    gate = Gate()
    async with opened(tmp_path, (gate,), say("Two.")) as chats:
        session_id, (second,) = await _stopped_with_a_queue(chats, gate, "two?")
        failing(chats.store, MessageAdded)
        with pytest.raises(StorageError):
            await chats.do("edit_queue", session_id=session_id, queued_id=second, text=None, send=True)
        chats.store.before_commit = None
        assert [waiting.text for waiting in (await chats.snapshot(session_id)).state.queue] == ["two?"]
        assert (await chats.row(session_id)).turn_id is None


async def test_sending_a_waiting_message_now_while_a_turn_runs_steers_it(tmp_path: Path) -> None:  # P6
    gate = Gate()
    scripts = (call(use("read")), say("As you wish."), say("And that."))
    async with opened(tmp_path, *scripts, tools=[FakeTool("read", held(gate))]) as chats:
        session_id = (await chats.say("read")).session_id
        await gate.reached()
        await chats.say("later", session_id)
        urgent = await chats.say("wait", session_id)
        await chats.do("edit_queue", session_id=session_id, queued_id=urgent.message_id, text="no, wait", send=True)
        gate.open()
        await chats.until(session_id, TurnFinished, 3)
        users = [text for text in await chats.texts(session_id) if text.startswith("user")]
        assert users == ["user: read", "user: no, wait", "user: later"]


async def test_a_steered_message_is_delivered_after_the_current_results(tmp_path: Path) -> None:  # P6, T21
    gate = Gate()
    read = FakeTool("read", held(gate))
    scripts = (call(use("read")), say("As you wish."), say("And that."))
    async with opened(tmp_path, *scripts, tools=[read]) as chats:
        session_id = (await chats.say("read")).session_id
        await gate.reached()
        await chats.say("later", session_id)
        await chats.say("no, wait", session_id, mode="steer")
        gate.open()
        await chats.until(session_id, TurnFinished, 3)
        branch = await chats.branch(session_id)
        assert [f"{m.role}: {m.text}" for m in branch if m.role in ("user", "assistant")] == [
            "user: read",
            "assistant: ",
            "user: no, wait",
            "assistant: As you wish.",
            "user: later",
            "assistant: And that.",
        ]
        assert_paired(branch)
        assert len(await chats.of(session_id, TurnStarted)) == 3


async def test_a_steered_message_that_became_a_turn_of_its_own_does_not_cut_that_turn_short(tmp_path: Path) -> None:
    gate = Gate()  # P6
    scripts = ((gate, *say("One.")), call(use("read")), say("Read it."))
    async with opened(tmp_path, *scripts, tools=[FakeTool("read")]) as chats:
        session_id = (await chats.say("one?")).session_id
        await gate.reached()
        await chats.say("then read", session_id, mode="steer")
        gate.open()
        await chats.until(session_id, TurnFinished, 2)
        await chats.rest(session_id)
        assert (await chats.texts(session_id))[-1] == "assistant: Read it."
        assert len(await chats.of(session_id, TurnFinished)) == 2


async def test_a_steered_message_that_was_withdrawn_does_not_cut_the_turn_short(tmp_path: Path) -> None:  # P6
    gate = Gate()
    async with opened(tmp_path, call(use("read")), say("Read it."), tools=[FakeTool("read", held(gate))]) as chats:
        session_id = (await chats.say("read")).session_id
        await gate.reached()
        steer = await chats.say("no", session_id, mode="steer")
        await chats.do("edit_queue", session_id=session_id, queued_id=steer.message_id, text=None)
        gate.open()
        await chats.until(session_id, TurnFinished)
        await chats.rest(session_id)
        assert (await chats.texts(session_id))[-1] == "assistant: Read it."
        assert len(await chats.of(session_id, TurnFinished)) == 1


async def test_an_override_holds_for_its_own_turn_also_from_the_queue(tmp_path: Path) -> None:  # T9
    gate = Gate()
    async with opened(
        tmp_path, (gate, *say("1")), say("2"), say("3"), tools=[FakeTool("read"), FakeTool("bash")]
    ) as chats:
        session_id = (await chats.say("one?")).session_id
        await gate.reached()
        await chats.say("two?", session_id, override={"picked": ["read"]})
        await chats.say("three?", session_id)
        gate.open()
        await chats.until(session_id, TurnFinished, 3)
        turns = await chats.of(session_id, TurnStarted)
        assert [turn.tools for turn in turns] == [("bash", "read"), ("read",), ("bash", "read")]
