"""Messages from chat to chat: marked, asked for, bounded, never to oneself or a stranger's chat (R12, R17)."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from openprogram.core.asking import ApprovalRequested
from openprogram.core.chats import MAX_DEPTH, PER_TURN, Sender
from openprogram.core.events import MessageAdded, QueueChanged, TurnFinished
from openprogram.core.messages import Message
from openprogram.core.prompt import ProviderEvent, ProviderRequest
from openprogram.tools.builtin.chats import list_sessions, send_message
from openprogram.tools.registry import Registry
from tests.support.script import Gate, Script, ScriptedProvider, assert_paired, call, say, use
from tests.support.sessions import Chats, opened
from tests.support.ws import WAIT_S


class Cast(ScriptedProvider):
    """Answers each chat with its own scripts, by the chat's first message; then with `Fine.`"""

    def __init__(self, **parts: list[Script]) -> None:
        super().__init__()
        self.parts = parts

    @override
    async def stream(self, request: ProviderRequest) -> AsyncIterator[ProviderEvent]:
        first = next(message.text for message in request.messages if message.role == "user")
        waiting = self.parts.get(first, [])
        self.scripts.insert(0, waiting.pop(0) if waiting else say("Fine."))
        async for event in super().stream(request):
            yield event


def _registry() -> Registry:
    registry = Registry()
    registry.put("builtin", [list_sessions, send_message])
    return registry


def _to(session_id: str, text: str = "hello there", call_id: str | None = None) -> Script:
    return call(use("send_message", call_id, session_id=session_id, text=text))


async def _results(chats: Chats, session_id: str) -> list[str]:
    branch = await chats.branch(session_id)
    assert_paired(branch)
    return [result.content[0].text for message in branch for result in message.results]


async def _received(chats: Chats, session_id: str, number: int) -> Message:
    """The n-th user message of a chat, once it is there."""
    while True:
        added = await chats.of(session_id, MessageAdded)
        said = [event.message for event in added if event.message.role == "user"]
        if len(said) >= number:
            return said[number - 1]
        await chats.until(session_id, MessageAdded, len(added) + 1)


async def test_a_message_begins_a_turn_there_and_says_where_it_comes_from(tmp_path: Path) -> None:
    async with opened(tmp_path, registry=_registry()) as chats:
        chats.catalog.provider = provider = Cast()
        there = await chats.said("target")
        provider.parts["source"] = [_to(there), say("I told them.")]
        here = await chats.said("source")
        assert await _results(chats, here) == ["Sent to 'target'. A turn has begun there."]
        await chats.until(there, TurnFinished, 2)
        received = await _received(chats, there, 2)
        assert received.sender == Sender(here, "source", 1)
        assert received.text == (
            f"[From the assistant of the chat “source” ({here}), not typed by the user]\n\nhello there"
        )
        assert (await chats.texts(there))[-1] == "assistant: Fine."
        assert (await _received(chats, here, 1)).sender is None


async def test_while_a_turn_runs_there_the_message_waits_in_its_queue(tmp_path: Path) -> None:  # P6
    gate = Gate()
    async with opened(tmp_path, registry=_registry()) as chats:
        chats.catalog.provider = provider = Cast(target=[(gate, *say("At last."))])
        there = (await chats.say("target")).session_id
        await gate.reached()
        provider.parts["source"] = [_to(there), say("I told them.")]
        here = await chats.said("source")
        assert await _results(chats, here) == ["Sent to 'target'. It waits for the turn that runs there."]
        (waiting,) = (await chats.of(there, QueueChanged))[-1].queue
        assert waiting.sender == Sender(here, "source", 1)
        gate.open()
        await chats.until(there, TurnFinished, 2)
        assert (await _received(chats, there, 2)).sender == waiting.sender


async def test_the_list_has_every_other_chat_and_no_draft_no_deleted_no_strangers(tmp_path: Path) -> None:  # R12
    async with opened(tmp_path, registry=_registry()) as chats:
        chats.catalog.provider = provider = Cast()
        one, gone = await chats.said("one"), await chats.said("gone")
        await chats.do("delete_session", session_id=gone)
        await chats.draft()
        theirs = await chats.do("chat", user="u_bob", session_id=None, text="bob's")
        provider.parts["source"] = [call(use("list_sessions")), say("Done.")]
        (listed,) = await _results(chats, await chats.said("source"))
        assert listed == f"{one} idle, last active 2026-01-01T12:00: one"
        assert theirs.id


