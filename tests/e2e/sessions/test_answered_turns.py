"""A turn whose questions have their answers goes on, wherever the server stops in between (protocol.md P9, P14)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from openprogram.core.asking import Question, QuestionAsked
from openprogram.core.events import Event, ToolCallFinished, ToolCallStarted, TurnFinished, TurnStarted
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import ToolResultBlock
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.tools.builtin.ask_user import ask_user
from tests.support.agent import FakeTool
from tests.support.script import assert_paired, call, say, use
from tests.support.sessions import Chats, Held, crashed, opened


def _bash() -> FakeTool:
    return FakeTool("bash", permission="execute", readonly=False)


def _run(call_id: str | None = None) -> Any:
    return use("bash", call_id, command="make test")


async def _crash(held: Held, folder: Path) -> Path:
    """What there is after a crash just before the held commit; here everything goes on."""
    await held.gate.reached()
    after = crashed(folder, folder / "after")
    held.gate.open()
    return after


async def _results(chats: Chats, session_id: str) -> list[ToolResultBlock]:
    branch = await chats.branch(session_id)
    assert_paired(branch)
    return [result for message in branch for result in message.results]


async def _answer(chats: Chats, session_id: str, decision: str, number: int = 1) -> None:
    asked = await chats.asked(session_id, number)
    await chats.do("answer_approval", session_id=session_id, approval_id=asked.approval_id, decision=decision)


async def _answered_and_cut(tmp_path: Path, decision: str, kind: type[Event] = TurnStarted) -> tuple[Path, str]:
    """A chat whose only question was answered after a restart, and that a crash cut before this event was stored."""
    async with opened(tmp_path, call(_run()), tools=[_bash()], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        await chats.asked(session_id)
    async with opened(tmp_path, tools=[_bash()], mode="ask") as chats:
        cut = Held(chats.store, kind)
        await _answer(chats, session_id, decision)
        folder = await _crash(cut, tmp_path)
    return folder, session_id


@pytest.mark.parametrize("decision", ["once", "session"])
async def test_an_allowed_call_runs_once_after_a_stop_between_its_answer_and_the_turn_going_on(
    tmp_path: Path, decision: str
) -> None:
    folder, session_id = await _answered_and_cut(tmp_path, decision)
    bash = _bash()
    async with opened(folder, say("Done."), tools=[bash], mode="ask") as chats:
        finished = await chats.until(session_id, TurnFinished)
        assert (finished.reason, len(bash.calls)) == ("done", 1)
        assert [result.status for result in await _results(chats, session_id)] == ["ok"]
    async with opened(folder, tools=[bash], mode="ask") as chats:
        assert len(await chats.of(session_id, TurnFinished)) == len(bash.calls) == 1


async def test_a_denied_call_reaches_the_model_after_such_a_stop(tmp_path: Path) -> None:
    folder, session_id = await _answered_and_cut(tmp_path, "deny")
    bash = _bash()
    async with opened(folder, say("All right."), tools=[bash], mode="auto") as chats:
        assert (await chats.until(session_id, TurnFinished)).reason == "done"
        assert [result.status for result in await _results(chats, session_id)] == ["denied"]
        assert (bash.calls, (await chats.texts(session_id))[-1]) == ([], "assistant: All right.")


async def test_a_call_that_may_have_begun_when_the_turn_went_on_is_not_run_again(tmp_path: Path) -> None:  # R2
    async with opened(tmp_path, call(_run()), tools=[_bash()], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        await chats.asked(session_id)
    ran, never = asyncio.Event(), asyncio.Event()

    async def act(*_: Any) -> Any:
        ran.set()
        await never.wait()

    async with opened(tmp_path, tools=[FakeTool("bash", act, permission="execute", readonly=False)]) as chats:
        await _answer(chats, session_id, "once")
        await ran.wait()
        assert len(await chats.of(session_id, ToolCallStarted)) == 2
        folder = crashed(tmp_path, tmp_path / "after")
    bash = _bash()
    async with opened(folder, tools=[bash], mode="ask") as chats:
        (finished,) = await chats.of(session_id, TurnFinished)
        assert (finished.reason, bash.calls) == ("interrupted", [])
        (result,) = await _results(chats, session_id)
        assert "its effect is unknown" in result.content[0].text


@pytest.mark.parametrize("restarted", [False, True])
async def test_an_answer_to_a_question_is_handed_on_after_such_a_stop(tmp_path: Path, restarted: bool) -> None:
    asks = FakeTool("ask_user", lambda arguments, context: ask_user.execute(arguments, context))
    async with opened(tmp_path, call(use("ask_user", question="Which?")), tools=[asks]) as chats:
        session_id = (await chats.say("do it")).session_id
        await chats.until(session_id, QuestionAsked)
        folder = tmp_path if restarted else await _reply(chats, session_id, tmp_path, ToolCallFinished)
    if restarted:
        async with opened(tmp_path, tools=[asks]) as chats:
            folder = await _reply(chats, session_id, tmp_path, TurnStarted)
    async with opened(folder, say("Then that."), tools=[asks]) as chats:
        assert (await chats.until(session_id, TurnFinished)).reason == "done"
        (result,) = await _results(chats, session_id)
        assert (result.status, "the left one" in result.content[0].text) == ("ok", True)
        assert len(await chats.of(session_id, QuestionAsked)) == 1


async def _reply(chats: Chats, session_id: str, tmp_path: Path, until: type[Event]) -> Path:
    cut = Held(chats.store, until)
    asked = await chats.until(session_id, QuestionAsked)
    await chats.do("answer_question", session_id=session_id, question_id=asked.question_id, text="the left one")
    return await _crash(cut, tmp_path)


async def test_a_tool_that_asks_and_then_acts_is_not_run_again_once_it_had_its_answer(tmp_path: Path) -> None:  # P14
    made: list[str] = []

    async def act(_arguments: JsonObject, context: ToolContext) -> ToolOutput:
        assert context.person is not None
        await context.person(Question("Which?"), context.call_id, context.turn_id)
        made.append(context.call_id)
        return ToolOutput.text("made")

    maker = FakeTool("maker", act, readonly=False)
    async with opened(tmp_path, call(use("maker")), tools=[maker]) as chats:
        session_id = (await chats.say("do it")).session_id
        folder = await _reply(chats, session_id, tmp_path, ToolCallFinished)
    async with opened(folder, tools=[maker]) as chats:
        (finished,) = await chats.of(session_id, TurnFinished)
        assert (finished.reason, len(made)) == ("interrupted", 1)
        (result,) = await _results(chats, session_id)
        assert "the left one" in result.content[0].text  # R2: what the user said is not lost
        assert "its effect is unknown" in result.content[0].text


async def test_a_chat_that_was_deleted_meanwhile_does_not_go_on(tmp_path: Path) -> None:
    async with opened(tmp_path, call(_run()), tools=[_bash()], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        await chats.asked(session_id)
    async with opened(tmp_path, tools=[_bash()], mode="ask") as chats:
        cut = Held(chats.store, TurnStarted)
        await _answer(chats, session_id, "once")
        await cut.gate.reached()
        await chats.do("delete_session", session_id=session_id)
        folder = await _crash(cut, tmp_path)
    bash = _bash()
    async with opened(folder, tools=[bash], mode="ask") as chats:
        (finished,) = await chats.of(session_id, TurnFinished)
        assert (finished.reason, bash.calls) == ("interrupted", [])


async def test_an_answer_from_before_a_restart_is_for_one_call_even_if_its_id_comes_again(tmp_path: Path) -> None:
    folder, session_id = await _waiting(tmp_path, "call_0")  # R17: some endpoints number the calls of each answer anew
    bash = _bash()
    async with opened(folder, call(_run("call_0")), say("Well."), tools=[bash], mode="ask") as chats:
        await _answer(chats, session_id, "once")
        await _answer(chats, session_id, "deny", number=2)
        await chats.until(session_id, TurnFinished)
        assert len(bash.calls) == 1


async def test_an_earlier_answer_of_the_turn_allows_no_call_of_the_same_id_after_a_restart(tmp_path: Path) -> None:
    first, second = _run("call_0"), use("bash", "call_1", command="ls")
    async with opened(tmp_path, call(first), call(second, first), tools=[_bash()], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        await _answer(chats, session_id, "once")
        await chats.asked(session_id, 2)
    bash = _bash()
    async with opened(tmp_path, say("Well."), tools=[bash], mode="ask") as chats:
        await _answer(chats, session_id, "once", number=2)
        await _answer(chats, session_id, "deny", number=3)
        await chats.until(session_id, TurnFinished)
        assert bash.calls == [{"command": "ls"}]


async def _waiting(tmp_path: Path, call_id: str) -> tuple[Path, str]:
    async with opened(tmp_path, call(_run(call_id)), tools=[_bash()], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        await chats.asked(session_id)
    return tmp_path, session_id
