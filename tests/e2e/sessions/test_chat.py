"""Sending, queueing, steering, stopping, through the one door and into a real database file."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from openprogram.core.errors import BadField, Busy
from openprogram.core.events import (
    ErrorRaised,
    SessionChanged,
    StepStarted,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from openprogram.core.messages import TextBlock
from openprogram.core.prompt import ResponseStarted, TextPiece
from openprogram.core.tooling import ToolOutput
from tests.support.agent import FakeTool, held
from tests.support.script import Gate, assert_paired, call, completed, failed, say, use
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


# -- queue and steering (P6) ------------------------------------------------------------------------------------


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
        await chats.until(session_id, TurnFinished, 2)
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
        changes = len(await chats.of(named, SessionChanged))
        chats.provider.scripts.append(say("Hm."))
        await chats.said("another first line", named)
        assert len(await chats.of(named, SessionChanged)) == changes


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


async def test_pages_of_chats_skip_none_of_the_same_moment(tmp_path: Path) -> None:
    async with opened(tmp_path, *(say("Hm.") for _ in range(5))) as chats:  # the clock stands still
        made = {await chats.said(str(number)) for number in range(5)}
        found: list[str] = []
        place: dict[str, object] = {}
        while page := await chats.sidebar(limit=2, **place):
            found += page
            place = {"before": (await chats.row(page[-1])).info.updated_at, "before_id": page[-1]}
        assert (len(found), set(found)) == (5, made)