@pytest.mark.parametrize("target", ["itself", "nobody", "a stranger", "deleted", "draft"])
async def test_what_is_no_other_chat_of_the_user_gets_nothing(tmp_path: Path, target: str) -> None:  # R12
    async with opened(tmp_path, registry=_registry()) as chats:
        chats.catalog.provider = provider = Cast()
        gone = await chats.said("gone")
        await chats.do("delete_session", session_id=gone)
        stranger: Any = await chats.do("chat", user="u_bob", session_id=None, text="bob's")
        draft = await chats.draft()
        here = await chats.said("source")
        ids = {"itself": here, "nobody": "s_none", "a stranger": stranger.session_id, "deleted": gone, "draft": draft}
        before = len(await chats.log(ids[target]))
        provider.parts["source"] = [_to(ids[target]), say("Pity.")]
        await chats.said("again", here)
        (result,) = await _results(chats, here)
        assert ("to itself" if target == "itself" else "has no chat") in result
        if target != "itself":
            assert len(await chats.log(ids[target])) == before


async def test_in_mode_ask_a_person_is_asked_first(tmp_path: Path) -> None:  # R17
    async with opened(tmp_path, registry=_registry(), mode="ask") as chats:
        chats.catalog.provider = provider = Cast()
        there = await chats.said("target")
        provider.parts["source"] = [_to(there), say("All right.")]
        here = (await chats.say("source")).session_id
        asked = await chats.until(here, ApprovalRequested)
        assert asked.preview == f"To: target ({there})\n\nhello there"
        await chats.do("answer_approval", session_id=here, approval_id=asked.approval_id, decision="deny")
        await chats.until(here, TurnFinished)
        assert len(await chats.of(there, TurnFinished)) == 1


async def test_two_chats_that_answer_each_other_come_to_an_end(tmp_path: Path) -> None:
    async with opened(tmp_path, registry=_registry()) as chats:
        chats.catalog.provider = provider = Cast()
        one, two = await chats.said("one"), await chats.said("two")
        for chat, other in (("one", two), ("two", one)):
            provider.parts[chat] = [script for _ in range(10) for script in (_to(other, "and you?"), say("Told."))]
        await chats.said("begin", one)
        await chats.until(two, TurnFinished, 3)
        await chats.rest(two)
        passed = [message for chat in (one, two) for message in await chats.branch(chat) if message.sender]
        assert sorted(message.sender.depth for message in passed if message.sender) == [1, 2, 3]
        assert f"{MAX_DEPTH} chats in a row" in (await _results(chats, two))[-1]
        assert len(await chats.of(one, TurnFinished)) == 3
        await chats.said("go on", two)  # a person's word begins a new chain
        await chats.until(one, TurnFinished, 4)


async def test_a_turn_sends_so_many_messages_and_no_more(tmp_path: Path) -> None:
    async with opened(tmp_path, registry=_registry()) as chats:
        chats.catalog.provider = provider = Cast()
        there = await chats.said("target")
        provider.parts["source"] = [*(_to(there) for _ in range(PER_TURN + 1)), say("Done.")]
        results = await _results(chats, await chats.said("source"))
        assert [result.startswith("Sent") for result in results] == [True] * PER_TURN + [False]
        assert f"at most {PER_TURN} messages" in results[-1]
        await chats.rest(there)


async def test_a_message_that_was_sent_is_there_after_a_restart_with_its_sender(tmp_path: Path) -> None:  # R1
    async with opened(tmp_path, registry=_registry()) as chats:
        chats.catalog.provider = provider = Cast()
        there = await chats.said("target")
        provider.parts["source"] = [_to(there), say("I told them.")]
        here = await chats.said("source")
        await chats.until(there, TurnFinished, 2)
    async with opened(tmp_path, registry=_registry()) as chats:
        senders = [message.sender for message in await chats.branch(there) if message.role == "user"]
        assert senders == [None, Sender(here, "source", 1)]


async def test_two_chats_that_send_to_each_other_can_be_stopped_at_once(tmp_path: Path) -> None:  # P7
    asked, sending = {"one": Gate(), "two": Gate()}, Gate()
    both, under_way = asyncio.Event(), 0

    async def on_the_way() -> None:
        nonlocal under_way
        under_way += 1
        if under_way == 2:
            both.set()
        await sending.wait()

    async with opened(tmp_path, registry=_registry()) as chats:
        chats.catalog.provider = provider = Cast()
        ids = {name: await chats.said(name) for name in asked}
        for name, other in (("one", "two"), ("two", "one")):
            provider.parts[name] = [(asked[name], *_to(ids[other]))]
            await chats.say("begin", ids[name])
            await asked[name].reached()
        chats.store.after_queue = on_the_way
        for gate in asked.values():
            gate.open()
        await both.wait()
        await asyncio.gather(*(chats.do("stop", session_id=session_id) for session_id in ids.values()))
        chats.store.after_queue = None
        sending.open()
        async with asyncio.timeout(WAIT_S):
            ends = [await chats.until(session_id, TurnFinished, 2) for session_id in ids.values()]
            for session_id in ids.values():
                await chats.rest(session_id)
        assert [end.reason for end in ends] == ["stopped", "stopped"]
        for session_id in ids.values():  # what was not sent when the stop came is not sent after it
            assert [message for message in await chats.branch(session_id) if message.sender] == []
            assert len(await chats.of(session_id, TurnFinished)) == 2
