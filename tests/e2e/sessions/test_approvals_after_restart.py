"""Questions that were open when the process ended: answered afterwards, and their turns go on (spec protocol.md P9)."""

from pathlib import Path
from typing import Any

import pytest

from openprogram.core.asking import ApprovalRequested, ApprovalResolved
from openprogram.core.events import ToolCallFinished, TurnFinished, TurnStarted
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import ToolResultBlock
from openprogram.core.tooling import CallPreview, ToolContext
from openprogram.tools.approval import CHANGED
from tests.support.agent import FakeTool, held
from tests.support.script import Gate, assert_paired, call, say, use
from tests.support.sessions import Chats, crashed, opened


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


async def _waiting(tmp_path: Path, how: str, *calls: Any, tools: list[FakeTool]) -> tuple[Path, str]:
    """A chat whose turn waits for an answer, after a shutdown or a crash."""
    async with opened(tmp_path, call(*calls), tools=tools, mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        await chats.asked(session_id)
        folder = crashed(tmp_path, tmp_path / "after") if how == "crash" else tmp_path
    return folder, session_id


async def test_a_call_that_was_asked_about_in_one_directory_does_not_run_in_another(tmp_path: Path) -> None:  # P9
    folder, session_id = await _waiting(tmp_path, "shutdown", _run(), tools=[_bash()])
    bash = _bash()
    async with opened(folder, say("Then not."), tools=[bash], mode="ask") as chats:
        (asked,) = (await chats.snapshot(session_id)).state.approvals
        (tmp_path / "elsewhere").mkdir()
        await chats.do("set_workspace", session_id=session_id, workspace=str(tmp_path / "elsewhere"))
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished)
        assert bash.calls == []
        (result,) = await _results(chats, session_id)
        assert (result.status, result.content[0].text) == ("error", CHANGED)


async def test_a_call_that_changed_since_it_was_allowed_is_said_to_have_changed_and_asks_anew(tmp_path: Path) -> None:
    shown = ["--- a\n+++ b\n-old\n+new"]  # P9: the diff that the person allowed is no longer the one that would be made

    async def preview(_arguments: JsonObject, _context: ToolContext) -> CallPreview:
        return CallPreview("diff", shown[0])

    def editor() -> FakeTool:
        return FakeTool("edit", permission="write", readonly=False, preview=preview)

    edit = use("edit", path="a")
    folder, session_id = await _waiting(tmp_path, "shutdown", edit, tools=[editor()])
    shown[0] = "--- a\n+++ b\n-older\n+new"
    edits = editor()
    async with opened(folder, call(edit), say("Done."), tools=[edits], mode="ask") as chats:
        (asked,) = (await chats.snapshot(session_id)).state.approvals
        await _answer(chats, asked, session_id)
        again = await chats.asked(session_id, 2)
        assert again.preview == shown[0]
        await _answer(chats, again, session_id)
        await chats.until(session_id, TurnFinished)
        first, second = await _results(chats, session_id)
        assert (first.status, first.content[0].text, first.duration_ms) == ("error", CHANGED, 0)
        assert "did not allow" not in CHANGED
        assert (second.status, len(edits.calls)) == ("ok", 1)


@pytest.mark.parametrize("how", ["shutdown", "crash"])
async def test_a_question_survives_a_restart_and_its_turn_resumes_under_a_fresh_contract(
    tmp_path: Path, how: str
) -> None:  # P9, T23
    folder, session_id = await _waiting(tmp_path, how, _run(), tools=[_bash()])
    bash, read = _bash(), FakeTool("read")
    async with opened(folder, say("Done."), tools=[bash, read], mode="ask") as chats:
        state = (await chats.snapshot(session_id)).state
        assert (state.status, len(state.approvals), state.turn_id is None) == ("waiting", 1, False)
        assert await chats.of(session_id, ApprovalResolved) == []
        await _answer(chats, state.approvals[0], session_id)
        finished = await chats.until(session_id, TurnFinished)
        assert (finished.turn_id, finished.reason) == (state.turn_id, "done")
        assert len(bash.calls) == 1
        assert [turn.tools for turn in await chats.of(session_id, TurnStarted)] == [("bash",), ("bash", "read")]
        assert len(await chats.of(session_id, ApprovalRequested)) == 1
        assert (await chats.texts(session_id))[-1] == "assistant: Done."
        await _results(chats, session_id)
        assert len(await chats.store.usage(session_id)) == 2  # C17: the resumed turn's steps are counted on


