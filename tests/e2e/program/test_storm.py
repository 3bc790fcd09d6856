"""Several tabs do random things to the same chats, on both wire formats, and the server dies among it (R1, R24).

Whatever they did: no chat runs for ever, every acknowledged message is there once, every turn has one end and every
call one result, each command ran at most once, all replays are equal, and the endpoint never refused a request.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from websockets.exceptions import ConnectionClosed

from tests.support.conversation import WIRES, Chat, call_block, log_of, sent, stored_log, text_block, texts
from tests.support.fake import FakeApi
from tests.support.server import Server, running_server
from tests.support.ws import Client, Frame, Refused

pytestmark = pytest.mark.asyncio(loop_scope="session")

EXPECTED = {"busy", "bad_field"}
"""What may be refused: the chat is at work, or what a tab refers to has changed since."""


@dataclass
class Storm:
    """Random tabs. `said` are the acknowledged messages of each chat."""

    fake: FakeApi
    chats: list[str]
    mark: Path
    count: int = 0
    said: dict[str, list[str]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)

    async def tab(self, client: Client, seed: str, actions: int) -> None:
        """Do so many things, or until the server is gone."""
        chance = random.Random(seed)
        for chat_id in self.chats:
            await client.subscribe(chat_id)
        for _ in range(actions):
            try:
                await self.act(client, chance, Chat(client, chance.choice(self.chats)))
            except Refused as error:
                self.refused[error.code] += 1

    async def act(self, client: Client, chance: random.Random, chat: Chat) -> None:
        choices = ("say", "stop", "continue", "branch", "switch", "mode", "answer", "queue", "look")
        match chance.choices(choices, (10, 3, 2, 4, 6, 1, 8, 1, 1))[0]:
            case "say":
                await self.say(chance, chat)
            case "stop":
                await chat.act("stop")
            case "continue":
                await chat.act("continue_turn")
            case "branch":
                await self.branch(chance, chat)
            case "switch":
                await self.switch(chance, chat)
            case "mode":
                await chat.act("set_permission_mode", mode=chance.choice(["auto", "ask", "accept_edits"]))
            case "answer":
                await self.answer(client, chance, chat)
            case "queue":
                changed = client.received(chat.id, "queue_changed")
                for waiting in changed[-1]["queue"][:1] if changed else []:
                    await chat.act("edit_queue", queued_id=waiting["id"], text=waiting["text"] + " (edited)")
            case _:
                await client.subscribe(chat.id, snapshot=chance.random() < 0.5)

    async def say(self, chance: random.Random, chat: Chat) -> None:
        text = await self.scripted(chance)
        await chat.send(text, mode=chance.choice(["send", "steer", "queue"]))
        self.said.setdefault(chat.id, []).append(text)

    async def scripted(self, chance: random.Random) -> str:
        """A message, and what the model will answer to it."""
        self.count += 1
        text, number = f"message <{self.count}>", self.count
        append = call_block("bash", command=f"echo {number} >> {self.mark}; sleep 0.{chance.randrange(3)}")
        faults = ("cut", "drop", "bad_json", "unauthorised", "context_too_long")
        answers: list[dict[str, Any]] = [
            {"blocks": [text_block("Said.")]},
            {"blocks": [text_block("I run it."), append]},
            {"blocks": [call_block("list"), append, call_block("web_search", query="tides")]},
            {"blocks": [text_block(*["word "] * 40)], "rate": 200},
            {"blocks": [text_block("a ", "b ", "c ")], "fault": {"kind": chance.choice(faults), "after": 2}},
        ]
        await self.fake.script(chance.choice(answers) | {"match": {"text": text}})
        return text

    async def branch(self, chance: random.Random, chat: Chat) -> None:
        messages = await chat.messages()
        if not messages:
            return
        chosen = chance.choice(messages)
        match chance.choice(["edit", "regenerate", "select"]):
            case "edit":
                text = await self.scripted(chance)
                await chat.act("edit_message", message_id=chosen["id"], text=text)
                self.said.setdefault(chat.id, []).append(text)
            case "regenerate":
                await chat.act("regenerate", message_id=chosen["id"])
            case _:
                await chat.act("select_branch", message_id=chosen["id"])

    async def switch(self, chance: random.Random, chat: Chat) -> None:
        match chance.choice(["chip", "preset", "tool"]):
            case "chip":
                await chat.act("toggle_web_search", value=chance.choice([True, False, None]))
            case "preset":
                await chat.act("set_tools_profile", toolset=chance.choice(["full", "coding", "safe", "none", None]))
            case _:
                await chat.act("set_tool_disabled", name=chance.choice(["bash", "list"]), value=chance.random() < 0.4)

    async def answer(self, client: Client, chance: random.Random, chat: Chat) -> None:
        resolved = {event["approval_id"] for event in client.received(chat.id, "approval_resolved")}
        asked = [event["approval_id"] for event in client.received(chat.id, "approval_requested")]
        for approval_id in [each for each in asked if each not in resolved][:1]:
            decision = chance.choice(["once", "session", "deny"])
            await chat.act("answer_approval", approval_id=approval_id, decision=decision)


@pytest_asyncio.fixture(loop_scope="session")
async def own(tmp_path: Path, fake: FakeApi) -> AsyncIterator[Server]:
    search = {"SEARXNG_URL": fake.base_url}
    async with running_server(tmp_path, fake, api="both", environment=search) as server:
        yield server


@pytest.mark.moves("its tabs edit messages and have them answered again")
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_storm_breaks_no_law(own: Server, fake: FakeApi, tmp_path: Path, seed: int) -> None:
    async with own.client() as client:
        chats = [(await Chat.create(client, wire)).id for wire in WIRES * 2]
    storm = Storm(fake, chats, tmp_path / "ran")
    for around, actions in enumerate((40, 60)):
        async with own.client() as one, own.client() as two, own.client() as three:
            tabs = [storm.tab(tab, f"{seed} {around} {at}", actions) for at, tab in enumerate((one, two, three))]
            running = asyncio.gather(*tabs, return_exceptions=True)
            if around == 0:
                await until_seen(one, 150)
                await own.kill()
            for ended in await running:
                assert isinstance(ended, None | ConnectionClosed | AssertionError), ended
                assert around == 0 or ended is None, ended
        if around == 0:
            await own.start()
    assert set(storm.refused) <= EXPECTED, storm.refused
    for chat_id in chats:
        async with own.client() as client:
            await at_rest(Chat(client, chat_id))
        assert_lawful(stored_log(own.database, chat_id), storm.said.get(chat_id, []))
    requests = await sent(fake)
    await fake.reset()  # what was scripted and not asked for
    for chat_id in chats:
        async with own.client() as client:
            await goes_on(Chat(client, chat_id), own, fake)
    for request in [*requests, *await sent(fake)]:
        assert list(request.results) == request.calls
    lines = storm.mark.read_text().split() if storm.mark.exists() else []
    assert len(set(lines)) == len(lines)
    assert "Traceback" not in own.log


async def until_seen(client: Client, count: int) -> None:
    """Wait until a tab has had so many frames."""
    while len(client.frames) < count:
        await client.send("ping")


async def at_rest(chat: Chat) -> None:
    """Stop what runs or waits, and take what waits out of the queue."""
    await chat.act("stop")  # a run that goes on to its next turn is at rest for a moment too
    while True:
        state = await chat.snapshot()
        if state["status"] == "idle" and not state["queue"]:
            return
        with suppress(Refused):  # it may have been sent since
            for waiting in state["queue"]:
                await chat.act("edit_queue", queued_id=waiting["id"], text=None)
        await chat.act("stop")


def assert_lawful(log: list[Frame], said: Iterable[str]) -> None:
    events = [frame["event"] for frame in log_of(log, log[0]["session_id"])]
    messages = [event["message"] for event in events if event["type"] == "message_added"]
    sent_once = Counter(texts(message).removesuffix(" (edited)") for message in messages if message["role"] == "user")
    sent_once.update(left_the_queue_unsent(events, sent_once))
    assert [text for text in said if sent_once[text] != 1] == []
    ends = Counter(event["turn_id"] for event in events if event["type"] == "turn_finished")
    assert set(ends.values()) <= {1}
    assert {event["turn_id"] for event in events if event["type"] == "turn_started"} <= set(ends)
    blocks = [block for message in messages for block in message["blocks"]]
    calls, results = (
        Counter(block["call_id"] for block in blocks if block["type"] == kind) for kind in ("tool_use", "tool_result")
    )
    assert calls == results
    assert set(calls.values()) <= {1}


def left_the_queue_unsent(events: Iterable[Frame], sent_messages: Counter[str]) -> set[str]:
    """What waited and was taken out, by `at_rest`."""
    waited = {
        waiting["text"].replace(" (edited)", "")
        for event in events
        if event["type"] == "queue_changed"
        for waiting in event["queue"]
    }
    return waited - set(sent_messages)


async def goes_on(chat: Chat, server: Server, fake: FakeApi) -> None:
    await fake.say("The end.", match={"text": "last words"})
    await chat.act("set_tools_profile", toolset=None)
    log = stored_log(server.database, chat.id)
    await chat.client.subscribe(chat.id, log[-1]["seq"])
    assert (await chat.turn("last words"))["reason"] == "done"
    assert texts((await chat.messages())[-1]) == "The end."
    log = stored_log(server.database, chat.id)
    start = len(chat.client.frames)
    await chat.client.subscribe(chat.id)
    if len(log) < 2000:
        assert await chat.client.until(chat.id, len(log), start) == log
