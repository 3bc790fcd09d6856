"""Running the calls of one answer: side by side where that is safe, and one result for each, whatever happens."""

import asyncio

import pytest

from openprogram.agent.calls import OUTPUT_EVENT_CHARS
from openprogram.core.errors import BadArguments, StorageError, ToolFailure
from openprogram.core.events import StepStarted, ToolCallFinished, ToolCallStarted, ToolOutputDelta
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import TextBlock
from openprogram.core.tooling import DISCOVERY_TOOL, ToolContext, ToolOutput
from openprogram.providers.answer import INVALID_ARGUMENTS
from tests.support.agent import Chat, FakeTool, held
from tests.support.script import Gate, ScriptedProvider, assert_paired, call, say, use


def _chat(*tools: FakeTool, calls: tuple[str, ...]) -> Chat:
    return Chat(
        ScriptedProvider(call(*(use(name, f"c_{name}_{at}") for at, name in enumerate(calls))), say(".")), *tools
    )


async def test_safe_calls_run_side_by_side_and_results_keep_the_order_of_the_calls() -> None:  # P15
    gates = [Gate(), Gate()]
    slow = FakeTool("slow", held(gates[0]), parallel_safe=True)
    fast = FakeTool("fast", held(gates[1]), parallel_safe=True)
    chat = _chat(slow, fast, calls=("slow", "fast"))
    async with asyncio.TaskGroup() as group:
        chat.begin(group)
        await gates[0].reached()
        await gates[1].reached()  # both run now
        gates[1].open()
        gates[0].open()
    assert [result.call_id for result in chat.results] == ["c_slow_0", "c_fast_1"]
    assert {event.call_id for event in chat.emit.of(ToolCallFinished)} == {"c_slow_0", "c_fast_1"}


