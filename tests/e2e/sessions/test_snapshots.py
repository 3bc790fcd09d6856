"""A snapshot and what comes after it is the same as everything, whenever it was taken (spec protocol.md P2, P3)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from openprogram.core.errors import UnknownSession
from openprogram.core.events import Event, MessageAdded, StepFinished, TextDelta, ToolOutputDelta, TurnFinished
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import Message, ReasoningBlock, TextBlock
from openprogram.core.prompt import ReasoningPiece, ResponseStarted, TextPiece
from openprogram.core.protocol.frames import MessagesAck, Snapshot
from openprogram.core.storage import Write
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.core.usage import Price, Usage
from tests.support.agent import FakeTool
from tests.support.script import MODEL, Gate, Script, call, completed, say, use
from tests.support.sessions import Chats, TriedStore, crashed, opened
from tests.support.view import View

USAGE = Usage(uncached=1_000_000, cache_read=0, cache_write_5m=0, cache_write_1h=0, output=0)
THINK: Script = (
    ResponseStarted(),
    ReasoningPiece(0, "Hm, "),
    ReasoningPiece(0, "well."),
    TextPiece(1, "Let me "),
    TextPiece(1, "look."),
    completed(ReasoningBlock("Hm, well.", "sig"), TextBlock("Let me look."), use("read", "c_1"), usage=USAGE),
)


async def _talk(_arguments: JsonObject, context: ToolContext) -> ToolOutput:
    for word in ("one ", "two ", "three"):
        context.output(word)
        await asyncio.sleep(0)
    return ToolOutput.text("done")


class Watcher:
    """Takes snapshots while commits come in: one right after each, and one that each commit overtakes."""

    def __init__(self, chats: Chats, session_id: str) -> None:
        self.taken: list[Snapshot] = []
        self._chats = chats
        self._session_id = session_id
        self._tasks: list[asyncio.Task[Snapshot]] = []
        self._commit = chats.store.commit
        chats.store.commit = self.commit  # type: ignore[method-assign]

    async def commit(self, session_id: str, events: Sequence[Event], writes: Sequence[Write] = ()):
        overtaken = asyncio.create_task(self._chats.snapshot(self._session_id))
        self._tasks.append(overtaken)
        stored = await self._commit(session_id, events, writes)
        self.taken.append(await self._chats.snapshot(self._session_id))
        return stored

    async def all(self) -> list[Snapshot]:
        """All of them, and one more."""
        self.taken += await asyncio.gather(*self._tasks)
        return [*self.taken, await self._chats.snapshot(self._session_id)]


def _known(events: Sequence[Event]) -> dict[str, Message]:
    return {event.message.id: event.message for event in events if isinstance(event, MessageAdded)}


async def _check(chats: Chats, session_id: str, snapshots: Sequence[Snapshot]) -> None:
    events = await chats.events(session_id)
    known = _known(events)
    whole = View(known=known).apply(events)
    assert len({snapshot.seq for snapshot in snapshots}) > 5
    for snapshot in snapshots:
        rest = await chats.events(session_id, snapshot.seq)
        view = View.of(snapshot.state, known).apply(rest)
        assert view == whole, f"taken at {snapshot.seq}"
        shown = {message.id for message in snapshot.state.messages} | _known(rest).keys()
        assert view.steps == {id_: step for id_, step in whole.steps.items() if id_ in shown}


async def test_a_snapshot_and_later_events_equal_all_events(tmp_path: Path) -> None:  # P3
    read = FakeTool("read", _talk, parallel_safe=True)
    bash = FakeTool("bash", permission="execute", readonly=False)
    scripts = (
        THINK,
        call(use("read", "c_2"), use("bash", "c_3", command="ls"), text="And now?", usage=USAGE),
        say("Al", "l done.", usage=USAGE),
        say("Next.", usage=USAGE),
        say("Better.", usage=USAGE),
    )
    async with opened(tmp_path, *scripts, tools=[read, bash], mode="ask") as chats:
        session_id = await chats.draft(title="A talk")
        watcher = Watcher(chats, session_id)
        await chats.patch("toggle_web_search", session_id, value=True)
        first = await chats.say("look around", session_id)
        asked = await chats.asked(session_id)
        await chats.say("and then?", session_id)
        await chats.patch("toggle_web_search", session_id, value=None)
        await chats.do("answer_approval", session_id=session_id, approval_id=asked.approval_id, decision="once")
        await chats.until(session_id, TurnFinished, 2)
        await chats.rest(session_id)
        await chats.do("rename_session", session_id=session_id, title="Another name")
        await chats.do("edit_message", session_id=session_id, message_id=first.message_id, text="look well")
        await chats.until(session_id, TurnFinished, 3)
        await chats.rest(session_id)
        await chats.do("select_branch", session_id=session_id, message_id=first.message_id)
        await _check(chats, session_id, await watcher.all())


async def test_usage_and_cost_are_counted_once_whenever_a_snapshot_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # C17
    price = Price(input=2.0, output=0.0, cache_read=0.0, cache_write_5m=0.0, cache_write_1h=0.0)
    monkeypatch.setattr("tests.support.sessions.MODEL", replace(MODEL, price=price))
    scripts = [say(str(number), usage=USAGE) for number in range(4)]
    async with opened(tmp_path, *scripts) as chats:
        session_id = await chats.draft()
        watcher = Watcher(chats, session_id)
        for number in range(4):
            await chats.said(str(number), session_id)
        snapshots = await watcher.all()
        await _check(chats, session_id, snapshots)
        assert snapshots[-1].state.cost == 8.0
        assert snapshots[-1].state.usage.uncached == 4_000_000


async def test_a_snapshot_in_mid_stream_shows_the_text_so_far(tmp_path: Path) -> None:  # P3, P4
    gate = Gate()
    async with opened(tmp_path, (*THINK[:5], gate, *THINK[5:])) as chats:
        session_id = (await chats.say("go")).session_id
        await gate.reached()
        await chats.until(session_id, TextDelta, 2)
        state = (await chats.snapshot(session_id)).state
        assert state.partial is not None
        assert (state.status, state.partial.step) == ("running", 1)
        assert state.partial.message_id
        view = View.of(state, {})
        assert view.text == {("reasoning_delta", 0): "Hm, well.", ("text_delta", 1): "Let me look."}
        assert len([event for event in state.partial.events if isinstance(event, TextDelta)]) == 1  # joined


async def test_a_snapshot_during_a_call_shows_its_output_and_no_answer_twice(tmp_path: Path) -> None:  # P3
    gate = Gate()

    async def talk(_arguments: JsonObject, context: ToolContext) -> ToolOutput:
        context.output("so far")
        await gate.wait()
        return ToolOutput.text("done")

    async with opened(tmp_path, THINK, say("Done."), tools=[FakeTool("read", talk)]) as chats:
        session_id = (await chats.say("go")).session_id
        await chats.until(session_id, ToolOutputDelta)
        state = (await chats.snapshot(session_id)).state
        assert state.messages[-1].text == "Let me look."
        view = View.of(state, {})
        assert view.text == {}
        assert view.calls["c_1"].output == "so far"
        gate.open()
        await chats.until(session_id, TurnFinished)


async def test_a_long_chat_shows_its_last_hundred_messages(tmp_path: Path) -> None:  # P3, R6
    async with opened(tmp_path, *(say(f"answer {number}") for number in range(60))) as chats:
        session_id = await chats.said("question 0")
        for number in range(1, 60):
            await chats.said(f"question {number}", session_id)
        state = (await chats.snapshot(session_id)).state
        assert (len(state.messages), state.more) == (100, True)
        assert state.messages == (await chats.branch(session_id))[-100:]


async def test_the_requests_behind_answers_come_with_every_page_of_them(tmp_path: Path) -> None:  # R6
    async with opened(tmp_path, *(say(f"answer {number}", usage=USAGE) for number in range(6))) as chats:
        session_id = await chats.said("question 0")
        for number in range(1, 6):
            await chats.said(f"question {number}", session_id)
        told = {step.message_id: step for step in await chats.of(session_id, StepFinished)}
        assert set((await chats.snapshot(session_id)).state.steps) == set(told.values())
        page = cast(MessagesAck, await chats.do("load_messages", session_id=session_id, limit=4))
        answers = [message.id for message in page.messages if message.role == "assistant"]
        assert list(page.steps) == [told[id_] for id_ in answers]
        assert len(answers) == 2


async def test_a_snapshot_of_a_turn_that_waits_since_a_kill_shows_its_question(tmp_path: Path) -> None:  # P9
    bash = FakeTool("bash", permission="execute", readonly=False)
    async with opened(tmp_path, call(use("bash", "c_1", command="ls")), tools=[bash], mode="ask") as chats:
        session_id = (await chats.say("go")).session_id
        asked = await chats.asked(session_id)
        folder = crashed(tmp_path, tmp_path / "after")
    async with opened(folder, tools=[bash], mode="ask") as chats:
        state = (await chats.snapshot(session_id)).state
        assert state.approvals == (asked,)
        assert View.of(state, {}).calls.keys() == {"c_1"}


async def test_a_snapshot_of_someone_elses_chat_is_refused(tmp_path: Path) -> None:  # R12
    async with opened(tmp_path, say("Hello.")) as chats:
        session_id = await chats.said("hi")
        with pytest.raises(UnknownSession):
            await chats.snapshot(session_id, user="u_bob")


def test_the_watcher_watches_the_store_of_the_service() -> None:
    assert "commit" in vars(TriedStore)
