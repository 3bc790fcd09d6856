"""Compaction in the loop: a conversation that no longer fits is summarised, and the model goes on from the summary."""

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest

from openprogram.context.compaction import shown
from openprogram.core.compaction import SUMMARISE, Compacted, CompactionStarted
from openprogram.core.events import ErrorRaised, MessageAdded, StepStarted, TurnFinished
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import Message, TextBlock
from openprogram.core.prompt import FailureCode
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.core.usage import Price, Usage
from tests.support.agent import Chat, FakeTool
from tests.support.script import MODEL, Gate, ScriptedProvider, assert_paired, call, failed, say, use

WINDOW = 8_000
"""A quarter is left for the answer, and four fifths of the rest are soft: 4,800."""
SMALL = replace(MODEL, context_window=WINDOW, price=Price(4.0, 20.0, 0.4, 5.0, 8.0))


async def _long(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    return ToolOutput.text("a line of output\n" * 300)


def _used(prompt: int) -> Usage:
    return Usage(uncached=0, cache_read=prompt, output=10)


def _chat(*scripts: object, said: str = "Do the work") -> Chat:
    chat = Chat(ScriptedProvider(*scripts), FakeTool("look", _long), said=said)  # type: ignore[arg-type]
    chat.model = SMALL
    return chat


def _steps(*prompts: int) -> list[object]:
    return [call(use("look"), usage=_used(prompt)) for prompt in prompts]


async def test_a_step_that_would_not_fit_is_preceded_by_a_summary() -> None:  # C16
    chat = _chat(*_steps(1_000, 2_400, 5_500), say("What was done: much.", usage=_used(6_800)), say("Done."))
    await chat.run()
    asked, final = chat.provider.requests[3:]
    assert asked.messages[-1].text == SUMMARISE
    assert asked.messages[:-1] == chat.history.messages[: len(asked.messages) - 1]
    assert final.messages[0].text.startswith("<summary>")
    assert "What was done: much." in final.messages[0].text
    assert final.messages[1].text == "Do the work"
    assert_paired(final.messages[2:])
    assert chat.reasons == ["done"]


async def test_the_request_for_a_summary_extends_the_step_before_it() -> None:
    chat = _chat(*_steps(1_000, 2_400, 5_500), say("Much."), say("Done."))
    await chat.run()
    before, asked = chat.provider.requests[2:4]
    assert (asked.tools, asked.system, asked.deltas) == (before.tools, before.system, before.deltas)
    assert asked.messages[: len(before.messages)] == before.messages


async def test_the_history_stays_whole() -> None:
    chat = _chat(*_steps(1_000, 2_400, 5_500), say("Much."), say("Done."))
    await chat.run()
    history = chat.history.messages
    assert [message.role for message in history].count("tool") == 3
    added = [event.message for event in chat.emit.of(MessageAdded)]
    assert [message.id for message in added] == [message.id for message in history[1:]]
    for above, below in pairwise(history):
        assert below.parent_id == above.id


async def test_a_compaction_is_announced_with_its_cost_and_saving_and_counted_once() -> None:
    usage = Usage(uncached=100, cache_read=6_800, output=500)
    chat = _chat(*_steps(1_000, 2_400, 5_500), say("Much.", usage=usage), say("Done."))
    await chat.run()
    (started,), (ended,) = chat.emit.of(CompactionStarted), chat.emit.of(Compacted)
    (summary,) = (message for message in chat.history.messages if message.compaction is not None)
    about = summary.compaction
    assert about is not None
    assert (started.trigger, started.request_id) == ("full", ended.request_id)
    assert (ended.outcome, ended.message_id, ended.usage) == ("done", summary.id, usage)
    assert ended.cost == pytest.approx((100 * 4 + 6_800 * 0.4 + 500 * 20) / 1e6) == about.cost
    assert about.tokens_before == started.tokens_before > about.tokens_after
    assert about.saving == pytest.approx((about.tokens_before - about.tokens_after) * 0.4 / 1e6)
    assert [step.message_id for step in chat.steps].count(summary.id) == 0
    together = next(commit for commit in chat.emit.commits if ended in commit)
    assert MessageAdded(summary) in together


async def test_between_turns_is_compacted_earlier_than_within_one() -> None:  # C16
    within = _chat(call(use("look"), usage=_used(3_800)), say("Done.", usage=_used(5_000)))
    await within.run()
    assert within.emit.of(Compacted) == []
    between = _chat(call(use("look"), usage=_used(3_800)), say("One.", usage=_used(5_000)), say("Sum."), say("Two."))
    between.inbox.waiting.append("and now this")
    await between.run()
    assert [event.outcome for event in between.emit.of(Compacted)] == ["done"]
    assert [message.text for message in between.provider.requests[-1].messages[-2:]] == [
        "and now this",
        "Today's date is 2026-01-01.\nWorking directory: /workspace",
    ]


async def test_nothing_is_summarised_where_the_window_is_not_known() -> None:
    chat = _chat(*_steps(1_000, 2_400, 99_000), say("Done."))
    chat.model = replace(SMALL, context_window=None)
    await chat.run()
    assert chat.emit.of(CompactionStarted) == []


async def test_tools_count_against_the_budget() -> None:
    """Spec tools.md section 5: the same words fit beside a short declaration and do not beside a long one."""
    for words, outcomes in ((5, []), (5_500, ["done"])):
        tool = FakeTool("look", _long, description="word " * words)
        chat = Chat(ScriptedProvider(say("Sum."), say("Two.")), tool, said="a question")
        chat.model = replace(SMALL, context_window=16_000)
        for role, text in (("assistant", "an answer " * 2_000), ("user", "and more")):
            chat.history.append(_below(chat, role, text))
        if not outcomes:
            chat.provider.scripts.pop(0)
        await chat.run()
        assert [event.outcome for event in chat.emit.of(Compacted)] == outcomes, words


def _below(chat: Chat, role: str, text: str) -> Message:
    number = len(chat.history.messages)
    return Message(f"m_b{number}", chat.history.leaf_id, role, (TextBlock(text),), "2026-01-01T12:00:00.000Z")  # type: ignore[arg-type]


@pytest.mark.parametrize("code", ["rate_limited", "overloaded", "refused", "endpoint_down"])
async def test_a_summary_that_fails_loses_nothing_and_the_step_is_tried(code: FailureCode) -> None:
    chat = _chat(*_steps(1_000, 2_400, 5_500), [failed(code)], say("Done all the same."))
    await chat.run()
    assert [event.outcome for event in chat.emit.of(Compacted)] == ["failed"]
    (error,) = chat.emit.of(ErrorRaised)
    assert error.error.code == "compaction_failed"
    assert f"{code} happened" in error.error.message
    assert shown(chat.history.messages) == chat.history.messages
    assert chat.reasons == ["done"]


async def test_stop_ends_a_summary_and_the_turn_and_leaves_the_history_as_it_was() -> None:
    gate = Gate()
    chat = _chat(*_steps(1_000, 2_400, 5_500), [*say("half a summ")[:-1], gate])
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gate.reached()
        chat.stop.request()
    assert gate.cancelled
    assert chat.provider.open_streams == 0
    assert [event.outcome for event in chat.emit.of(Compacted)] == ["stopped"]
    assert chat.reasons == ["stopped"]
    assert chat.history.last is not None
    assert chat.history.last.role == "tool"


async def test_a_model_that_calls_a_tool_instead_is_asked_without_tools() -> None:
    chat = _chat(*_steps(1_000, 2_400, 5_500), call(use("look")), say("In words then."), say("Done."))
    await chat.run()
    plain = chat.provider.requests[4]
    assert plain.tools == ()
    (ended,) = chat.emit.of(Compacted)
    assert (ended.outcome, ended.usage.output) == ("done", 10)
    assert len(chat.results) == 3


async def test_an_answer_too_long_is_met_with_a_summary_and_one_more_try() -> None:
    chat = _chat(*_steps(1_000, 2_400), [failed("context_too_long")], say("Sum."), say("Done."))
    chat.model = replace(SMALL, context_window=None)
    await chat.run()
    assert [event.trigger for event in chat.emit.of(CompactionStarted)] == ["refused"]
    assert chat.provider.requests[-1].messages[0].compaction is not None
    assert chat.reasons == ["done"]
    assert [step.step for step in chat.steps] == [1, 2, 3]
    started = chat.emit.of(StepStarted)
    assert started[-1].message_id == started[-2].message_id == chat.steps[-1].message_id


async def test_a_summary_that_is_too_long_itself_covers_less() -> None:
    refused = [failed("context_too_long")]
    chat = _chat(*_steps(500, 1_900, 3_300, 4_700), refused, refused, say("Sum."), say("Done."))
    chat.model = replace(SMALL, context_window=None)
    await chat.run()
    first, second = (request.messages for request in chat.provider.requests[5:7])
    assert len(second) < len(first)
    final = chat.provider.requests[-1].messages
    summary = final[0].compaction
    assert summary is not None
    covered = {message.id for message in second[:-1]}
    seen = {message.id for message in final}
    assert {message.id for message in chat.history.messages[:-1]} - seen <= covered
    assert_paired(final[2:])


async def test_what_does_not_fit_even_then_ends_the_turn_with_what_to_do() -> None:
    refused = [failed("context_too_long")]
    chat = _chat(*_steps(1_000, 2_400), refused, say("Sum."), refused)
    await chat.run()
    (ended,) = chat.emit.of(TurnFinished)
    assert ended.reason == "error"
    assert ended.error is not None
    assert (ended.error.code, ended.error.action) == ("context_too_long", "choose_model")
    assert "larger" in ended.error.message


async def test_a_first_message_that_is_too_long_says_so() -> None:
    chat = _chat([failed("context_too_long")])
    await chat.run()
    (ended,) = chat.emit.of(TurnFinished)
    assert ended.error is not None
    assert "nothing before it" in ended.error.message
    assert chat.emit.of(CompactionStarted) == []


async def test_a_second_compaction_summarises_the_first_summary() -> None:
    chat = _chat(
        *_steps(1_000, 2_400, 5_500),
        say("Sum one."),
        *_steps(3_500, 5_200),
        say("Sum two."),
        say("Done."),
    )
    await chat.run()
    assert [event.outcome for event in chat.emit.of(Compacted)] == ["done", "done"]
    assert "Sum one." in chat.provider.requests[6].messages[0].text
    final = chat.provider.requests[-1].messages
    assert [message.compaction is not None for message in final].count(True) == 1
    assert "Sum two." in final[0].text
    assert final[1].text == "Do the work"
    assert_paired(final[2:])


async def test_loaded_tools_stay_callable_and_are_declared_after_the_cut() -> None:  # C16
    later = FakeTool("later", residency="deferred")
    find = FakeTool("tool_search")
    chat = Chat(
        ScriptedProvider(
            call(use("later"), usage=_used(1_000)),
            *_steps(2_400, 5_500),  # type: ignore[arg-type]
            say("Sum."),
            call(use("later"), usage=_used(1_500)),
            say("Done."),
        ),
        FakeTool("look", _long),
        later,
        find,
    )
    chat.model = SMALL
    await chat.run()
    after = chat.provider.requests[4]
    assert "later" in [tool["name"] for tool in after.tools]
    assert "later" not in [call.name for message in after.messages for call in message.calls]
    assert len(later.calls) == 2
    assert chat.loaded.names == ("later",)


async def test_the_cut_is_a_rebase_for_the_reason_compacted() -> None:
    chat = _chat(*_steps(1_000, 2_400, 5_500), say("Sum."), say("Done."))
    await chat.run()
    plans = [event.plan for event in chat.emit.of(StepStarted)]
    assert [(plan.kind, plan.reason, plan.epoch) for plan in plans[-2:]] == [
        ("keep", "unchanged", 1),
        ("rebase", "compacted", 2),
    ]
    records = [put.record for put in chat.sent]
    assert [record.conditions.cut is None for record in records] == [True, True, True, True, False]


async def test_the_to_do_list_is_told_again() -> None:
    tasks = [{"task": "Write the parser", "status": "in_progress"}]
    todo = FakeTool("todo")
    chat = Chat(
        ScriptedProvider(
            call(use("todo", tasks=tasks), usage=_used(900)),
            *_steps(2_400, 5_500),  # type: ignore[arg-type]
            say("Sum."),
            say("Done."),
        ),
        FakeTool("look", _long),
        todo,
    )
    chat.model = SMALL
    await chat.run()
    assert "[>] Write the parser" in chat.provider.requests[-1].messages[0].text


async def test_reasoning_that_is_bound_to_what_was_cut_stays_behind() -> None:
    """C1, C14: on models that bind thinking, no block from before the cut goes out behind it."""
    chat = _chat(*_steps(1_000, 2_400, 5_500), say("Sum."), say("Done."))
    chat.model = replace(SMALL, capability=replace(SMALL.capability, binds_thinking=True))
    await chat.run()
    before, asked, final = chat.provider.requests[-3:]
    assert (before.thinking_after, asked.thinking_after) == (chat.history.messages[1].id,) * 2
    behind = [message.id for message in final.messages].index(final.thinking_after or "")
    assert all(message.role != "assistant" for message in final.messages[behind + 1 :])
