"""Sending, queueing, steering, stopping, through the one door and into a real database file."""

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from openprogram.core.errors import BadField, Busy, IdConflict, UnknownSession
from openprogram.core.events import (
    ErrorRaised,
    MessageAdded,
    QueueChanged,
    SessionChanged,
    StepStarted,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from openprogram.core.messages import TextBlock
from openprogram.core.prompt import ResponseStarted, TextPiece
from openprogram.core.protocol.frames import ChatAck
from openprogram.core.tooling import ToolOutput
from tests.support.agent import FakeTool, Gate, assert_paired, call, completed, failed, held, say, use
from tests.support.sessions import Chats, opened


async def test_a_message_is_answered_and_all_of_it_is_stored(tmp_path: Path) -> None:
    async with opened(tmp_path, say("Hello.")) as chats:
        session_id = await chats.said("hi")
        assert await chats.texts(session_id) == ["user: hi", "assistant: Hello."]
    async with opened(tmp_path) as chats:
        assert await chats.texts(session_id) == ["user: hi", "assistant: Hello."]
        assert (await chats.row(session_id)).turn_id is None


async def test_the_log_of_a_chat_has_no_gaps(tmp_path: Path) -> None:  # P2
    async with opened(tmp_path, say("One.", " Two."), say("Three.")) as chats:
        session_id = await chats.said("hi")
        await chats.said("and?", session_id)
        seqs = [event.seq for event in await chats.log(session_id)]
        assert seqs == list(range(1, len(seqs) + 1))


# -- the same action twice (P5) ---------------------------------------------------------------------------------


async def test_twins_have_one_effect_and_equal_acks(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Once.")) as chats:
        first, *others = await asyncio.gather(*(chats.say("hi", id="twin") for _ in range(5)))
        assert others == [first] * 4
        await chats.until(first.session_id, TurnFinished)
        assert len(await chats.sidebar()) == 1
        assert await chats.texts(first.session_id) == ["user: hi", "assistant: Once."]


async def test_a_resend_after_a_restart_has_no_second_effect(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Once.")) as chats:
        first = await chats.say("hi", id="twin")
        await chats.until(first.session_id, TurnFinished)
        await chats.rest(first.session_id)
    async with opened(tmp_path) as chats:
        assert await chats.say("hi", id="twin") == first
        assert len(await chats.sidebar()) == 1


async def test_an_id_that_was_used_for_something_else_is_a_conflict(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Once.")) as chats:
        session_id = await chats.said("hi", id="twin")
        with pytest.raises(IdConflict):
            await chats.say("something else", id="twin")
        with pytest.raises(IdConflict):
            await chats.do("stop", session_id=session_id, id="twin")
        assert await chats.texts(session_id) == ["user: hi", "assistant: Once."]


async def test_twins_of_different_words_conflict_also_at_once(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Once.")) as chats:
        results = await asyncio.gather(
            chats.say("this", id="twin"), chats.say("that", id="twin"), return_exceptions=True
        )
        assert [type(result) for result in results] == [ChatAck, IdConflict]


async def test_ids_of_other_users_are_their_own(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Hi Ada."), say("Hi Bob.")) as chats:
        ada = await chats.said("hi", id="same")
        bob = await chats.say("hi", id="same", user="u_bob")
        await chats.until(bob.session_id, TurnFinished)
        assert bob.session_id != ada


async def test_a_failed_action_is_not_remembered(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, say("Now.")) as chats:
        session_id = await chats.draft()
        with pytest.raises(BadField):
            await chats.say("hi", session_id, id="again", attachments=["x"])
        await chats.said("hi", session_id, id="again")
        assert await chats.texts(session_id) == ["user: hi", "assistant: Now."]


@pytest.mark.parametrize("action", ["chat", "stop", "rename_session", "toggle_web_search", "load_messages"])
async def test_a_chat_of_someone_else_is_not_there(tmp_path: Path, action: str) -> None:  # P12, R12
    more: dict[str, dict[str, Any]] = {
        "chat": {"text": "hi"},
        "rename_session": {"title": "mine"},
        "toggle_web_search": {"value": True},
    }
    async with opened(tmp_path, say("Hello.")) as chats:
        session_id = await chats.said("hi")
        before = await chats.log(session_id)
        with pytest.raises(UnknownSession):
            await chats.do(action, user="u_bob", session_id=session_id, **more.get(action, {}))
        assert await chats.log(session_id) == before


# -- a caller that goes away ------------------------------------------------------------------------------------


async def test_a_client_that_leaves_in_mid_action_leaves_nothing_half_done(tmp_path: Path) -> None:
    async with opened(tmp_path, say("Still here.")) as chats:
        session_id = await chats.draft()
        gone = asyncio.create_task(chats.say("hi", session_id))
        await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        await chats.until(session_id, TurnFinished)
        assert await chats.texts(session_id) == ["user: hi", "assistant: Still here."]


# -- queue and steering (P6) ------------------------------------------------------------------------------------


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
        assert [QueueChanged, MessageAdded] in commits


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
async def test_the_queue_stays_after_a_stop_or_failure_and_goes_on_with_the_next_message(
    tmp_path: Path, end: str
) -> None:  # P6
    gate = Gate()
    first = (gate, failed()) if end == "failure" else (gate,)
    async with opened(tmp_path, first, say("Three."), say("Two.")) as chats:
        session_id = (await chats.say("one?")).session_id
        await gate.reached()
        await chats.say("two?", session_id)
        if end == "stop":
            await chats.do("stop", session_id=session_id)
        gate.open()
        await chats.until(session_id, TurnFinished)
        await chats.rest(session_id)
        assert [waiting.text for waiting in (await chats.snapshot(session_id)).state.queue] == ["two?"]
        await chats.say("three?", session_id)
        await chats.until(session_id, TurnFinished, 3)
        assert (await chats.texts(session_id))[-4:] == [
            "user: three?",
            "assistant: Three.",
            "user: two?",
            "assistant: Two.",
        ]


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


# -- stop (P7) --------------------------------------------------------------------------------------------------


async def test_stop_keeps_the_partial_answer_as_part_of_the_history(tmp_path: Path) -> None:  # P7
    gate = Gate()
    stream = (ResponseStarted(), TextPiece(0, "Half an "), TextPiece(0, "answer"), gate)
    async with opened(tmp_path, stream, say("Understood.")) as chats:
        session_id = (await chats.say("tell me")).session_id
        await gate.reached()
        await chats.do("stop", session_id=session_id)
        await chats.until(session_id, TurnFinished)
        assert gate.cancelled
        (partial,) = [message for message in await chats.branch(session_id) if message.role == "assistant"]
        assert (partial.text, partial.status) == ("Half an answer", "stopped")
        await chats.said("thanks", session_id)
        assert partial in chats.provider.requests[1].messages


async def test_stop_where_nothing_runs_is_no_error(tmp_path: Path) -> None:
    async with opened(tmp_path, say("Hello.")) as chats:
        session_id = await chats.said("hi")
        before = await chats.log(session_id)
        await chats.do("stop", session_id=session_id)
        assert await chats.log(session_id) == before


async def test_a_message_right_after_stop_starts_a_turn_of_its_own(tmp_path: Path) -> None:  # P6, P7
    gate, closing = Gate(), Gate()

    async def slow_to_die(_arguments: object, _context: object):
        try:
            await gate.wait()
        finally:
            await closing.wait()

    tool = FakeTool("bash", slow_to_die)
    async with opened(tmp_path, call(use("bash")), say("Yes?"), tools=[tool]) as chats:
        session_id = (await chats.say("run")).session_id
        await gate.reached()
        await chats.do("stop", session_id=session_id)
        await closing.reached()
        sending = asyncio.create_task(chats.say("hello?", session_id))
        await asyncio.sleep(0)
        closing.open()
        assert not (await sending).queued
        await chats.until(session_id, TurnFinished, 2)
        assert (await chats.texts(session_id))[-2:] == ["user: hello?", "assistant: Yes?"]
        assert_paired(await chats.branch(session_id))


async def test_deleting_a_chat_stops_what_runs_in_it(tmp_path: Path) -> None:
    gate = Gate()
    async with opened(tmp_path, (gate,)) as chats:
        session_id = (await chats.say("hi")).session_id
        await gate.reached()
        await chats.do("delete_session", session_id=session_id)
        finished = await chats.until(session_id, TurnFinished)
        assert finished.reason == "stopped"
        assert await chats.sidebar() == []
        with pytest.raises(BadField, match="deleted"):
            await chats.say("hello?", session_id)
        await chats.do("restore_session", session_id=session_id)
        assert await chats.sidebar() == [session_id]


# -- turns that end early ---------------------------------------------------------------------------------------


async def test_continue_goes_on_after_a_cut_answer(tmp_path: Path) -> None:
    cut = (ResponseStarted(), TextPiece(0, "One, two"), completed(TextBlock("One, two"), stop_reason="max_tokens"))
    async with opened(tmp_path, cut, say(", three.")) as chats:
        session_id = await chats.said("count")
        await chats.do("continue_turn", session_id=session_id)
        await chats.until(session_id, TurnFinished, 2)
        await chats.rest(session_id)
        assert chats.provider.requests[1].messages[-1].text.startswith("Your last answer ended early")
        with pytest.raises(BadField, match="nothing to continue"):
            await chats.do("continue_turn", session_id=session_id)


async def test_continue_after_an_answer_of_nothing_just_asks_again(tmp_path: Path) -> None:
    async with opened(tmp_path, (failed("bad_key"),), say("Now.")) as chats:
        session_id = await chats.said("hi")
        await chats.do("continue_turn", session_id=session_id)
        await chats.until(session_id, TurnFinished, 2)
        assert all("ended early" not in message.text for message in chats.provider.requests[1].messages)


async def test_continue_after_the_limit_of_steps_shows_the_model_its_results(tmp_path: Path) -> None:
    scripts = (call(use("read")), say("Read."))
    async with opened(tmp_path, *scripts, tools=[FakeTool("read")], max_steps=1) as chats:
        session_id = await chats.said("read")
        assert [event.reason for event in await chats.of(session_id, TurnFinished)] == ["limit"]
        await chats.do("continue_turn", session_id=session_id)
        await chats.until(session_id, TurnFinished, 2)
        assert chats.provider.requests[1].messages[-1].role == "tool"


async def test_a_running_chat_takes_no_branch_and_no_continuation(tmp_path: Path) -> None:  # P8
    gate = Gate()
    async with opened(tmp_path, (gate, *say("Hello."))) as chats:
        sent = await chats.say("hi")
        await gate.reached()
        actions: dict[str, dict[str, str]] = {
            "continue_turn": {},
            "edit_message": {"message_id": sent.message_id, "text": "hey"},
            "regenerate": {"message_id": sent.message_id},
            "select_branch": {"message_id": sent.message_id},
        }
        for action, more in actions.items():
            with pytest.raises(Busy):
                await chats.do(action, session_id=sent.session_id, **more)
        gate.open()
        await chats.until(sent.session_id, TurnFinished)


async def test_a_model_that_is_gone_is_told_and_the_message_is_kept(tmp_path: Path) -> None:  # P13
    async with opened(tmp_path, say("Back.")) as chats:
        chats.catalog.gone = True
        session_id = (await chats.say("hi")).session_id
        raised = await chats.until(session_id, ErrorRaised)
        assert raised.error.code == "no_endpoint"
        await chats.rest(session_id)
        assert await chats.of(session_id, TurnStarted) == []
        chats.catalog.gone = False
        await chats.do("continue_turn", session_id=session_id)
        await chats.until(session_id, TurnFinished)
        assert await chats.texts(session_id) == ["user: hi", "assistant: Back."]


async def test_renaming_a_chat_in_mid_turn_moves_no_leaf(tmp_path: Path) -> None:
    gate = Gate()
    async with opened(tmp_path, call(use("read")), say("Done."), tools=[FakeTool("read", held(gate))]) as chats:
        session_id = (await chats.say("read")).session_id
        await gate.reached()
        await chats.do("rename_session", session_id=session_id, title="A good name")
        await chats.do("pin_session", session_id=session_id, value=True)
        gate.open()
        await chats.until(session_id, TurnFinished)
        row = await chats.row(session_id)
        assert (row.info.title, row.info.pinned) == ("A good name", True)
        assert (await chats.texts(session_id))[-1] == "assistant: Done."


async def test_a_call_is_in_the_log_before_it_runs(tmp_path: Path) -> None:  # R2
    logged: list[bool] = []
    chats: Chats

    async def look(_arguments: object, context: object):
        logged.append(bool(await chats.of(session_id, ToolCallStarted)))
        return ToolOutput.text("looked")

    write = FakeTool("write", look, readonly=False)
    async with opened(tmp_path, call(use("write")), say("Done."), tools=[write]) as chats:
        session_id = await chats.draft()
        await chats.said("write", session_id)
    assert logged == [True]


async def test_a_chat_that_names_itself_keeps_its_first_line(tmp_path: Path) -> None:  # T6
    async with opened(tmp_path, say("Hm."), say("Hm.")) as chats:
        await chats.said("\n  What is " + "x" * 100 + "\nmore")
        named = await chats.draft(title="Mine")
        await chats.said("hello", named)
        titles = [(await chats.row(session_id)).info.title for session_id in await chats.sidebar()]
        assert sorted(titles) == ["Mine", "What is " + "x" * 51 + "…"]
        assert all(len(event.session.title) <= 60 for event in await chats.of(named, SessionChanged))


async def test_each_request_extends_the_one_before_over_turns_and_restarts(tmp_path: Path) -> None:  # C13, law 4
    read = FakeTool("read")
    async with opened(tmp_path, call(use("read", "c_1")), say("Read."), say("Yes."), tools=[read]) as chats:
        session_id = await chats.said("read")
        await chats.said("sure?", session_id)
        before = chats.provider.requests
    async with opened(tmp_path, say("Again."), tools=[read]) as chats:
        await chats.said("again", session_id)
        requests = [*before, *chats.provider.requests]
    for one, other in pairwise(requests):
        assert other.messages[: len(one.messages)] == one.messages
        assert (other.tools, other.system) == (one.tools, one.system)


async def test_a_step_is_logged_before_its_answer(tmp_path: Path) -> None:  # C9: the plan is pending until then
    gate = Gate()
    async with opened(tmp_path, (gate, *say("Hello."))) as chats:
        session_id = (await chats.say("hi")).session_id
        await gate.reached()
        started = await chats.until(session_id, StepStarted)
        assert (await chats.row(session_id)).surface is None
        gate.open()
        await chats.until(session_id, TurnFinished)
        surface = (await chats.row(session_id)).surface
        assert surface is not None
        assert surface.names == started.plan.declared