@pytest.mark.parametrize("mode", ["ask", "auto"])
async def test_a_denial_after_a_restart_is_final_whatever_the_mode_says_by_then(tmp_path: Path, mode: str) -> None:
    folder, session_id = await _waiting(tmp_path, "shutdown", _run(), tools=[_bash()])  # P9, law 6
    bash = _bash()
    async with opened(folder, say("All right."), tools=[bash], mode="ask") as chats:
        (asked,) = (await chats.snapshot(session_id)).state.approvals
        await chats.do("set_permission_mode", session_id=session_id, mode=mode)
        await _answer(chats, asked, session_id, "deny", note="not today")
        await chats.until(session_id, TurnFinished)
        assert bash.calls == []
        (result,) = await _results(chats, session_id)
        assert "not today" in result.content[0].text
        assert [event.status for event in await chats.of(session_id, ToolCallFinished)] == ["denied"]


@pytest.mark.parametrize("first_answer", ["deny", "once", "session"])
async def test_a_turn_with_two_questions_resumes_when_both_are_answered(
    tmp_path: Path, first_answer: str
) -> None:  # P9
    calls = (_run("one", "c_one"), _run("two", "c_two"))
    both = [_bash(parallel_safe=True)]
    async with opened(tmp_path, call(*calls), tools=both, mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        await chats.asked(session_id, 2)
    bash = _bash(parallel_safe=True)
    async with opened(tmp_path, say("Done."), tools=[bash], mode="ask") as chats:
        first, second = (await chats.snapshot(session_id)).state.approvals
        await _answer(chats, first, session_id, first_answer)
        assert await chats.of(session_id, TurnFinished) == []
        assert bash.calls == []
    async with opened(tmp_path, say("Done."), tools=[bash], mode="ask") as chats:  # and another restart in between
        (second,) = (await chats.snapshot(session_id)).state.approvals
        await _answer(chats, second, session_id)
        await chats.until(session_id, TurnFinished)
        (finished,) = await chats.of(session_id, TurnFinished)
        assert finished.reason == "done"
        ran = [made["command"] for made in bash.calls]
        assert ran == (["two"] if first_answer == "deny" else ["one", "two"])
        status = "denied" if first_answer == "deny" else "ok"
        assert [result.status for result in await _results(chats, session_id)] == [status, "ok"]


async def test_a_call_that_ran_before_the_restart_is_not_run_again(tmp_path: Path) -> None:  # R1, R2
    first = FakeTool("note", readonly=False)
    calls = (use("note", "c_note"), _run("two", "c_two"))
    folder, session_id = await _waiting(tmp_path, "crash", *calls, tools=[first, _bash()])
    assert len(first.calls) == 1
    note, bash = FakeTool("note", readonly=False), _bash()
    async with opened(folder, say("Done."), tools=[note, bash], mode="ask") as chats:
        (asked,) = (await chats.snapshot(session_id)).state.approvals
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished)
        assert (len(note.calls), len(bash.calls)) == (0, 1)
        assert [result.status for result in await _results(chats, session_id)] == ["ok", "ok"]


