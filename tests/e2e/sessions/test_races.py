"""Two things at the same moment: each test drives both sides to the very place where they meet."""

import asyncio
from pathlib import Path

import pytest

from openprogram.core.errors import BadField, Busy
from openprogram.core.events import MessageAdded, QueueChanged, TurnFinished, TurnStarted
from openprogram.core.messages import Message, Role, TextBlock
from openprogram.core.storage import EndTurn
from openprogram.core.tooling import ToolContext, ToolOutput
from tests.support.agent import FakeTool, held
from tests.support.script import Gate, assert_paired, call, message, say, use
from tests.support.sessions import USER, Chats, Held, opened


async def _users(chats: Chats, session_id: str) -> list[str]:
    return [message.text for message in await chats.branch(session_id) if message.role == "user"]


# -- a message and the end of a turn (P6) -----------------------------------------------------------------------


async def test_a_message_while_the_end_of_the_turn_is_being_stored_starts_the_next_turn(tmp_path: Path) -> None:
    async with opened(tmp_path, say("One."), say("Two.")) as chats:  # P6
        session_id = await chats.draft()
        ending = Held(chats.store, EndTurn)
        await chats.say("one?", session_id)
        await ending.gate.reached()
        ack = await chats.say("two?", session_id)
        assert ack.queued
        ending.gate.open()
        await chats.until(session_id, TurnFinished, 2)
        await chats.rest(session_id)
        assert await _users(chats, session_id) == ["one?", "two?"]
        assert (await chats.snapshot(session_id)).state.queue == ()


async def test_a_message_while_the_queue_is_found_empty_starts_a_run_of_its_own(tmp_path: Path) -> None:  # P6
    gate, found = Gate(), Gate()
    async with opened(tmp_path, (gate, *say("One.")), say("Two.")) as chats:
        session_id = (await chats.say("one?")).session_id
        await gate.reached()
        chats.store.after_queue = found.wait
        gate.open()
        await found.reached()  # the run has read the queue, and holds the chat
        chats.store.after_queue = None
        sending = asyncio.create_task(chats.say("two?", session_id))
        await asyncio.sleep(0)
        found.open()
        assert not (await sending).queued
        await chats.until(session_id, TurnFinished, 2)
        assert await _users(chats, session_id) == ["one?", "two?"]


async def test_a_message_while_the_next_one_leaves_the_queue_keeps_its_place(tmp_path: Path) -> None:  # P6
    gate = Gate()
    async with opened(tmp_path, (gate, *say("One.")), say("Two."), say("Three.")) as chats:
        session_id = (await chats.say("one?")).session_id
        await gate.reached()
        await chats.say("two?", session_id)
        moving = Held(chats.store, MessageAdded)
        moving.only(lambda events: any(isinstance(event, QueueChanged) for event in events))
        gate.open()
        await moving.gate.reached()
        sending = asyncio.create_task(chats.say("three?", session_id))
        await asyncio.sleep(0)
        moving.gate.open()
        await sending
        await chats.until(session_id, TurnFinished, 3)
        await chats.rest(session_id)
        assert await _users(chats, session_id) == ["one?", "two?", "three?"]
        assert (await chats.snapshot(session_id)).state.queue == ()


async def test_two_messages_at_once_to_an_idle_chat_are_one_turn_and_one_in_the_queue(tmp_path: Path) -> None:  # P6
    async with opened(tmp_path, say("Hello."), say("One."), say("Two.")) as chats:
        session_id = await chats.said("hi")
        acks = await asyncio.gather(chats.say("one?", session_id), chats.say("two?", session_id))
        assert sorted(ack.queued for ack in acks) == [False, True]
        await chats.until(session_id, TurnFinished, 3)
        assert sorted(await _users(chats, session_id)) == ["hi", "one?", "two?"]


# -- stop and the next turn (P6, P7) ----------------------------------------------------------------------------


