"""A question to a person: answered once, from any tab, before or after a restart, or withdrawn (protocol.md P9)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from openprogram.core.asking import ApprovalRequested, ApprovalResolved
from openprogram.core.errors import BadField, StorageError
from openprogram.core.events import TurnFinished
from openprogram.core.messages import ToolResultBlock
from openprogram.core.storage import Grant
from tests.support.agent import FakeTool
from tests.support.script import Gate, assert_paired, call, say, use
from tests.support.sessions import Chats, Held, failing, opened


def _bash(**fields: Any) -> FakeTool:
    return FakeTool("bash", permission="execute", readonly=False, **fields)


def _run(command: str = "make test", call_id: str | None = None):
    return use("bash", call_id, command=command)


async def _answer(chats: Chats, asked: ApprovalRequested, session_id: str, decision: str = "once", **more: Any) -> None:
    await chats.do("answer_approval", session_id=session_id, approval_id=asked.approval_id, decision=decision, **more)


async def _results(chats: Chats, session_id: str) -> list[ToolResultBlock]:
    branch = await chats.branch(session_id)
    assert_paired(branch)
    return [result for message in branch for result in message.results]


async def test_a_call_waits_for_the_answer_and_then_runs(tmp_path: Path) -> None:  # P9, R17
    bash = _bash()
    async with opened(tmp_path, call(_run()), say("Done."), tools=[bash], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        asked = await chats.asked(session_id)
        assert (asked.tool, asked.kind, asked.preview) == ("bash", "command", "make test")
        assert bash.calls == []
        state = (await chats.snapshot(session_id)).state
        assert (state.status, state.approvals) == ("waiting", (asked,))
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished)
        assert bash.calls == [{"command": "make test"}]
        state = (await chats.snapshot(session_id)).state
        assert (state.status, state.approvals) == ("idle", ())


async def test_a_question_is_answered_once(tmp_path: Path) -> None:  # P9
    bash = _bash()
    async with opened(tmp_path, call(_run()), say("Done."), tools=[bash], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        asked = await chats.asked(session_id)
        outcomes = await asyncio.gather(
            _answer(chats, asked, session_id),
            _answer(chats, asked, session_id, "deny"),
            _answer(chats, asked, session_id),
            return_exceptions=True,
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["BadField", "BadField", "NoneType"]
        await chats.until(session_id, TurnFinished)
        (resolved,) = await chats.of(session_id, ApprovalResolved)
        assert len(bash.calls) == (1 if resolved.decision == "once" else 0)
        with pytest.raises(BadField, match="answered already"):
            await _answer(chats, asked, session_id)


async def test_the_same_answer_sent_twice_is_one_answer(tmp_path: Path) -> None:  # P5
    async with opened(tmp_path, call(_run()), say("Done."), tools=[_bash()], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        asked = await chats.asked(session_id)
        await asyncio.gather(*(_answer(chats, asked, session_id, id="twin") for _ in range(3)))
        await chats.until(session_id, TurnFinished)
        await _answer(chats, asked, session_id, id="twin")
        assert len(await chats.of(session_id, ApprovalResolved)) == 1


async def test_a_denial_reaches_the_model_with_its_note(tmp_path: Path) -> None:
    bash = _bash()
    async with opened(tmp_path, call(_run()), say("All right."), tools=[bash], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        await _answer(chats, await chats.asked(session_id), session_id, "deny", note="use make check")
        await chats.until(session_id, TurnFinished)
        (result,) = await _results(chats, session_id)
        assert result.status == "denied"
        assert "use make check" in result.content[0].text
        assert bash.calls == []


async def test_allowing_for_this_chat_asks_no_more_for_the_same(tmp_path: Path) -> None:
    bash = _bash()
    scripts = (call(_run()), call(_run()), call(_run("rm -rf /")), say("Done."))
    async with opened(tmp_path, *scripts, tools=[bash], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        await _answer(chats, await chats.asked(session_id), session_id, "session")
        asked = await chats.asked(session_id, 2)
        assert asked.preview == "rm -rf /"
        assert len(bash.calls) == 2
        assert await chats.store.grants(session_id) == (Grant("bash", "make test", "/tmp"),)
        await _answer(chats, asked, session_id, "deny")
        await chats.until(session_id, TurnFinished)
        other = await chats.draft()
        assert await chats.store.grants(other) == ()


async def test_a_call_of_which_nothing_narrow_can_be_told_is_allowed_once_only(tmp_path: Path) -> None:  # R17
    bash = _bash()
    scripts = (call(_run("")), call(_run("")), say("Done."))
    async with opened(tmp_path, *scripts, tools=[bash], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        asked = await chats.asked(session_id)
        assert asked.pattern == ""
        await _answer(chats, asked, session_id, "session")
        await _answer(chats, await chats.asked(session_id, 2), session_id, "deny")
        await chats.until(session_id, TurnFinished)
        assert await chats.store.grants(session_id) == ()
        assert len(bash.calls) == 1


async def test_the_mode_is_read_at_dispatch(tmp_path: Path) -> None:  # T21
    gates = [Gate(), Gate()]
    scripts = ((gates[0], *call(_run())), (gates[1], *call(_run("ls"))), say("Done."))
    bash = _bash()
    async with opened(tmp_path, *scripts, tools=[bash], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        await gates[0].reached()
        await chats.do("set_permission_mode", session_id=session_id, mode="auto")
        gates[0].open()
        await gates[1].reached()
        assert len(bash.calls) == 1
        await chats.do("set_permission_mode", session_id=session_id, mode="ask")
        gates[1].open()
        await _answer(chats, await chats.asked(session_id), session_id, "deny")
        await chats.until(session_id, TurnFinished)
        assert len(bash.calls) == 1


async def test_a_tool_switched_off_while_its_question_waits_does_not_run(tmp_path: Path) -> None:  # T21, law 6
    bash = _bash()
    async with opened(tmp_path, call(_run()), say("Well."), tools=[bash], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        asked = await chats.asked(session_id)
        await chats.patch("set_tool_disabled", session_id, name="bash", value=True)
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished)
        assert bash.calls == []
        assert [result.status for result in await _results(chats, session_id)] == ["denied"]


async def test_stop_while_a_call_waits_withdraws_the_question(tmp_path: Path) -> None:  # P7, P9
    bash = _bash()
    async with opened(tmp_path, call(_run()), tools=[bash], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        asked = await chats.asked(session_id)
        await chats.do("stop", session_id=session_id)
        assert (await chats.until(session_id, TurnFinished)).reason == "stopped"
        (resolved,) = await chats.of(session_id, ApprovalResolved)
        assert (resolved.approval_id, resolved.decision) == (asked.approval_id, None)
        assert (await chats.snapshot(session_id)).state.approvals == ()
        assert [result.status for result in await _results(chats, session_id)] == ["stopped"]
        with pytest.raises(BadField):
            await _answer(chats, asked, session_id)
        assert bash.calls == []


async def test_an_answer_and_a_stop_at_once_resolve_the_question_once(tmp_path: Path) -> None:  # P7, P9
    """The answer is on its way into the store when Stop is pressed: it holds, and the run still ends in order."""
    bash = _bash()
    async with opened(tmp_path, call(_run()), say("Next."), tools=[bash], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        asked = await chats.asked(session_id)
        storing = Held(chats.store, ApprovalResolved)
        answering = asyncio.create_task(_answer(chats, asked, session_id))
        await storing.gate.reached()
        await chats.do("stop", session_id=session_id)
        storing.gate.open()
        await answering
        assert (await chats.until(session_id, TurnFinished)).reason == "stopped"
        (resolved,) = await chats.of(session_id, ApprovalResolved)
        assert resolved.decision == "once"
        assert bash.calls == []
        assert [result.status for result in await _results(chats, session_id)] == ["stopped"]
        await chats.said("go on", session_id)
        assert (await chats.texts(session_id))[-1] == "assistant: Next."


async def test_an_answer_that_cannot_be_stored_leaves_the_question_open(tmp_path: Path) -> None:
    bash = _bash()
    async with opened(tmp_path, call(_run()), say("Done."), tools=[bash], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        asked = await chats.asked(session_id)
        failing(chats.store, ApprovalResolved)
        with pytest.raises(StorageError):
            await _answer(chats, asked, session_id)
        chats.store.before_commit = None
        assert bash.calls == []
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished)
        assert len(bash.calls) == 1


async def test_a_stop_after_an_answer_that_could_not_be_stored_withdraws_the_question(tmp_path: Path) -> None:
    async with opened(tmp_path, call(_run()), tools=[_bash()], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        asked = await chats.asked(session_id)
        failing(chats.store, ApprovalResolved)
        with pytest.raises(StorageError):
            await _answer(chats, asked, session_id)
        chats.store.before_commit = None
        await chats.do("stop", session_id=session_id)
        await chats.until(session_id, TurnFinished)
        assert [event.decision for event in await chats.of(session_id, ApprovalResolved)] == [None]


@pytest.mark.parametrize("wrong", ["other chat", "no such"])
async def test_an_approval_is_answered_in_its_own_chat_only(tmp_path: Path, wrong: str) -> None:  # R12
    async with opened(tmp_path, call(_run()), say("Done."), tools=[_bash()], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        asked = await chats.asked(session_id)
        elsewhere = await chats.draft()
        with pytest.raises(BadField, match="no approval"):
            await chats.do(
                "answer_approval",
                session_id=elsewhere if wrong == "other chat" else session_id,
                approval_id=asked.approval_id if wrong == "other chat" else "a_none",
                decision="once",
            )
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished)