async def test_a_call_that_is_not_safe_runs_alone_and_in_its_place() -> None:  # P15
    at_work: list[str] = []
    seen: list[tuple[str, ...]] = []

    def act(name: str):
        async def work(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
            at_work.append(name)
            for _ in range(5):
                await asyncio.sleep(0)
            seen.append(tuple(at_work))
            at_work.remove(name)
            return ToolOutput.text(name)

        return work

    safe = FakeTool("safe", act("safe"), parallel_safe=True)
    write = FakeTool("write", act("write"), readonly=False)
    chat = _chat(safe, write, calls=("safe", "safe", "write", "write", "safe"))
    await chat.run()
    assert [names for names in seen if "write" in names] == [("write",), ("write",)]
    assert ("safe", "safe") in seen
    assert seen[-1] == ("safe",)
    order = [event.call_id for event in chat.emit.of(ToolCallStarted)]
    assert order == ["c_safe_0", "c_safe_1", "c_write_2", "c_write_3", "c_safe_4"]


async def test_a_call_is_on_record_before_its_effect_can_happen() -> None:  # R2
    flushed: list[int] = []
    chat: Chat

    async def act(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
        flushed.append(chat.emit.flushes)
        return ToolOutput.text("written")

    chat = _chat(FakeTool("write", act, readonly=False), calls=("write",))
    await chat.run()
    assert flushed == [1]


async def test_a_call_that_cannot_be_put_on_record_does_not_run() -> None:  # R2
    gate = Gate()
    write = FakeTool("write", readonly=False)
    chat = Chat(ScriptedProvider((gate, *call(use("write")))), write)
    with pytest.raises(StorageError, match="disk full"):
        await _run_broken(chat, gate)
    assert write.calls == []


async def _run_broken(chat: Chat, gate: Gate) -> None:
    running = asyncio.create_task(chat.run())
    await gate.reached()
    chat.emit.broken = StorageError("disk full")
    gate.open()
    await running


async def test_a_withdrawal_while_the_call_is_put_on_record_is_honoured() -> None:  # T21
    write = FakeTool("write", readonly=False)
    chat = _chat(write, calls=("write",))
    flush = chat.emit.flush

    async def withdraw() -> None:
        await flush()
        chat.switches.off.add("write")

    chat.emit.flush = withdraw  # type: ignore[method-assign]
    await chat.run()
    assert write.calls == []
    assert [result.status for result in chat.results] == ["denied"]


async def test_a_crash_inside_a_tool_becomes_its_result() -> None:  # law 7, law 10
    async def crash(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
        raise KeyError("boom")

    chat = _chat(FakeTool("bad", crash), FakeTool("good"), calls=("bad", "good"))
    await chat.run()
    assert [result.status for result in chat.results] == ["error", "ok"]
    assert "KeyError" in chat.results[0].content[0].text
    assert chat.reasons == ["done"]


class Panic(BaseException):
    """As libraries in Rust raise it: no `Exception`."""


@pytest.mark.parametrize("fault", [SystemExit(2), Panic("index out of bounds"), BaseExceptionGroup("g", [Panic()])])
async def test_a_tool_that_would_end_the_program_becomes_its_result(fault: BaseException) -> None:  # law 7, law 10
    async def crash(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
        raise fault

    chat = _chat(FakeTool("bad", crash), FakeTool("good"), calls=("bad", "good"))
    await chat.run()
    assert [result.status for result in chat.results] == ["error", "ok"]
    assert type(fault).__name__ in chat.results[0].content[0].text
    assert chat.reasons == ["done"]


async def test_a_check_of_arguments_that_crashes_in_a_call_of_an_unloaded_tool_becomes_its_result() -> None:  # T20
    def crash(_arguments: JsonObject) -> None:
        raise RuntimeError("boom")

    fussy = FakeTool("fussy", validate=crash, residency="deferred")
    chat = _chat(fussy, FakeTool(DISCOVERY_TOOL), FakeTool("good"), calls=("fussy", "good"))
    await chat.run()
    assert [result.status for result in chat.results] == ["error", "ok"]
    assert "RuntimeError" in chat.results[0].content[0].text
    assert (chat.reasons, fussy.calls) == (["done"], [])


async def test_a_failure_is_told_with_its_hint() -> None:
    async def fail(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
        raise ToolFailure("no such file.", hint="Use glob to look for it.")

    chat = _chat(FakeTool("bad", fail), calls=("bad",))
    await chat.run()
    (result,) = chat.results
    assert (result.status, result.content[0].text) == ("error", "no such file. Use glob to look for it.")


async def test_refused_arguments_are_an_error_that_the_model_reads() -> None:
    async def refuse(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
        raise BadArguments("path: must be a text", field="path")

    chat = _chat(FakeTool("bad", refuse), calls=("bad",))
    await chat.run()
    assert chat.results[0].content == (TextBlock("path: must be a text"),)


async def test_a_tool_that_cancels_itself_has_a_result_too() -> None:  # law 7
    async def vanish(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
        raise asyncio.CancelledError

    chat = _chat(
        FakeTool("bad", vanish, parallel_safe=True), FakeTool("good", parallel_safe=True), calls=("bad", "good")
    )
    await chat.run()
    assert [result.status for result in chat.results] == ["error", "ok"]
    assert_paired(chat.history.messages)
    assert chat.reasons == ["done"]


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(None, id="nothing"),
        pytest.param(ToolOutput((), display={"of": object()}), id="object"),  # type: ignore[dict-item]
        pytest.param(ToolOutput.text("\ud800"), id="surrogate"),
        pytest.param(ToolOutput.text("", display={"n": 2**70}), id="huge"),
    ],
)
async def test_a_result_that_cannot_be_stored_is_an_error_of_the_tool(output: ToolOutput) -> None:
    async def act(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
        return output

    chat = _chat(FakeTool("bad", act), calls=("bad",))
    await chat.run()
    (result,) = chat.results
    assert result.status == "error"
    assert "fault of the tool" in result.content[0].text


async def test_a_call_of_an_unknown_tool_is_denied_and_the_others_run() -> None:  # law 6
    read = FakeTool("read")
    chat = _chat(read, calls=("gone", "read"))
    await chat.run()
    assert [result.status for result in chat.results] == ["denied", "ok"]


async def test_a_masked_tool_is_refused_at_dispatch_whatever_the_model_was_shown() -> None:  # law 6, C1
    search = FakeTool("web_search", provides=("web_search",))
    chat = _chat(search, calls=("web_search",))
    chat.intent = ToolIntent(toolset="none")
    chat.floor = ("web_search",)
    await chat.run()
    assert [tool["name"] for tool in chat.provider.requests[0].tools] == ["web_search"]
    assert chat.emit.of(StepStarted)[0].plan.masked == ("web_search",)
    assert search.calls == []
    assert [result.status for result in chat.results] == ["denied"]


async def test_a_call_whose_arguments_are_no_json_is_answered_and_not_run() -> None:
    read = FakeTool("read")
    broken = use("read", "c_1", **{INVALID_ARGUMENTS: '{"path": '})
    chat = Chat(ScriptedProvider(call(broken), say("Again.")), read)
    await chat.run()
    assert read.calls == []
    assert [result.status for result in chat.results] == ["error"]


async def test_a_call_id_that_comes_again_in_a_later_step_is_another_call() -> None:
    read = FakeTool("read")
    scripts = (call(use("read", "call_0", path="a")), call(use("read", "call_0", path="b")), say("Both."))
    chat = Chat(ScriptedProvider(*scripts), read)
    await chat.run()
    assert read.calls == [{"path": "a"}, {"path": "b"}]
    assert_paired(chat.history.messages)


async def test_output_events_end_at_their_limit() -> None:  # R6
    async def shout(_arguments: JsonObject, context: ToolContext) -> ToolOutput:
        for _ in range(10):
            context.output("x" * (OUTPUT_EVENT_CHARS // 4 + 1))
        return ToolOutput.text("said")

    chat = _chat(FakeTool("loud", shout), calls=("loud",))
    await chat.run()
    assert sum(len(event.text) for event in chat.emit.of(ToolOutputDelta)) == OUTPUT_EVENT_CHARS


async def test_output_that_json_cannot_carry_is_replaced() -> None:
    async def shout(_arguments: JsonObject, context: ToolContext) -> ToolOutput:
        context.output("a\udcffb")
        raise ToolFailure("no file a\udcffb")

    chat = _chat(FakeTool("loud", shout), calls=("loud",))
    await chat.run()
    assert [event.text for event in chat.emit.of(ToolOutputDelta)] == ["a\ufffdb"]
    assert chat.results[0].content[0].text == "no file a\ufffdb"