async def test_a_waiting_turn_that_also_ran_something_ends_interrupted(tmp_path: Path) -> None:  # P9, R2
    gate = Gate()
    slow = FakeTool("slow", held(gate), parallel_safe=True)
    bash = _bash(parallel_safe=True)
    calls = (use("slow", "c_slow"), _run("two", "c_two"))
    async with opened(tmp_path, call(*calls), tools=[slow, bash], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        await chats.asked(session_id)
        await gate.reached()
    async with opened(tmp_path, say("Hm."), tools=[slow, bash], mode="ask") as chats:
        (finished,) = await chats.of(session_id, TurnFinished)
        assert finished.reason == "interrupted"
        assert [event.decision for event in await chats.of(session_id, ApprovalResolved)] == [None]
        ran, waited = await _results(chats, session_id)
        assert "its effect is unknown" in ran.content[0].text
        assert "waited for the user's approval" in waited.content[0].text
        await chats.said("and now?", session_id)


async def test_stop_ends_a_turn_that_waits_since_a_restart(tmp_path: Path) -> None:  # P7, P9
    folder, session_id = await _waiting(tmp_path, "shutdown", _run(), tools=[_bash()])
    async with opened(folder, say("Hm."), tools=[_bash()], mode="ask") as chats:
        await chats.do("stop", session_id=session_id)
        (finished,) = await chats.of(session_id, TurnFinished)
        assert finished.reason == "stopped"
        assert (await chats.snapshot(session_id)).state.approvals == ()
        (result,) = await _results(chats, session_id)
        assert "waited for the user's approval" in result.content[0].text
        await chats.said("and now?", session_id)


async def test_a_message_to_a_turn_that_waits_since_a_restart_is_queued_and_comes_after_it(tmp_path: Path) -> None:
    folder, session_id = await _waiting(tmp_path, "shutdown", _run(), tools=[_bash()])  # P6
    async with opened(folder, say("Done."), say("And that."), tools=[_bash()], mode="ask") as chats:
        assert (await chats.say("and then?", session_id)).queued
        (asked,) = (await chats.snapshot(session_id)).state.approvals
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished, 2)
        assert (await chats.texts(session_id))[-2:] == ["user: and then?", "assistant: And that."]


async def test_a_message_that_steers_a_waiting_turn_reaches_the_model_after_the_call(tmp_path: Path) -> None:  # P6
    folder, session_id = await _waiting(tmp_path, "shutdown", _run(), tools=[_bash()])
    async with opened(folder, say("As you wish."), tools=[_bash()], mode="ask") as chats:
        await chats.say("only that", session_id, mode="steer")
        (asked,) = (await chats.snapshot(session_id)).state.approvals
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished, 2)
        branch = await chats.branch(session_id)
        assert [message.role for message in branch if message.role != "notice"][-3:] == ["tool", "user", "assistant"]


async def test_a_resumed_call_whose_tool_is_gone_is_told_so(tmp_path: Path) -> None:  # T23
    folder, session_id = await _waiting(tmp_path, "shutdown", _run(), tools=[_bash()])
    async with opened(folder, say("Pity."), tools=[FakeTool("read")], mode="ask") as chats:
        (asked,) = (await chats.snapshot(session_id)).state.approvals
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished)
        assert [result.status for result in await _results(chats, session_id)] == ["denied"]


async def test_a_turn_that_cannot_be_resumed_ends_with_its_calls_answered(tmp_path: Path) -> None:  # T13, law 7
    folder, session_id = await _waiting(tmp_path, "shutdown", _run(), tools=[_bash()])
    bash = _bash()
    async with opened(folder, say("Hm."), tools=[bash], mode="ask") as chats:
        (asked,) = (await chats.snapshot(session_id)).state.approvals
        chats.catalog.gone = True
        await _answer(chats, asked, session_id)
        finished = await chats.until(session_id, TurnFinished)
        assert finished.error is not None
        assert (finished.reason, finished.error.code) == ("error", "no_endpoint")
        assert [result.status for result in await _results(chats, session_id)] == ["interrupted"]
        assert bash.calls == []


async def test_an_approval_by_a_switch_that_is_off_by_then_does_not_run(tmp_path: Path) -> None:  # law 6
    folder, session_id = await _waiting(tmp_path, "shutdown", _run(), tools=[_bash()])
    bash = _bash()
    async with opened(folder, say("Pity."), tools=[bash], mode="ask") as chats:
        await chats.patch("set_tool_disabled", session_id, name="bash", value=True)
        assert (await chats.store.intent(session_id)).intent == ToolIntent(disabled=("bash",))
        (asked,) = (await chats.snapshot(session_id)).state.approvals
        await _answer(chats, asked, session_id)
        await chats.until(session_id, TurnFinished)
        assert bash.calls == []
        assert [result.status for result in await _results(chats, session_id)] == ["denied"]


async def test_a_shutdown_leaves_questions_open(tmp_path: Path) -> None:  # P9
    async with opened(tmp_path, call(_run()), tools=[_bash()], mode="ask") as chats:
        session_id = (await chats.say("test it")).session_id
        await chats.asked(session_id)
    async with opened(tmp_path, tools=[_bash()], mode="ask") as chats:
        assert await chats.of(session_id, ApprovalResolved) == []
        assert len(await chats.store.approvals(session_id)) == 1
