"""A switch is stored as what the user wanted, through the whole program (spec tools.md T1, T5 to T8, T13; reports 2, 5,
9, 47)."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
import pytest_asyncio

from tests.support.conversation import Chat, call_block, log_of, sent, stored_log, texts
from tests.support.fake import FakeApi
from tests.support.server import Server, running_server
from tests.support.ws import WAIT_S, Client, Refused

pytestmark = pytest.mark.asyncio(loop_scope="session")

LATER = "tests.support.later_tool"


def config_row(server: Server, session_id: str) -> dict[str, Any]:
    """The chat's row of `session_config`, as the file has it."""
    with closing(sqlite3.connect(f"file:{server.database}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        row = db.execute("SELECT * FROM session_config WHERE session_id = ?", (session_id,)).fetchone()
    return dict(row)


async def test_a_fresh_chat_stores_intent_and_no_list(server: Server, client: Client) -> None:  # T1
    chat = await Chat.create(client, "openai")
    await chat.act("toggle_web_search", value=True)
    await chat.act("set_tools_profile", toolset="research")
    row = config_row(server, chat.id)
    assert (row.pop("session_id"), row.pop("web_search"), row.pop("toolset"), row.pop("revision")) == (
        chat.id,
        1,
        "research",
        2,
    )
    assert set(row) == {"enabled", "disabled", "picked", "allowed"}
    assert [value for value in row.values() if value not in (None, "[]")] == []


async def test_all_tools_is_no_list_either(server: Server, client: Client) -> None:  # T1
    chat = await Chat.create(client, "openai")
    await chat.act("set_tools_profile", toolset="full")
    await chat.act("set_tools_enabled", value=True)
    row = config_row(server, chat.id)
    assert (row["toolset"], row["enabled"], row["picked"], row["allowed"]) == ("full", 1, None, None)
    assert "web_fetch" in await chat.tool_names()


@pytest_asyncio.fixture(loop_scope="session")
async def later(tmp_path: Path, fake: FakeApi, wire: str) -> AsyncIterator[Server]:
    """A server that gets a tool while it runs."""
    async with running_server(tmp_path, fake, api=wire, program=LATER) as server:
        yield server


async def test_a_tool_registered_later_is_offered_at_the_next_turn(
    later: Server, fake: FakeApi, wire: str
) -> None:  # T5, T21, report 2
    async with later.client() as client:
        await client.subscribe(None)
        intents: tuple[tuple[str, dict[str, Any]], ...] = (
            ("set_tools_profile", {"toolset": "research"}),
            ("set_tools_enabled", {"value": True}),
            ("toggle_web_search", {"value": True}),
            ("set_tool_disabled", {"name": "grep", "value": True}),
            ("set_tools_profile", {"toolset": "full"}),
        )
        chats = [await Chat.create(client, wire) for _ in intents]
        for number, (chat, (action, fields)) in enumerate(zip(chats, intents, strict=True)):
            await chat.act(action, **fields)
            await fake.say("Yes.", match={"text": f"before {number}"})
            await chat.turn(f"before {number}")
        await fake.say("Still ", {"text": "here.", "hold": "h"}, match={"text": "during"})
        await chats[0].send("during")
        await chats[0].event("text_delta", text="Still ")
        os.kill(later.pid, signal.SIGUSR1)
        await client.frame("hint", hint="registry_changed")
        await fake.release("h")
        await chats[0].event("turn_finished")
        assert "weather" not in client.received(chats[0].id, "turn_started")[-1]["tools"]
        for number, chat in enumerate(chats):
            await fake.script(
                {"blocks": [call_block("weather", f"w{number}", town="Ulm")], "match": {"text": f"after {number}"}}
            )
            await fake.say("It rains.", match={"text": f"after {number}"})
            assert (await chat.turn(f"after {number}"))["reason"] == "done"
    requests = await sent(fake)
    for number in range(len(intents)):
        old = next(request for request in requests if f"before {number}" in request.text)
        new = [request for request in requests if f"after {number}" in request.text][-1]
        assert "weather" not in old.tool_names
        assert new.tool_names == [*old.tool_names, "weather"]
        assert new.system == old.system
        assert new.results == {f"w{number}": "It rains in Ulm."}


async def test_a_chat_of_an_older_program_has_the_tool_of_the_newer_one(tmp_path: Path, fake: FakeApi) -> None:  # T5
    async with running_server(tmp_path, fake) as server:
        async with server.client() as client:
            chat = await Chat.create(client, "openai")
            await chat.act("set_tools_profile", toolset="research")
            await fake.say("Yes.")
            await chat.turn("hello")
        await server.stop()
        server.program = LATER
        await server.start()
        os.kill(server.pid, signal.SIGUSR1)
        async with server.client() as client:
            chat = Chat(client, chat.id)
            while "weather" not in await chat.tool_names():
                continue
            os.kill(server.pid, signal.SIGUSR2)
            while "weather" in await chat.tool_names():  # and a tool that goes is gone as quickly
                continue


async def test_a_draft_takes_every_switch_and_keeps_it(server: Server, client: Client, fake: FakeApi) -> None:  # T6
    chat = await Chat.create(client, "openai")
    await chat.act("toggle_web_search", value=True)
    await chat.act("set_tool_disabled", name="bash", value=True)
    listed = (await client.send("list_sessions", limit=1000))["sessions"]
    assert chat.id not in [session["id"] for session in listed]
    async with server.client() as other:
        assert (await Chat(other, chat.id).snapshot())["intent"]["web_search"] is True
        await fake.say("Yes.")
        assert (await chat.turn("now it is a chat"))["reason"] == "done"
        again = await Chat(other, chat.id).snapshot()
    assert (again["intent"]["web_search"], again["intent"]["disabled"]) == (True, ["bash"])
    listed = (await client.send("list_sessions", limit=1000))["sessions"]
    assert chat.id in [session["id"] for session in listed]
    [request] = await sent(fake)
    assert "web_search" in request.tool_names
    assert "bash" not in request.tool_names


async def test_drafts_that_were_never_sent_and_old_ids_are_swept(tmp_path: Path, fake: FakeApi) -> None:  # T6, P5
    async with running_server(tmp_path, fake) as server:
        async with server.client() as client:
            old, new, kept = [await Chat.create(client, "openai") for _ in range(3)]
            await old.act("toggle_web_search", value=True)
            await fake.say("Yes.")
            await kept.turn("keep me")
        await server.stop()
        with closing(sqlite3.connect(server.database)) as db:
            db.execute("UPDATE sessions SET updated_at = '2020-01-01T00:00:00.000Z' WHERE id != ?", (new.id,))
            db.execute("UPDATE requests SET at = '2020-01-01T00:00:00.000Z'")
            db.commit()
        await server.start()
        async with server.client() as client:
            async with asyncio.timeout(WAIT_S):
                while await exists(Chat(client, old.id)):
                    continue
            assert await exists(Chat(client, new.id))
            assert texts((await Chat(client, kept.id).messages())[0]) == "keep me"
        with closing(sqlite3.connect(f"file:{server.database}?mode=ro", uri=True)) as db:
            assert db.execute("SELECT count(*) FROM requests").fetchone() == (0,)
            assert db.execute("SELECT count(*) FROM session_config").fetchone() == (0,)


async def exists(chat: Chat) -> bool:
    try:
        await chat.messages()
    except Refused as error:
        return error.code != "unknown_session"
    return True


async def test_a_toggle_moves_to_no_other_chat(server: Server, client: Client) -> None:  # T7, report 5
    one, two = await Chat.create(client, "openai"), await Chat.create(client, "openai")
    await one.act("toggle_web_search", value=True)
    await one.act("set_tools_profile", toolset="coding")
    three = await Chat.create(client, "openai")
    for chat in (two, three):
        assert (await chat.snapshot())["intent"] == {
            "enabled": None,
            "toolset": None,
            "web_search": None,
            "disabled": [],
            "picked": None,
            "allowed": None,
        }


async def test_two_tabs_that_change_things_at_once_agree(server: Server, client: Client) -> None:  # T8
    """Different fields both win, every revision happens once, and both tabs see the same in the same order."""
    async with server.client() as other:
        one = await Chat.create(client, "openai")
        two = await Chat.join(other, one.id)
        changes = [one.act("toggle_web_search", value=bool(number % 2)) for number in range(10)]
        changes += [two.act("set_tools_profile", toolset=("coding", "full")[number % 2]) for number in range(10)]
        changes += [two.act("set_tool_disabled", name=name, value=True) for name in ("bash", "grep", "glob")]
        acks = await asyncio.gather(*changes)
        newest = max(ack["revision"] for ack in acks)
        for chat in (one, two):
            await chat.event("intent_changed", revision=newest)
        first, second = (log_of(tab.frames, one.id) for tab in (client, other))
    assert first == second == stored_log(server.database, one.id)
    assert [frame["event"]["revision"] for frame in first[1:]] == list(range(1, newest + 1))
    assert first[-1]["event"]["intent"]["disabled"] == ["bash", "glob", "grep"]
    row = config_row(server, one.id)
    assert (orjson.loads(row["disabled"]), row["revision"]) == (["bash", "glob", "grep"], newest)


@pytest.mark.parametrize("override", [{"toolset": "nope"}, {"toolset": "nope", "web_search": True}])
async def test_an_override_with_an_unknown_preset_is_refused_and_nothing_is_stored(
    client: Client, fake: FakeApi, override: dict[str, Any]
) -> None:
    chat = await Chat.create(client, "openai")
    with pytest.raises(Refused) as refused:
        await chat.send("with what?", override=override)
    assert (refused.value.code, refused.value.frame["field"]) == ("unknown_preset", "override.toolset")
    assert await chat.messages() == []
    assert await sent(fake) == []


async def test_an_unknown_preset_in_force_keeps_the_message_and_starts_no_turn(
    client: Client, fake: FakeApi
) -> None:  # T13, report 47
    chat = await Chat.create(client, "openai")
    await client.send("save_preset", name="yesterdays", entries=["read"])
    await chat.act("set_tools_profile", toolset="yesterdays")
    await client.send("delete_preset", name="yesterdays")
    finished = await chat.turn("with what?")
    assert (finished["reason"], finished["error"]["code"]) == ("error", "unknown_preset")
    assert "research" in finished["error"]["hint"]
    assert client.received(chat.id, "turn_started") == []
    assert [texts(message) for message in await chat.messages()] == ["with what?"]
    assert await sent(fake) == []
    assert (await chat.act("toggle_web_search", value=True))["applies"] == "now"
    await chat.act("set_tools_profile", toolset=None)
    await fake.say("Better.")
    assert (await chat.turn("and now?"))["reason"] == "done"
