"""Stop keeps what was shown and leaves no call without a result (spec protocol.md P7, design law 7)."""

import asyncio

import pytest

from openprogram.agent.stop import Stopped, StopSignal
from openprogram.core.jsonio import JsonObject
from openprogram.core.prompt import CallPiece, ReasoningPiece, ResponseStarted, TextPiece
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.core.usage import Usage
from tests.support.agent import Chat, FakeTool, held
from tests.support.script import Gate, ScriptedProvider, assert_paired, call, failed, say, use


async def _stop_at(chat: Chat, gate: Gate) -> None:
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        chat.stop.request()
    assert_paired(chat.history.messages)


async def test_stop_during_the_stream_keeps_the_partial_answer_and_closes_the_stream() -> None:  # P7
    gate = Gate()
    script = (ResponseStarted(), ReasoningPiece(0, "Hm."), TextPiece(1, "So "), TextPiece(1, "far"), gate)
    chat = Chat(ScriptedProvider(script))
    chat.inbox.waiting = ["next"]
    await _stop_at(chat, gate)
    assert gate.cancelled
    assert chat.provider.open_streams == 0
    assert chat.history.last is not None
    assert (chat.history.last.status, chat.history.last.text) == ("stopped", "So far")
    assert chat.reasons == ["stopped"]
    assert chat.inbox.waiting == ["next"]  # P6: it stays in the queue, visibly


async def test_stop_while_a_call_is_being_written_leaves_no_call() -> None:  # P7, law 7
    gate, read = Gate(), FakeTool("read")
    pieces = (TextPiece(0, "Let me look."), CallPiece(1, "c_1", "read", '{"path": "a"}'))
    chat = Chat(ScriptedProvider((ResponseStarted(), *pieces, gate)), read)
    await _stop_at(chat, gate)
    assert chat.history.last is not None
    assert (chat.history.last.text, chat.history.last.calls) == ("Let me look.", ())
    assert read.calls == []


async def test_stop_before_the_first_token_ends_the_turn() -> None:  # P7
    gate = Gate()
    chat = Chat(ScriptedProvider((gate,)))
    await _stop_at(chat, gate)
    assert chat.reasons == ["stopped"]
    assert chat.provider.open_streams == 0
    assert chat.surfaces.all == []  # law 5: nothing was accepted


async def test_stop_before_the_request_sends_none() -> None:  # P7
    chat = Chat(ScriptedProvider(say("Never.")))
    chat.stop.request()
    await chat.run()
    assert chat.provider.requests == [] or chat.provider.open_streams == 0
    assert len(chat.provider.scripts) == 1
    assert chat.reasons == ["stopped"]


async def test_stop_during_tools_gives_every_call_one_result() -> None:  # P7, law 7
    gate = Gate()
    safe, slow = FakeTool("safe", parallel_safe=True), FakeTool("slow", held(gate), parallel_safe=True)
    late = FakeTool("late", readonly=False)
    chat = Chat(ScriptedProvider(call(use("safe"), use("slow"), use("late"))), safe, slow, late)
    await _stop_at(chat, gate)
    assert gate.cancelled
    assert late.calls == []
    assert [result.status for result in chat.results] == ["ok", "stopped", "stopped"]
    assert "check what it did" in chat.results[1].content[0].text
    assert "before this call began" in chat.results[2].content[0].text
    assert chat.reasons == ["stopped"]


async def test_stop_waits_for_the_cleanup_of_a_call() -> None:  # P7: the process tree is killed, then the turn ends
    gate, cleaned = Gate(), False

    async def act(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
        nonlocal cleaned
        try:
            await gate.wait()
        finally:
            await asyncio.sleep(0)
            cleaned = True
        return ToolOutput.text("never")

    chat = Chat(ScriptedProvider(call(use("read"))), FakeTool("read", act))
    await _stop_at(chat, gate)
    assert cleaned
    assert [result.status for result in chat.results] == ["stopped"]


async def test_a_call_that_finishes_in_spite_of_stop_keeps_its_result() -> None:
    gate = Gate()

    async def stubborn(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
        try:
            await gate.wait()
        except asyncio.CancelledError:
            return ToolOutput.text("finished all the same")
        return ToolOutput.text("never")

    chat = Chat(ScriptedProvider(call(use("read"))), FakeTool("read", stubborn))
    await _stop_at(chat, gate)
    assert [result.content[0].text for result in chat.results] == ["finished all the same"]
    assert chat.reasons == ["stopped"]


async def test_stop_just_after_the_answer_runs_none_of_its_calls() -> None:  # P7
    write = FakeTool("write", readonly=False)
    chat = Chat(ScriptedProvider(call(use("write"))), write)
    flush = chat.emit.flush

    async def stop() -> None:
        chat.stop.request()
        await flush()

    chat.emit.flush = stop  # type: ignore[method-assign]
    await chat.run()
    assert write.calls == []
    assert [result.status for result in chat.results] == ["stopped"]


async def test_stop_between_turns_starts_no_other() -> None:
    chat = Chat(ScriptedProvider(say("One."), say("Two.")))
    chat.inbox.waiting = ["two?"]
    flush = chat.emit.flush

    async def stop() -> None:
        chat.stop.request()
        await flush()

    chat.emit.flush = stop  # type: ignore[method-assign]
    await chat.run()
    assert chat.inbox.waiting == ["two?"]
    assert chat.reasons == ["done"]


# -- the signal -------------------------------------------------------------------------------------------------


async def test_work_that_is_done_in_time_is_not_stopped() -> None:
    signal = StopSignal()
    assert await signal.run(_one()) == 1
    signal.request()
    signal.request()
    with pytest.raises(Stopped):
        await signal.run(_one())


async def test_a_time_limit_inside_the_work_is_not_taken_for_a_stop() -> None:
    async def slow() -> None:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await StopSignal().run(slow())


async def test_a_cancellation_from_outside_stays_one() -> None:  # a shutdown is not a stop
    signal = StopSignal()
    gate = Gate()
    task = asyncio.create_task(signal.run(gate.wait()))
    await gate.reached()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def _one() -> int:
    return 1


async def test_a_stopped_answer_is_counted_with_what_its_endpoint_told_of_the_prompt() -> None:  # C17
    gate, told = Gate(), Usage(uncached=5, cache_read=90, cache_write_5m=5)
    chat = Chat(ScriptedProvider((ResponseStarted(told), TextPiece(0, "So far"), gate)))
    await _stop_at(chat, gate)
    [step] = chat.steps
    assert (step.usage, step.cost) == (told, None)  # what it wrote is not known, and so the sum is not


async def test_an_answer_that_broke_off_before_a_retry_failed_is_counted_as_far_as_it_was_told() -> None:  # C17
    told = Usage(uncached=5, cache_read=90)
    chat = Chat(ScriptedProvider((ResponseStarted(told), failed("overloaded"))))
    await chat.run()
    assert [step.usage for step in chat.steps] == [told]
