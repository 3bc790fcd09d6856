"""Turns and steps: what ends one, what is frozen in one, what comes after."""

import asyncio
from itertools import pairwise

import pytest

from openprogram.agent.environment import Setup
from openprogram.core.errors import NoEndpoint, UnknownPreset
from openprogram.core.events import (
    ErrorRaised,
    MessageAdded,
    StepFinished,
    StepStarted,
    TurnFinished,
    TurnStarted,
)
from openprogram.core.intent import ToolIntent
from openprogram.core.messages import TextBlock
from openprogram.core.prompt import ResponseStarted, TextPiece
from tests.support.agent import Chat, FakeTool, held
from tests.support.script import Gate, ScriptedProvider, assert_paired, call, completed, failed, say, use


async def test_an_answer_without_calls_ends_the_turn() -> None:
    chat = Chat(ScriptedProvider(say("Hel", "lo.")))
    await chat.run()
    assert chat.reasons == ["done"]
    assert chat.history.last is not None
    assert (chat.history.last.role, chat.history.last.text) == ("assistant", "Hello.")
    kinds = [type(event) for event in chat.emit.events]
    assert kinds.index(TurnStarted) < kinds.index(StepStarted) < kinds.index(StepFinished) < kinds.index(TurnFinished)


async def test_the_answer_and_its_usage_are_one_commit() -> None:
    chat = Chat(ScriptedProvider(say("Hello.")))
    await chat.run()
    together = [[type(event) for event in commit] for commit in chat.emit.commits]
    assert [StepFinished, MessageAdded] in together


async def test_a_call_is_answered_and_the_model_goes_on() -> None:
    read = FakeTool("read")
    chat = Chat(ScriptedProvider(call(use("read", "c_1", path="a")), say("It says a.")), read)
    await chat.run()
    assert read.calls == [{"path": "a"}]
    assert [result.status for result in chat.results] == ["ok"]
    assert chat.provider.requests[1].messages == chat.history.messages[:-1]
    assert chat.reasons == ["done"]
    assert_paired(chat.history.messages)


async def test_each_request_extends_the_one_before() -> None:
    """Law 4, cache.md C22: within an epoch nothing that was sent is edited."""
    read = FakeTool("read")
    chat = Chat(ScriptedProvider(call(use("read")), call(use("read"), use("read")), say("Done."), say("Yes.")), read)
    chat.inbox.waiting = ["more?"]
    await chat.run()
    for before, after in pairwise(chat.provider.requests):
        assert after.messages[: len(before.messages)] == before.messages
        assert (after.tools, after.system) == (before.tools, before.system)
        assert after.previous_length == len(before.messages)


# -- the end of a turn ------------------------------------------------------------------------------------------


async def test_a_failure_of_the_provider_ends_the_turn_as_a_typed_event() -> None:  # P13
    chat = Chat(ScriptedProvider((ResponseStarted(), TextPiece(0, "Half"), failed("rate_limited", TextBlock("Half")))))
    chat.inbox.waiting = ["next"]
    await chat.run()
    (finished,) = chat.emit.of(TurnFinished)
    assert finished.error is not None
    assert (finished.reason, finished.error.code, finished.error.action) == ("error", "rate_limited", "retry")
    assert chat.history.last is not None
    assert (chat.history.last.status, chat.history.last.text) == ("error", "Half")
    assert chat.inbox.waiting == ["next"]


async def test_calls_of_a_failed_answer_are_neither_kept_nor_run() -> None:  # law 7
    read = FakeTool("read")
    chat = Chat(ScriptedProvider((ResponseStarted(), failed("stream_cut", TextBlock("So"), use("read")))), read)
    await chat.run()
    assert read.calls == []
    assert chat.history.last is not None
    assert chat.history.last.calls == ()
    assert_paired(chat.history.messages)


async def test_a_stream_that_just_ends_is_not_taken_for_complete() -> None:  # P13, law 9
    chat = Chat(ScriptedProvider((ResponseStarted(), TextPiece(0, "Half"))))
    await chat.run()
    (finished,) = chat.emit.of(TurnFinished)
    assert finished.error is not None
    assert (finished.reason, finished.error.code) == ("error", "stream_cut")
    assert chat.history.last is not None
    assert (chat.history.last.status, chat.history.last.text) == ("error", "Half")