async def test_a_stop_while_the_next_message_is_looked_for_leaves_it_in_the_queue(tmp_path: Path) -> None:  # P6, P7
    gate = Gate()
    async with opened(tmp_path, (gate, *say("One.")), say("Two.")) as chats:
        session_id = (await chats.say("one?")).session_id
        await gate.reached()
        await chats.say("two?", session_id)
        async with chats.service._hub.lock(session_id):  # what looks for the next message waits here
            gate.open()
            await chats.until(session_id, TurnFinished)
            await chats.do("stop", session_id=session_id)
        await chats.rest(session_id)
        assert [waiting.text for waiting in (await chats.snapshot(session_id)).state.queue] == ["two?"]
        assert len(await chats.of(session_id, TurnStarted)) == 1


async def test_a_stop_while_the_next_turn_begins_stops_that_turn(tmp_path: Path) -> None:  # P7
    gate = Gate()
    async with opened(tmp_path, (gate, *say("One.")), say("Never.")) as chats:
        session_id = (await chats.say("one?")).session_id
        await gate.reached()
        await chats.say("two?", session_id)
        moving = Held(chats.store, QueueChanged)
        gate.open()
        await moving.gate.reached()
        await chats.do("stop", session_id=session_id)
        moving.gate.open()
        await chats.until(session_id, TurnFinished, 2)
        assert [event.reason for event in await chats.of(session_id, TurnFinished)] == ["done", "stopped"]
        assert len(chats.provider.scripts) == 1
        assert await _users(chats, session_id) == ["one?", "two?"]


async def test_many_stops_are_one(tmp_path: Path) -> None:  # P7
    gate = Gate()
    async with opened(tmp_path, call(use("read")), tools=[FakeTool("read", held(gate))]) as chats:
        session_id = (await chats.say("read")).session_id
        await gate.reached()
        await asyncio.gather(*(chats.do("stop", session_id=session_id) for _ in range(5)))
        await chats.until(session_id, TurnFinished)
        await chats.rest(session_id)
        await asyncio.gather(*(chats.do("stop", session_id=session_id) for _ in range(5)))
        assert [event.reason for event in await chats.of(session_id, TurnFinished)] == ["stopped"]
        assert_paired(await chats.branch(session_id))


async def test_an_edit_that_waits_for_a_stopped_run_does_not_keep_it_from_ending(tmp_path: Path) -> None:  # P7, P8
    """The edit holds the chat when the run comes to its end and needs it, and then Stop makes the edit wait for it."""
    gate, looking = Gate(), Gate()
    async with opened(tmp_path, (gate, *say("One.")), say("Two.")) as chats:
        sent = await chats.say("one?")
        session_id = sent.session_id
        await gate.reached()

        async def hold_the_edit() -> None:
            task = asyncio.current_task()
            if task is not None and task.get_name() == "action edit_message":
                await looking.wait()

        chats.store.before_row = hold_the_edit
        editing = asyncio.create_task(
            chats.do("edit_message", session_id=session_id, message_id=sent.message_id, text="two?")
        )
        await looking.reached()
        chats.store.before_row = None
        gate.open()
        await chats.until(session_id, TurnFinished)
        await chats.do("stop", session_id=session_id)
        looking.open()
        await editing
        await chats.until(session_id, TurnFinished, 2)
        assert await _users(chats, session_id) == ["two?"]


