"""Any program of actions against a real database: no message lost or sent twice, every call answered, every turn ended.

The model answers at once, the actions come while it works, and in the end the process is killed or shut down.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.core.asking import ApprovalRequested, ApprovalResolved
from openprogram.core.errors import BadField, Busy, StorageError
from openprogram.core.events import Event, MessageAdded, TurnFinished, TurnStarted
from openprogram.core.messages import Message, TextBlock
from openprogram.core.prompt import ProviderEvent, ProviderRequest, ResponseStarted, TextPiece
from openprogram.core.protocol.frames import ChatAck
from tests.support.agent import FakeTool
from tests.support.script import ScriptedProvider, assert_paired, completed, use
from tests.support.sessions import Chats, crashed, opened
from tests.support.view import View
from tests.support.ws import WAIT_S

ActionName = Literal["say", "steer", "stop", "edit", "regenerate", "continue", "chip", "off", "on", "allow", "deny"]


@dataclass(frozen=True)
class Act:
    """One action, after letting everything else run for so many rounds of the loop; in which of two chats."""

    name: ActionName
    rounds: int
    chat: int


USUAL: tuple[ActionName, ...] = ("say", "say", "steer", "stop", "allow", "allow", "edit", "regenerate")
NEED_REST = ("edit", "regenerate", "continue")
acts = st.builds(
    Act,
    st.sampled_from((*USUAL, "continue", "chip", "off", "on", "deny")),
    st.integers(0, 40),
    st.integers(0, 1),
)


class Model(ScriptedProvider):
    """Never out of words: looks, asks to run something, and says something, in turn."""

    async def stream(self, request: ProviderRequest) -> AsyncIterator[ProviderEvent]:
        self.requests.append(request)
        assert_paired([message for message in request.messages if message.role != "notice"])
        number = len(self.requests)
        yield ResponseStarted()
        await asyncio.sleep(0)
        yield TextPiece(0, "Let me see. ")
        await asyncio.sleep(0)
        match number % 3:
            case 0:
                yield completed(TextBlock("Let me see. "), use("read"), use("read"), stop_reason="tool_use")
            case 1:
                yield completed(TextBlock("Let me see. "), use("bash", command="ls"), stop_reason="tool_use")
            case _:
                yield TextPiece(0, "Done.")
                yield completed(TextBlock("Let me see. Done."))


@dataclass
class Sent:
    """Messages that were acknowledged, by chat."""

    texts: list[list[str]]
    number: int = 0


async def _act(chats: Chats, act: Act, session_id: str, sent: list[str], number: int) -> None:
    match act.name:
        case "say" | "steer":
            text = f"message {number}"
            ack = await chats.say(text, session_id, mode="steer" if act.name == "steer" else "send")
            assert isinstance(ack, ChatAck)
            sent.append(text)
        case "stop":
            await chats.do("stop", session_id=session_id)
        case "edit" | "regenerate":
            users = [message for message in await chats.branch(session_id) if message.role == "user"]
            if users:
                more = {"text": f"message {number}"} if act.name == "edit" else {}
                fields = {"session_id": session_id, "message_id": users[-1].id, **more}
                await chats.do(f"{act.name}_message" if act.name == "edit" else act.name, **fields)
                sent.extend(more.values())
        case "continue":
            await chats.do("continue_turn", session_id=session_id)
        case "chip":
            await chats.patch("toggle_web_search", session_id, value=bool(number % 2))
        case "off" | "on":
            await chats.patch("set_tool_disabled", session_id, name="bash", value=act.name == "off")
        case "allow" | "deny":
            for row in await chats.store.approvals(session_id):
                decision = "once" if act.name == "allow" else "deny"
                fields = {"session_id": session_id, "approval_id": row.request.approval_id, "decision": decision}
                await chats.do("answer_approval", **fields)


async def _try(chats: Chats, act: Act, session_id: str, sent: list[str], number: int) -> None:
    with suppress(Busy, BadField, StorageError):  # refusals that such a program deserves
        await _act(chats, act, session_id, sent, number)


async def _play(chats: Chats, program: Sequence[Act], session_ids: Sequence[str]) -> list[list[str]]:
    """Fire the actions, each beside the others; returns the messages that were acknowledged."""
    sent: list[list[str]] = [[], []]
    async with asyncio.TaskGroup() as tasks:
        for number, act in enumerate(program):
            for _ in range(act.rounds):
                await asyncio.sleep(0)
            if act.name in NEED_REST and act.rounds % 4:  # else it comes while a turn runs, and is refused
                await _settle(chats, session_ids[act.chat])
            tasks.create_task(_try(chats, act, session_ids[act.chat], sent[act.chat], number))
    return sent


async def _settle(chats: Chats, session_id: str) -> None:
    """Answer what is asked until the chat rests; any action closes a turn that lost its run with the store."""
    while (await chats.row(session_id)).turn_id is not None or session_id in chats.service._hub.runs:
        lost = session_id not in chats.service._hub.runs and not await chats.store.approvals(session_id)
        await _try(chats, Act("stop" if lost else "deny", 0, 0), session_id, [], 0)
        await asyncio.sleep(0)


async def _check(chats: Chats, session_id: str, sent: Sequence[str]) -> None:
    events = await chats.events(session_id)
    messages = {event.message.id: event.message for event in events if isinstance(event, MessageAdded)}
    queued = [waiting.text for waiting in (await chats.snapshot(session_id)).state.queue]
    arrived = [message.text for message in messages.values() if message.role == "user"]
    assert sorted([*arrived, *queued]) == sorted(sent)  # P6: none lost, none twice
    parents = {message.parent_id for message in messages.values()}
    for leaf in messages.values():
        if leaf.id not in parents:
            assert_paired(_path(messages, leaf))  # law 7, on every branch
    _check_turns(events)
    seqs = [event.seq for event in await chats.log(session_id)]
    assert seqs == list(range(1, len(seqs) + 1))  # P2
    state = (await chats.snapshot(session_id)).state
    assert (state.approvals, state.partial) == ((), None)
    assert View.of(state, messages) == View(known=messages).apply(events)  # P3


def _path(messages: dict[str, Message], leaf: Message) -> list[Message]:
    path = [leaf]
    while (parent := path[0].parent_id) is not None:
        path.insert(0, messages[parent])
    return path


def _check_turns(events: Sequence[Event]) -> None:
    """Turns do not overlap, each ends once, and so does that of every message; each question is resolved once."""
    running: str | None = None
    ended: set[str] = set()
    answered = True
    open_questions: set[str] = set()
    for event in events:
        match event:
            case MessageAdded(message) if message.role == "user":
                assert answered
                answered = False
            case TurnStarted():
                assert running in (None, event.turn_id)
                running = event.turn_id
            case TurnFinished():
                assert running == event.turn_id or (running is None and event.reason != "done")
                assert event.turn_id not in ended
                assert not open_questions
                running, answered = None, True
                ended.add(event.turn_id)
            case ApprovalRequested():
                open_questions.add(event.approval_id)
            case ApprovalResolved():
                open_questions.remove(event.approval_id)
            case _:
                pass
    assert running is None
    assert answered


def _tools() -> list[FakeTool]:
    return [
        FakeTool("read", parallel_safe=True),
        FakeTool("bash", permission="execute", readonly=False),
        FakeTool("web_search", provides=("web_search",)),
    ]


async def _run(folder: Path, program: Sequence[Act], end: str) -> None:
    async with opened(folder, tools=_tools(), mode="ask") as chats:
        chats.catalog.provider = Model()
        session_ids = [await chats.draft(), await chats.draft()]
        sent = await _play(chats, program, session_ids)
        if end == "rest":
            for session_id, texts in zip(session_ids, sent, strict=True):
                await _settle(chats, session_id)
                await _check(chats, session_id, texts)
        if end == "kill":
            folder = crashed(folder, folder / "after")
    async with opened(folder, tools=_tools(), mode="ask") as chats:
        chats.catalog.provider = Model()
        for session_id, texts in zip(session_ids, sent, strict=True):
            await _settle(chats, session_id)
            await _check(chats, session_id, texts)


def _failing_for_a_while(chats: Chats, first: int, length: int) -> None:
    """Refuse the commits number `first` up to `first + length`."""
    numbers = count()

    async def refuse(_events: object, _writes: object) -> None:
        if first <= next(numbers) < first + length:
            raise StorageError("the disk is full")

    chats.store.before_commit = refuse


async def _run_with_losses(folder: Path, program: Sequence[Act], first: int, length: int) -> None:
    async with opened(folder, tools=_tools(), mode="ask") as chats:
        chats.catalog.provider = Model()
        session_ids = [await chats.draft(), await chats.draft()]
        _failing_for_a_while(chats, first, length)
        sent = await _play(chats, program, session_ids)
        chats.store.before_commit = None
        for session_id, texts in zip(session_ids, sent, strict=True):
            await _settle(chats, session_id)
            await _check(chats, session_id, texts)


@settings(max_examples=25)
@given(st.lists(acts, min_size=1, max_size=14), st.integers(0, 25), st.integers(1, 12))
def test_any_program_survives_a_store_that_fails_for_a_while(program: list[Act], first: int, length: int) -> None:
    with tempfile.TemporaryDirectory() as folder:  # R4, P12, law 10
        asyncio.run(asyncio.wait_for(_run_with_losses(Path(folder), program, first, length), WAIT_S))


@settings(max_examples=25)
@given(st.lists(acts, min_size=1, max_size=14), st.sampled_from(("rest", "shutdown", "kill")))
def test_any_program_of_actions_loses_nothing_and_leaves_nothing_open(program: list[Act], end: str) -> None:
    with tempfile.TemporaryDirectory() as folder:  # P2, P3, P6, P7, P9, R1, law 7
        asyncio.run(asyncio.wait_for(_run(Path(folder), program, end), WAIT_S))
