"""A turn that goes on after a restart runs only what has no result yet (spec protocol.md P9)."""

import pytest

from openprogram.agent.environment import Resumed
from openprogram.core.errors import NoEndpoint, UnknownPreset
from openprogram.core.events import (
    Notice,
    StepFinished,
    TurnFinished,
)
from openprogram.core.messages import TextBlock, ToolResultBlock
from tests.support.agent import Chat, FakeTool
from tests.support.script import ScriptedProvider, assert_paired, call, message, say, use


def _resumable(*names: str) -> tuple[Chat, list[FakeTool], list[str]]:
    tools = [FakeTool(name) for name in names]
    chat = Chat(ScriptedProvider(say("All done.")), *tools)
    calls = [use(name) for name in names]
    chat.history.append(message("assistant", calls, chat.history.leaf_id))
    return chat, tools, [one.call_id for one in calls]


async def test_resume_runs_only_calls_without_a_result() -> None:  # P9, R1
    chat, (read, write), (first, second) = _resumable("read", "write")
    done = ToolResultBlock(first, "ok", (TextBlock("before the restart"),))
    await chat.run(Resumed("t_1", 3, {first: done}, "f"))
    assert (len(read.calls), len(write.calls)) == (0, 1)
    assert [(result.call_id, result.content[0].text) for result in chat.results] == [
        (first, "before the restart"),
        (second, "write is done"),
    ]
    assert_paired(chat.history.messages)
    assert [event.turn_id for event in chat.emit.of(TurnFinished)] == ["t_1"]


async def test_a_resumed_turn_counts_its_steps_on() -> None:  # C17: usage is counted by turn and step
    chat, _, _ = _resumable("read")
    await chat.run(Resumed("t_1", 3, {}, "f"))
    assert [event.step for event in chat.emit.of(StepFinished)] == [4]


async def test_what_follows_a_resumed_turn_is_a_turn_of_its_own() -> None:
    chat, _, _ = _resumable("read")
    chat.provider.scripts.append(say("Again."))
    chat.inbox.waiting = ["and again"]
    await chat.run(Resumed("t_1", 3, {}, "f"))
    first, second = chat.emit.of(TurnFinished)
    assert first.turn_id == "t_1"
    assert second.turn_id != "t_1"


async def test_a_turn_that_cannot_be_resumed_ends_with_its_calls_answered() -> None:  # law 7
    chat, (read, write), (first, second) = _resumable("read", "write")
    chat.refusals = [NoEndpoint("no model")]
    done = ToolResultBlock(first, "ok", (TextBlock("before the restart"),))
    await chat.run(Resumed("t_1", 1, {first: done}, "f"))
    assert read.calls == write.calls == []
    assert [(result.call_id, result.status) for result in chat.results] == [(first, "ok"), (second, "interrupted")]
    (finished,) = chat.emit.of(TurnFinished)
    assert (finished.turn_id, finished.reason) == ("t_1", "error")


async def test_a_refusal_after_a_resumed_turn_does_not_finish_that_turn_again() -> None:
    chat, _, _ = _resumable("read")
    chat.inbox.waiting = ["next"]
    prepare = chat.prepare

    async def once():
        if chat.setups:
            raise UnknownPreset("gone")
        return await prepare()

    chat.prepare = once  # type: ignore[method-assign]
    await chat.run(Resumed("t_1", 0, {}, "f"))
    ends = chat.emit.of(TurnFinished)
    assert [event.reason for event in ends] == ["done", "error"]
    assert ends[0].turn_id == "t_1" != ends[1].turn_id


async def test_a_result_from_before_the_restart_answers_no_later_call_of_the_same_id() -> None:
    chat, (read,), (first,) = _resumable("read")
    chat.provider.scripts.insert(0, call(use("read", first)))
    await chat.run(Resumed("t_1", 1, {first: ToolResultBlock(first, "ok", (TextBlock("before"),))}, "f"))
    assert len(read.calls) == 1
    assert [result.content[0].text for result in chat.results] == ["before", "read is done"]


@pytest.mark.parametrize("same", [True, False])
async def test_a_turn_that_goes_on_under_other_tools_says_so(same: bool) -> None:  # T23
    chat, _, _ = _resumable("read")
    fingerprint = (await chat.prepare()).contract.fingerprint if same else "another"
    await chat.run(Resumed("t_1", 1, {}, fingerprint))
    (notice,) = chat.emit.of(Notice)
    assert notice.code == "resumed"
    assert ("they changed" in notice.message) is not same