async def test_an_edit_of_a_running_chat_is_refused_and_harms_nothing(tmp_path: Path) -> None:  # P8
    gate = Gate()
    async with opened(tmp_path, (gate, *say("One."))) as chats:
        sent = await chats.say("one?")
        await gate.reached()
        outcomes = await asyncio.gather(
            *(
                chats.do("edit_message", session_id=sent.session_id, message_id=sent.message_id, text=f"{n}?")
                for n in range(3)
            ),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [Busy] * 3
        gate.open()
        await chats.until(sent.session_id, TurnFinished)
        assert await _users(chats, sent.session_id) == ["one?"]


async def test_of_two_edits_at_once_one_runs(tmp_path: Path) -> None:  # P8
    gate = Gate()
    async with opened(tmp_path, say("One."), (gate, *say("Two."))) as chats:
        sent = await chats.say("one?")
        await chats.until(sent.session_id, TurnFinished)
        outcomes = await asyncio.gather(
            *(
                chats.do("edit_message", session_id=sent.session_id, message_id=sent.message_id, text=text)
                for text in ("two?", "three?")
            ),
            return_exceptions=True,
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Busy", "ChatAck"]
        gate.open()
        await chats.until(sent.session_id, TurnFinished, 2)


# -- answers and other things -----------------------------------------------------------------------------------


async def test_an_answer_and_a_stop_at_once_after_a_restart_end_the_turn_once(tmp_path: Path) -> None:  # P7, P9
    bash = FakeTool("bash", permission="execute", readonly=False)
    async with opened(tmp_path, call(use("bash", command="ls")), tools=[bash], mode="ask") as chats:
        session_id = (await chats.say("look")).session_id
        asked = await chats.asked(session_id)
    async with opened(tmp_path, say("Done."), tools=[bash], mode="ask") as chats:
        outcomes = await asyncio.gather(
            chats.do("answer_approval", session_id=session_id, approval_id=asked.approval_id, decision="once"),
            chats.do("stop", session_id=session_id),
            return_exceptions=True,
        )
        await chats.until(session_id, TurnFinished)
        await chats.rest(session_id)
        assert len(await chats.of(session_id, TurnFinished)) == 1
        assert_paired(await chats.branch(session_id))
        assert isinstance(outcomes[0], BadField) or len(bash.calls) <= 1
        assert (await chats.snapshot(session_id)).state.approvals == ()


# -- size -------------------------------------------------------------------------------------------------------


async def test_a_chat_of_two_thousand_messages_goes_on(tmp_path: Path) -> None:  # R6
    async with opened(tmp_path, say("Still here.")) as chats:
        session_id = await chats.draft()
        branch: list[Message] = []
        for number in range(2000):
            role: Role = "assistant" if number % 2 else "user"
            blocks = (TextBlock(f"message {number}"),)
            branch.append(message(role, blocks, branch[-1].id if branch else None, id=f"m_old_{number}"))
        for start in range(0, 2000, 500):
            await chats.service._hub.journal.commit(
                session_id, USER, [MessageAdded(one) for one in branch[start : start + 500]]
            )
        await chats.said("are you there?", session_id)
        sent = chats.provider.requests[0].messages
        assert sent[:2000] == tuple(branch)
        assert (await chats.texts(session_id))[-1] == "assistant: Still here."


async def test_many_chats_at_once_keep_apart(tmp_path: Path) -> None:
    scripts = [say(f"Answer {number}.") for number in range(30)]
    async with opened(tmp_path, *scripts) as chats:
        acks = await asyncio.gather(*(chats.say(f"Question {number}?") for number in range(30)))
        for ack in acks:
            await chats.until(ack.session_id, TurnFinished)
        for number, ack in enumerate(acks):
            texts = await chats.texts(ack.session_id)
            assert texts[0] == f"user: Question {number}?"
            assert len(texts) == 2
            seqs = [event.seq for event in await chats.log(ack.session_id)]
            assert seqs == list(range(1, len(seqs) + 1))


@pytest.mark.parametrize("others", [0, 3])
async def test_a_call_that_is_put_on_record_does_not_wait_for_its_talkative_neighbours(
    tmp_path: Path, others: int
) -> None:
    talking = asyncio.Event()

    async def talk(_arguments: object, context: object):
        assert isinstance(context, ToolContext)
        while not talking.is_set():
            context.output(".")
            await asyncio.sleep(0)
        return ToolOutput.text("said")

    async def done(_arguments: object, _context: object):
        talking.set()
        return ToolOutput.text("done")

    tools = [FakeTool("talk", talk, parallel_safe=True), FakeTool("write", done, readonly=False, parallel_safe=True)]
    calls = [*(use("talk") for _ in range(others)), use("write")]
    async with opened(tmp_path, call(*calls), say("Done."), tools=tools) as chats:
        session_id = await chats.said("go")
        assert (await chats.texts(session_id))[-1] == "assistant: Done."