async def test_an_answer_at_its_output_limit_is_cut_and_its_calls_are_not_run() -> None:
    read = FakeTool("read")
    script = (ResponseStarted(), completed(TextBlock("Long"), use("read"), stop_reason="max_tokens"))
    chat = Chat(ScriptedProvider(script), read)
    await chat.run()
    assert chat.reasons == ["cut"]
    assert read.calls == []
    assert chat.history.last is not None
    assert (chat.history.last.status, chat.history.last.calls) == ("cut", ())


async def test_a_turn_ends_at_its_number_of_steps_with_all_results_kept() -> None:
    read = FakeTool("read")
    chat = Chat(ScriptedProvider(call(use("read")), call(use("read"))), read)
    chat.max_steps = 2
    await chat.run()
    assert chat.reasons == ["limit"]
    assert len(read.calls) == 2
    assert_paired(chat.history.messages)


# -- queue and steering (P6) ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("script", "goes_on"), [("done", True), ("cut", True), ("error", False)])
async def test_the_queue_goes_on_after_an_end_but_not_after_a_failure(script: str, goes_on: bool) -> None:  # P6
    first = {
        "done": say("One."),
        "cut": (ResponseStarted(), completed(TextBlock("On"), stop_reason="max_tokens")),
        "error": (failed(),),
    }[script]
    chat = Chat(ScriptedProvider(first, say("Two.")))
    chat.inbox.waiting = ["two?"]
    await chat.run()
    assert chat.inbox.waiting == ([] if goes_on else ["two?"])
    assert chat.reasons == ([script, "done"] if goes_on else [script])


async def test_a_steered_message_is_a_turn_boundary() -> None:  # P6, T21
    gate = Gate()
    read, search = FakeTool("read", held(gate)), FakeTool("web_search", provides=("web_search",))
    provider = ScriptedProvider(call(use("read")), say("As you wish."))
    chat = Chat(provider, read, search)
    chat.intent = _chip(False)
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        chat.intent = _chip(True)
        chat.inbox.waiting, chat.inbox.steered = ["search instead"], True
        gate.open()
    assert chat.reasons == ["done", "done"]
    assert [message.role for message in provider.requests[1].messages][-3:] == ["tool", "user", "notice"]
    assert "web_search" in [tool["name"] for tool in provider.requests[1].tools]


async def test_the_work_goes_on_when_a_steered_message_is_withdrawn_at_the_last_moment() -> None:  # P6
    read = FakeTool("read")
    chat = Chat(ScriptedProvider(call(use("read")), say("Read it.")), read)
    chat.inbox.steered = True
    await chat.run()
    assert chat.reasons == ["done", "done"]
    assert chat.history.last is not None
    assert chat.history.last.text == "Read it."


# -- turns that cannot start (T13) ------------------------------------------------------------------------------


@pytest.mark.parametrize("refusal", [UnknownPreset("no preset 'x'", hint="choose"), NoEndpoint("no model", hint="set")])
async def test_a_turn_that_cannot_start_says_so_and_keeps_the_message(refusal: UnknownPreset | NoEndpoint) -> None:
    chat = Chat(ScriptedProvider())  # T13
    chat.refusals = [refusal]
    before = chat.history.messages
    await chat.run()
    (raised,) = chat.emit.of(ErrorRaised)
    assert (raised.error.code, raised.error.message, raised.error.hint) == (
        refusal.code,
        refusal.message,
        refusal.hint,
    )
    assert not chat.emit.of(TurnStarted)
    (ended,) = chat.emit.of(TurnFinished)
    assert (ended.reason, ended.error) == ("error", raised.error)
    assert chat.history.messages == before


async def test_a_stop_while_a_turn_is_prepared_ends_it() -> None:  # P7: a list of models may be slow
    chat = Chat(ScriptedProvider())
    asked = asyncio.Event()

    async def slow() -> Setup:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    chat.prepare = slow  # type: ignore[method-assign]
    run = asyncio.create_task(chat.run())
    await asked.wait()
    chat.stop.request()
    await run
    assert [event.reason for event in chat.emit.of(TurnFinished)] == ["stopped"]


async def test_an_unknown_tool_name_is_told_once_a_turn_and_left_out() -> None:  # T13
    chat = Chat(ScriptedProvider(say("Hello.")), FakeTool("read"))
    chat.intent = ToolIntent(picked=("read", "gone"))
    await chat.run()
    assert [event.error.code for event in chat.emit.of(ErrorRaised)] == ["unknown_tool"]
    assert [tool["name"] for tool in chat.provider.requests[0].tools] == ["read"]


# -- resuming (P9) ----------------------------------------------------------------------------------------------


def _chip(value: bool) -> ToolIntent:
    return ToolIntent(toolset="full", web_search=value)
