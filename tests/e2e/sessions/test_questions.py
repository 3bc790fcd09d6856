"""Questions to the person: answered once, from any tab, before or after a restart, or withdrawn (protocol.md P9)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from openprogram.core.asking import ApprovalRequested, Choice, QuestionAnswer, QuestionAnswered, QuestionAsked
from openprogram.core.errors import BadField, StorageError
from openprogram.core.events import ToolCallFinished, TurnFinished
from openprogram.core.messages import ToolResultBlock
from openprogram.tools.builtin.ask_user import ask_user
from openprogram.tools.registry import Registry
from tests.support.agent import FakeTool
from tests.support.script import assert_paired, call, say, use
from tests.support.sessions import Chats, Held, crashed, failing, opened

CHOICES = ["Left: the short way", "Right"]


def _registry(*more: FakeTool) -> Registry:
    registry = Registry()
    registry.put("builtin", [ask_user, *(tool.spec for tool in more)])
    return registry


def _ask(call_id: str | None = None, **arguments: Any) -> Any:
    return use("ask_user", call_id, **{"question": "Which way?", "choices": CHOICES, **arguments})


async def _asked(chats: Chats, session_id: str, number: int = 1) -> QuestionAsked:
    return await chats.until(session_id, QuestionAsked, number)


async def _answer(chats: Chats, asked: QuestionAsked, session_id: str, **fields: Any) -> None:
    await chats.do("answer_question", session_id=session_id, question_id=asked.question_id, **fields)


async def _results(chats: Chats, session_id: str) -> list[ToolResultBlock]:
    branch = await chats.branch(session_id)
    assert_paired(branch)
    return [result for message in branch for result in message.results]


async def test_a_call_waits_for_the_answer_and_hands_it_to_the_model(tmp_path: Path) -> None:  # P9
    async with opened(tmp_path, call(_ask()), say("Left, then."), registry=_registry()) as chats:
        session_id = (await chats.say("go")).session_id
        asked = await _asked(chats, session_id)
        assert asked.question.choices == (Choice("Left", "the short way"), Choice("Right"))
        state = (await chats.snapshot(session_id)).state
        assert (state.status, state.questions) == ("waiting", (asked,))
        assert state.session.status == "waiting"
        await _answer(chats, asked, session_id, chosen=["Left"], text="  but slowly ")
        await chats.until(session_id, TurnFinished)
        (answered,) = await chats.of(session_id, QuestionAnswered)
        assert answered.answer == QuestionAnswer(("Left",), "but slowly")
        (result,) = await _results(chats, session_id)
        assert result.content[0].text == "The user chose:\n- Left\nThe user says: but slowly"
        state = (await chats.snapshot(session_id)).state
        assert (state.status, state.questions) == ("idle", ())


async def test_the_first_answer_wins(tmp_path: Path) -> None:  # P9
    async with opened(tmp_path, call(_ask()), say("Done."), registry=_registry()) as chats:
        session_id = (await chats.say("go")).session_id
        asked = await _asked(chats, session_id)
        labels = ("Left", "Right", "Left")
        outcomes = await asyncio.gather(
            *(_answer(chats, asked, session_id, chosen=[label]) for label in labels), return_exceptions=True
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["BadField", "BadField", "NoneType"]
        await chats.until(session_id, TurnFinished)
        (answered,) = await chats.of(session_id, QuestionAnswered)
        assert answered.answer is not None
        (result,) = await _results(chats, session_id)
        assert result.content[0].text == f"The user chose:\n- {answered.answer.chosen[0]}"
        with pytest.raises(BadField, match="answered already"):
            await _answer(chats, asked, session_id)


@pytest.mark.parametrize(
    ("arguments", "answer", "field"),
    [
        ({}, {"chosen": ["Up"]}, "chosen"),
        ({}, {"chosen": ["Left", "Right"]}, "chosen"),
        ({"multiple": True}, {"chosen": ["Left", "left"]}, "chosen"),
    ],
)
async def test_an_answer_that_does_not_fit_is_refused_and_the_question_stays(
    tmp_path: Path, arguments: dict[str, Any], answer: dict[str, Any], field: str
) -> None:  # P12
    async with opened(tmp_path, call(_ask(**arguments)), say("Done."), registry=_registry()) as chats:
        session_id = (await chats.say("go")).session_id
        asked = await _asked(chats, session_id)
        with pytest.raises(BadField) as refused:
            await _answer(chats, asked, session_id, **answer)
        assert refused.value.field == field
        assert (await chats.snapshot(session_id)).state.questions == (asked,)
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished)


async def test_several_choices_come_back_in_the_order_of_the_question(tmp_path: Path) -> None:
    async with opened(tmp_path, call(_ask(multiple=True)), say("Done."), registry=_registry()) as chats:
        session_id = (await chats.say("go")).session_id
        await _answer(chats, await _asked(chats, session_id), session_id, chosen=["Right", "Left"])
        await chats.until(session_id, TurnFinished)
        (answered,) = await chats.of(session_id, QuestionAnswered)
        assert answered.answer == QuestionAnswer(("Left", "Right"))


@pytest.mark.parametrize("wrong", ["other chat", "no such"])
async def test_a_question_is_answered_in_its_own_chat_only(tmp_path: Path, wrong: str) -> None:  # R12
    async with opened(tmp_path, call(_ask()), say("Done."), registry=_registry()) as chats:
        session_id = (await chats.say("go")).session_id
        asked = await _asked(chats, session_id)
        elsewhere = await chats.draft()
        with pytest.raises(BadField, match="no question"):
            await chats.do(
                "answer_question",
                session_id=elsewhere if wrong == "other chat" else session_id,
                question_id=asked.question_id if wrong == "other chat" else "u_none",
            )
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished)


async def test_stop_withdraws_the_question_and_the_call_ends_stopped(tmp_path: Path) -> None:  # P7, law 7
    async with opened(tmp_path, call(_ask()), registry=_registry()) as chats:
        session_id = (await chats.say("go")).session_id
        asked = await _asked(chats, session_id)
        await chats.do("stop", session_id=session_id)
        finished = await chats.until(session_id, TurnFinished)
        assert finished.reason == "stopped"
        assert [event.answer for event in await chats.of(session_id, QuestionAnswered)] == [None]
        assert [result.status for result in await _results(chats, session_id)] == ["stopped"]
        with pytest.raises(BadField, match="its turn has ended"):
            await _answer(chats, asked, session_id, chosen=["Left"])


async def test_a_stop_while_an_answer_is_being_stored_leaves_the_answer(tmp_path: Path) -> None:  # P9
    async with opened(tmp_path, call(_ask()), registry=_registry()) as chats:
        session_id = (await chats.say("go")).session_id
        asked = await _asked(chats, session_id)
        held = Held(chats.store, QuestionAnswered)
        answering = asyncio.create_task(_answer(chats, asked, session_id, chosen=["Left"]))
        await held.gate.reached()
        await chats.do("stop", session_id=session_id)
        held.gate.open()
        await answering
        await chats.until(session_id, TurnFinished)
        answers = [event.answer for event in await chats.of(session_id, QuestionAnswered)]
        assert answers == [QuestionAnswer(("Left",))]
        assert_paired(await chats.branch(session_id))


async def test_an_answer_that_cannot_be_stored_leaves_the_question_open(tmp_path: Path) -> None:
    async with opened(tmp_path, call(_ask()), say("Done."), registry=_registry()) as chats:
        session_id = (await chats.say("go")).session_id
        asked = await _asked(chats, session_id)
        failing(chats.store, QuestionAnswered)
        with pytest.raises(StorageError):
            await _answer(chats, asked, session_id, chosen=["Left"])
        chats.store.before_commit = None
        assert (await chats.snapshot(session_id)).state.questions == (asked,)
        await _answer(chats, asked, session_id, chosen=["Right"])
        await chats.until(session_id, TurnFinished)


async def _waiting(tmp_path: Path, how: str, *calls: Any, more: tuple[FakeTool, ...] = ()) -> tuple[Path, str]:
    """A chat whose turn waits for an answer, after a shutdown or a crash."""
    async with opened(tmp_path, call(*calls), registry=_registry(*more), mode="ask") as chats:
        session_id = (await chats.say("go")).session_id
        await _asked(chats, session_id)
        folder = crashed(tmp_path, tmp_path / "after") if how == "crash" else tmp_path
    return folder, session_id


@pytest.mark.parametrize("how", ["shutdown", "crash"])
async def test_a_question_survives_a_restart_and_its_answer_resumes_the_turn(tmp_path: Path, how: str) -> None:  # P9
    folder, session_id = await _waiting(tmp_path, how, _ask())
    async with opened(folder, say("Done."), registry=_registry()) as chats:
        state = (await chats.snapshot(session_id)).state
        assert (state.status, len(state.questions), state.turn_id is None) == ("waiting", 1, False)
        await _answer(chats, state.questions[0], session_id, text="straight on")
        finished = await chats.until(session_id, TurnFinished)
        assert (finished.turn_id, finished.reason) == (state.turn_id, "done")
        assert len(await chats.of(session_id, QuestionAsked)) == 1
        (result,) = await _results(chats, session_id)
        assert result.content[0].text == "The user says: straight on"
        assert (await chats.texts(session_id))[-1] == "assistant: Done."


async def test_stop_ends_a_turn_whose_question_waits_since_a_restart(tmp_path: Path) -> None:  # P7, P9
    folder, session_id = await _waiting(tmp_path, "shutdown", _ask())
    async with opened(folder, say("Hm."), registry=_registry()) as chats:
        await chats.do("stop", session_id=session_id)
        (finished,) = await chats.of(session_id, TurnFinished)
        assert finished.reason == "stopped"
        assert (await chats.snapshot(session_id)).state.questions == ()
        (result,) = await _results(chats, session_id)
        assert "Not answered" in result.content[0].text
        await chats.said("and now?", session_id)


async def test_a_turn_with_a_question_and_an_approval_resumes_when_both_are_answered(tmp_path: Path) -> None:  # P9
    run = FakeTool("bash", permission="execute", readonly=False, parallel_safe=True)
    both = FakeTool("ask_user", ask_user.execute, parallel_safe=True)

    def asking() -> Registry:
        registry = Registry()
        registry.put("builtin", [both.spec, run.spec])
        return registry

    calls = (_ask("c_ask"), use("bash", "c_run", command="make"))
    async with opened(tmp_path, call(*calls), registry=asking(), mode="ask") as chats:
        session_id = (await chats.say("go")).session_id
        await _asked(chats, session_id)
        await chats.until(session_id, ApprovalRequested)
    async with opened(tmp_path, say("Done."), registry=asking(), mode="ask") as chats:
        state = (await chats.snapshot(session_id)).state
        await _answer(chats, state.questions[0], session_id, chosen=["Left"])
        assert await chats.of(session_id, TurnFinished) == []
        approval_id = state.approvals[0].approval_id
        await chats.do("answer_approval", session_id=session_id, approval_id=approval_id, decision="once")
        await chats.until(session_id, TurnFinished)
        results = await _results(chats, session_id)
        assert [result.status for result in results] == ["ok", "ok"]
        assert results[0].content[0].text == "The user chose:\n- Left"


async def test_an_answer_just_before_a_crash_is_told_to_the_model(tmp_path: Path) -> None:  # R1, R2
    async with opened(tmp_path, call(_ask()), say("Done."), registry=_registry()) as chats:
        session_id = (await chats.say("go")).session_id
        asked = await _asked(chats, session_id)
        held = Held(chats.store, ToolCallFinished)
        await _answer(chats, asked, session_id, text="straight on")
        await held.gate.reached()
        folder = crashed(tmp_path, tmp_path / "after")
        held.gate.open()
        await chats.rest(session_id)
    async with opened(folder, say("Straight on, then."), registry=_registry()) as chats:
        assert (await chats.until(session_id, TurnFinished)).reason == "done"  # P9: it only waited for the answer
        (result,) = await _results(chats, session_id)
        assert (result.status, result.content[0].text) == ("ok", "The user says: straight on")


async def test_messages_sent_while_a_question_is_open_wait_for_its_turn(tmp_path: Path) -> None:  # P6
    async with opened(tmp_path, call(_ask()), say("Done."), say("And that."), registry=_registry()) as chats:
        session_id = (await chats.say("go")).session_id
        asked = await _asked(chats, session_id)
        assert (await chats.say("and then?", session_id)).queued
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished, 2)
        assert (await chats.texts(session_id))[-2:] == ["user: and then?", "assistant: And that."]


async def test_a_question_with_too_many_choices_is_the_models_to_repair(tmp_path: Path) -> None:
    many = [str(number) for number in range(11)]
    async with opened(tmp_path, call(_ask(choices=many)), say("Oh."), registry=_registry()) as chats:
        session_id = await chats.said("go")
        assert await chats.of(session_id, QuestionAsked) == []
        assert [event.status for event in await chats.of(session_id, ToolCallFinished)] == ["error"]
