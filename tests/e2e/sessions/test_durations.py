"""How long a call took is how long the tool itself ran, live and after a reload; what never began took nothing."""

from pathlib import Path

import pytest

from openprogram.core.events import ToolCallFinished, ToolCallStarted, TurnFinished
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import ReasoningBlock, ToolResultBlock
from openprogram.core.prompt import ReasoningPiece, ResponseStarted, TextPiece
from openprogram.core.tooling import ToolContext, ToolOutput
from tests.support.agent import FakeTool, held
from tests.support.script import Gate, call, completed, say, use
from tests.support.sessions import Chats, crashed, opened


class Watch:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def _bash(watch: Watch, seconds: float) -> FakeTool:
    async def work(_arguments: JsonObject, _context: ToolContext) -> ToolOutput:
        watch.now += seconds
        return ToolOutput.text("done")

    return FakeTool("bash", work, permission="execute", readonly=False)


async def _kept(chats: Chats, session_id: str) -> list[ToolResultBlock]:
    """The results in the messages, which the events of the calls agree with."""
    results = [result for message in (await chats.snapshot(session_id)).state.messages for result in message.results]
    told = {event.call_id: event for event in await chats.of(session_id, ToolCallFinished)}
    for result in results:
        if result.call_id in told:
            assert told[result.call_id].result == result
            assert told[result.call_id].duration_ms == result.duration_ms
    return results


@pytest.mark.parametrize(("decision", "status", "took"), [("once", "ok", 2500), ("deny", "denied", 0)])
async def test_the_time_in_which_a_person_was_asked_is_not_the_calls(
    tmp_path: Path, decision: str, status: str, took: int
) -> None:
    watch = Watch()
    scripts = (call(use("bash", command="make")), say("Done."))
    async with opened(tmp_path, *scripts, tools=[_bash(watch, 2.5)], mode="ask", monotonic=watch) as chats:
        session_id = (await chats.say("go")).session_id
        asked = await chats.asked(session_id)
        watch.now += 60
        await chats.do("answer_approval", session_id=session_id, approval_id=asked.approval_id, decision=decision)
        await chats.until(session_id, TurnFinished)
        (result,) = await _kept(chats, session_id)
        assert (result.status, result.duration_ms) == (status, took)


async def test_a_call_that_is_stopped_while_it_waits_for_a_person_never_began(tmp_path: Path) -> None:
    watch = Watch()
    async with opened(
        tmp_path, call(use("bash", command="make")), tools=[_bash(watch, 2.5)], mode="ask", monotonic=watch
    ) as chats:
        session_id = (await chats.say("go")).session_id
        await chats.asked(session_id)
        watch.now += 60
        await chats.do("stop", session_id=session_id)
        await chats.until(session_id, TurnFinished)
        (result,) = await _kept(chats, session_id)
        assert (result.status, result.duration_ms) == ("stopped", 0)
        assert "Not run" in result.content[0].text


async def test_a_call_that_is_stopped_while_it_runs_took_the_time_until_then(tmp_path: Path) -> None:
    watch, gate = Watch(), Gate()
    scripts = (call(use("bash"), use("bash")),)
    bash = FakeTool("bash", held(gate), readonly=False)
    async with opened(tmp_path, *scripts, tools=[bash], monotonic=watch) as chats:
        session_id = (await chats.say("go")).session_id
        await gate.reached()
        watch.now += 3
        await chats.do("stop", session_id=session_id)
        await chats.until(session_id, TurnFinished)
        results = await _kept(chats, session_id)
        assert [(result.status, result.duration_ms) for result in results] == [("stopped", 3000), ("stopped", 0)]


async def test_after_a_kill_what_had_begun_took_nobody_knows_how_long_and_the_rest_nothing(tmp_path: Path) -> None:
    gate = Gate()
    bash = FakeTool("bash", held(gate), readonly=False)
    async with opened(tmp_path, call(use("bash", "c_1"), use("bash", "c_2")), tools=[bash]) as chats:
        session_id = (await chats.say("go")).session_id
        await gate.reached()
        await chats.until(session_id, ToolCallStarted)
        folder = crashed(tmp_path, tmp_path / "after")
        await chats.do("stop", session_id=session_id)
    async with opened(folder, tools=[bash]) as chats:
        results = await _kept(chats, session_id)
        assert [(result.status, result.duration_ms) for result in results] == [
            ("interrupted", None),
            ("interrupted", 0),
        ]


async def test_how_long_the_model_thought_stays_with_its_answer(tmp_path: Path) -> None:
    watch, gates = Watch(), [Gate(), Gate()]
    script = (
        ResponseStarted(),
        ReasoningPiece(0, "Hm, "),
        gates[0],
        ReasoningPiece(0, "well."),
        gates[1],
        TextPiece(1, "So."),
        completed(ReasoningBlock("Hm, well.", "sig")),
    )
    async with opened(tmp_path, script, monotonic=watch) as chats:
        session_id = (await chats.say("go")).session_id
        await gates[0].reached()
        watch.now += 4
        gates[0].open()
        await gates[1].reached()
        gates[1].open()
        await chats.until(session_id, TurnFinished)
        (thought,) = (await chats.branch(session_id))[-1].blocks
        assert thought == ReasoningBlock("Hm, well.", "sig", duration_ms=4000)
