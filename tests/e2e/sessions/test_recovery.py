"""Nothing is lost and nothing hangs: kills at any moment, lost storage, shutdown (spec trust.md R1, R2, R4)."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from openprogram.core.errors import StorageError
from openprogram.core.events import (
    ErrorRaised,
    MessageAdded,
    QueueChanged,
    StepFinished,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from openprogram.core.ports import Provider
from openprogram.core.prompt import ModelInfo, ResponseStarted, TextPiece
from openprogram.core.storage import EndTurn, PutMessage, RememberRequest
from openprogram.core.surface import PutSurface
from openprogram.core.topics import user_topic
from tests.support.agent import FakeTool
from tests.support.script import Gate, assert_paired, call, say, use
from tests.support.sessions import USER, Chats, Held, failing, opened

HALF = (ResponseStarted(), TextPiece(0, "Half an "), TextPiece(0, "answer"))


async def _ended_once(chats: Chats, session_id: str) -> TurnFinished:
    (finished,) = await chats.of(session_id, TurnFinished)
    assert (await chats.row(session_id)).turn_id is None
    assert_paired(await chats.branch(session_id))
    return finished


# -- lost storage -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lost",
    [TurnStarted, ResponseStarted, TextDelta, PutSurface, StepFinished, ToolCallStarted, ToolCallFinished, EndTurn],
)
async def test_a_store_that_fails_in_mid_turn_ends_the_run_and_later_actions_work(
    tmp_path: Path, lost: type[Any]
) -> None:  # R4, law 10
    write = FakeTool("write", readonly=False)
    script = (ResponseStarted(), TextPiece(0, "Let me."), *call(use("write"), text="Let me.")[-1:])
    async with opened(tmp_path, script, say("Done."), say("Back."), say("Back."), tools=[write]) as chats:
        session_id = await chats.draft()
        if lost is not ResponseStarted:  # which is no event: the run of that example is not disturbed
            failing(chats.store, lost)
        await chats.say("go", session_id)
        await chats.rest(session_id)
        before = await chats.log(session_id)
        chats.store.before_commit = None
        assert not any(isinstance(event, lost) for event in await chats.events(session_id))
        if lost is ToolCallStarted:
            assert write.calls == []  # R2: what cannot be put on record does not happen
        await chats.said("and now?", session_id)
        texts = await chats.texts(session_id)
        if lost is TurnStarted:  # its request had not gone out: the script that calls the tool answers this turn
            assert [text.partition(":")[0] for text in texts[-4:]] == ["user", "assistant", "tool", "assistant"]
            assert (texts[-4], texts[-1]) == ("user: and now?", "assistant: Done.")
        else:
            assert texts[-2] == "user: and now?"
        assert (await chats.log(session_id))[: len(before)] == before
        turns = await chats.of(session_id, TurnFinished)
        assert len({turn.turn_id for turn in turns}) == len(turns)
        assert_paired(await chats.branch(session_id))


async def test_a_store_that_comes_back_at_once_shows_the_user_what_happened(tmp_path: Path) -> None:  # R4
    """The model is not waited for: what it goes on to say could not be kept."""
    begun, silent = Gate(), Gate()
    async with opened(tmp_path, (begun, *HALF, silent)) as chats:
        session_id = (await chats.say("go")).session_id
        await chats.until(session_id, TurnStarted)
        chats.store.before_commit = _full_once(chats)
        begun.open()
        finished = await chats.until(session_id, TurnFinished)
        assert silent.cancelled
        assert finished.error is not None
        assert (finished.reason, finished.error.code) == ("error", "storage_failed")
        assert "the disk is full" in finished.error.message
        assert finished.error.hint == "free some space"


async def test_a_turn_of_which_nothing_could_be_stored_is_told_as_an_error(tmp_path: Path) -> None:  # R4
    async with opened(tmp_path, say("Hello."), say("Hello again.")) as chats:
        session_id = await chats.draft()
        storing = Held(chats.store, TurnStarted)
        await chats.say("go", session_id)
        await storing.gate.reached()
        storing.gate.fail(StorageError("the disk is full"))
        finished = await chats.until(session_id, TurnFinished)
        assert finished.error is not None
        assert (finished.reason, finished.error.code) == ("error", "storage_failed")
        assert await chats.of(session_id, TurnStarted) == []
        await chats.rest(session_id)
        await chats.do("continue_turn", session_id=session_id)
        await chats.until(session_id, TurnFinished, 2)


async def test_a_turn_that_a_full_disk_left_open_is_told_at_once_and_ends_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # R4, P10
    monkeypatch.setattr("openprogram.sessions.run.RETRY_S", 0.01)
    async with opened(tmp_path, call(use("read")), say("Fine."), tools=[FakeTool("read")]) as chats:
        told: list[bytes] = []
        chats.bus.subscribe(user_topic(USER), lambda _topic, _first, _last, payload: told.append(payload))
        second = _full_until_its_second_end(chats)
        session_id = (await chats.say("go")).session_id
        await second.reached()  # the run is over, its end was refused, and is tried again by itself
        (error,) = [frame for frame in map(orjson.loads, told) if frame["type"] == "error"]
        assert (error["id"], error["code"], error["hint"]) == (None, "storage_failed", "free some space")
        assert "the disk is full" in error["message"]
        chats.store.before_commit = None
        second.open()
        finished = await chats.until(session_id, TurnFinished)
        assert finished.error is not None
        assert (finished.reason, finished.error.code) == ("error", "storage_failed")
        await _ended_once(chats, session_id)
        await chats.said("and now?", session_id)


def _full_until_its_second_end(chats: Chats) -> Gate:
    """No result of a tool and no end of a turn can be stored; the second attempt to end one waits at the gate."""
    ends, gate = 0, Gate()

    async def refuse(events: Any, writes: Any) -> None:
        nonlocal ends
        ending = any(isinstance(write, EndTurn) for write in writes)
        ends += ending
        if ends == 2:
            await gate.wait()
        if ending or any(isinstance(event, ToolCallFinished) for event in events):
            raise StorageError("the disk is full", hint="free some space")

    chats.store.before_commit = refuse
    return gate


def _full_once(chats: Chats):
    async def refuse(_events: object, _writes: object) -> None:
        chats.store.before_commit = None
        raise StorageError("the disk is full", hint="free some space")

    return refuse


async def test_a_step_after_a_lost_one_is_logged_whole(tmp_path: Path) -> None:  # C18
    """Its segments are told by what they changed of a step that the log holds, or all of them."""
    async with opened(tmp_path, say("One."), say("Lost."), say("Three.")) as chats:
        session_id = await chats.said("one")
        failing(chats.store, StepStarted)
        await chats.say("two", session_id)
        await chats.rest(session_id)
        chats.store.before_commit = None
        await chats.said("three", session_id)
        first, last = await chats.of(session_id, StepStarted)
        assert (first.kept, last.kept) == (0, 0)
        assert len(last.segments) > len(first.segments)


async def test_a_lost_store_takes_down_no_other_chat(tmp_path: Path) -> None:  # law 10
    gate = Gate()
    write = FakeTool("write", readonly=False, parallel_safe=True)
    scripts = ((gate, *say("Alive.")), call(use("write"), use("write")))
    async with opened(tmp_path, *scripts, tools=[write]) as chats:
        alive = (await chats.say("one")).session_id
        await gate.reached()
        failing(chats.store, ToolCallStarted)
        lost = (await chats.say("two")).session_id
        await chats.rest(lost)
        chats.store.before_commit = None
        gate.open()
        await chats.until(alive, TurnFinished)
        assert (await chats.texts(alive))[-1] == "assistant: Alive."


@pytest.mark.parametrize("action", ["chat", "stop", "edit", "regenerate", "continue"])
async def test_any_action_on_a_chat_whose_run_was_lost_closes_its_turn_first(tmp_path: Path, action: str) -> None:
    async with opened(tmp_path, call(use("read")), say("Fine."), tools=[FakeTool("read")]) as chats:  # R4
        failing(chats.store, ToolCallFinished, EndTurn)
        sent = await chats.say("go")
        session_id = sent.session_id
        await chats.rest(session_id)
        assert (await chats.row(session_id)).turn_id is not None
        chats.store.before_commit = None
        match action:
            case "chat":
                await chats.say("hello?", session_id)
            case "stop":
                await chats.do("stop", session_id=session_id)
            case "edit":
                await chats.do("edit_message", session_id=session_id, message_id=sent.message_id, text="go!")
            case "regenerate":
                await chats.do("regenerate", session_id=session_id, message_id=sent.message_id)
            case _:
                await chats.do("continue_turn", session_id=session_id)
        await chats.rest(session_id)
        assert (await chats.row(session_id)).turn_id is None
        assert_paired(await chats.branch(session_id))


async def test_a_chat_whose_message_cannot_be_stored_is_as_if_nothing_was_sent(tmp_path: Path) -> None:  # P12
    async with opened(tmp_path, say("Now.")) as chats:
        session_id = await chats.draft()
        before = await chats.log(session_id)
        failing(chats.store, PutMessage)
        with pytest.raises(StorageError):
            await chats.say("hi", session_id, id="again")
        chats.store.before_commit = None
        assert await chats.log(session_id) == before
        assert chats.service._hub.runs == {}
        await chats.said("hi", session_id, id="again")
        assert await chats.texts(session_id) == ["user: hi", "assistant: Now."]


async def test_a_hint_that_is_lost_fails_no_action(tmp_path: Path) -> None:  # law 8
    async with opened(tmp_path, say("Hello.")) as chats:

        async def lose(_events: Any, writes: Any) -> None:
            chats.store.reads_fail = any(isinstance(write, RememberRequest) for write in writes)

        chats.store.before_commit = lose
        ack = await chats.say("hi")
        chats.store.before_commit, chats.store.reads_fail = None, False
        await chats.until(ack.session_id, MessageAdded)


async def test_the_next_message_is_kept_in_the_queue_where_it_cannot_be_moved(tmp_path: Path) -> None:  # P6
    gate = Gate()
    async with opened(tmp_path, (gate, *say("One.")), say("Two."), say("Three.")) as chats:
        session_id = (await chats.say("one")).session_id
        await gate.reached()
        await chats.say("two", session_id)
        failing(chats.store, QueueChanged)
        gate.open()
        raised = await chats.until(session_id, ErrorRaised)
        assert raised.error.code == "storage_failed"
        await chats.rest(session_id)
        chats.store.before_commit = None
        assert [waiting.text for waiting in (await chats.snapshot(session_id)).state.queue] == ["two"]
        await chats.say("three", session_id)
        await chats.until(session_id, TurnFinished, 3)
        assert (await chats.texts(session_id))[-4:] == [
            "user: two",
            "assistant: Two.",
            "user: three",
            "assistant: Three.",
        ]


# -- faults of the program --------------------------------------------------------------------------------------


async def test_a_run_that_crashes_ends_its_turn_with_a_typed_error(tmp_path: Path) -> None:  # law 10
    async with opened(tmp_path) as chats:  # no script: the provider breaks law 9 and raises
        session_id = (await chats.say("go")).session_id
        finished = await chats.until(session_id, TurnFinished)
        assert finished.error is not None
        assert (finished.reason, finished.error.code) == ("error", "internal")
        await chats.rest(session_id)
        chats.provider.scripts.append(say("Fine."))
        await chats.said("again", session_id)


async def test_a_run_that_crashes_before_its_turn_says_so(tmp_path: Path) -> None:  # law 10
    async with opened(tmp_path, say("Fine.")) as chats:

        async def broken(model_id: str | None) -> tuple[ModelInfo, Provider]:
            raise RuntimeError(f"a bug with {model_id}")

        resolve = chats.catalog.resolve
        chats.catalog.resolve = broken  # type: ignore[method-assign]
        session_id = (await chats.say("go")).session_id
        finished = await chats.until(session_id, TurnFinished)
        assert finished.error is not None
        assert (finished.reason, finished.error.code) == ("error", "internal")
        await chats.rest(session_id)
        chats.catalog.resolve = resolve  # type: ignore[method-assign]
        await chats.said("again", session_id)
