"""Acks and events over real sockets (spec protocol.md P1, P2, P4, P5, P10, P11; reports 24, 26, 28)."""

import asyncio
import uuid
from pathlib import Path

import orjson
import pytest

from tests.support.conversation import Chat, call_block, log_of, sent, stored_log, text_block, texts
from tests.support.fake import FakeApi
from tests.support.quick import QUICK
from tests.support.server import Server, running_server
from tests.support.ws import Client, Frame, Refused

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_intents_are_acknowledged_while_turns_run_and_reach_the_other_tab(
    server: Server, client: Client, fake: FakeApi, wire: str
) -> None:  # P1: nothing that the model does is waited for
    await fake.say("A ", {"text": "b", "hold": "a"}, match={"text": "held"})
    await fake.script({"blocks": [text_block(*["word "] * 40_000)], "rate": 400, "match": {"text": "flood"}})
    async with server.client() as other:
        chat, flood = await Chat.create(client, wire), await Chat.create(client, wire)
        tab = await Chat.join(other, chat.id)
        await flood.send("flood")
        await chat.send("held")
        await chat.event("text_delta")
        await flood.event("text_delta")
        await fake.wait(held="a")
        for revision, value in enumerate((True, False, True, False), 1):
            assert (await chat.act("toggle_web_search", value=value))["revision"] == revision
            assert (await tab.event("intent_changed"))["revision"] == revision
        await chat.act("explain_tools")
        await other.send("ping")
        assert [event["held"] for event in (await fake.state())["open"] if event["held"]] == ["a"]
        assert client.received(flood.id, "turn_finished") == []
        await flood.act("stop")
        await fake.release("a")
        assert (await chat.event("turn_finished"))["reason"] == "done"
        assert (await flood.event("turn_finished"))["reason"] == "stopped"


async def test_a_replay_from_every_seq_is_the_rest_of_the_log(
    server: Server, client: Client, fake: FakeApi, wire: str
) -> None:  # P2
    await fake.script({"blocks": [text_block("I ", "look."), call_block("list", "call_1")]})
    await fake.say("There ", "it ", "is.")
    chat = await Chat.create(client, wire)
    await chat.act("toggle_web_search", value=True)
    await chat.turn("look")
    log = stored_log(server.database, chat.id)
    assert log_of(client.frames, chat.id) == log
    async with server.client() as other:
        for after in range(len(log)):
            start = len(other.frames)
            assert (await other.subscribe(chat.id, after))["seq"] == log[-1]["seq"]
            assert await other.until(chat.id, len(log), start) == log[after:]
        start = len(other.frames)
        await other.subscribe(chat.id, len(log))
        await other.send("ping")
        kinds = [frame["type"] for frame in other.frames[start:] if frame["type"] != "ping"]  # the server's own
        assert kinds == ["ack", "pong"]


async def test_a_tab_that_joins_at_any_moment_of_a_stream_sees_each_event_once(
    server: Server, client: Client, fake: FakeApi, wire: str
) -> None:  # P2, reports 24 and 26
    words = [f"word{number} " for number in range(300)]
    await fake.script({"blocks": [text_block(*words)], "rate": 600})
    chat = await Chat.create(client, wire)
    await chat.send("talk")
    await chat.event("text_delta")
    async with server.client() as second, server.client() as third:
        while not client.received(chat.id, "turn_finished"):
            newest = log_of(client.frames, chat.id)[-1]["seq"]
            for tab in (second, third):
                await tab.subscribe(chat.id, newest)
                await tab.until(chat.id, newest + 1)
        assert client.text(chat.id) == "".join(words)
        log = stored_log(server.database, chat.id)
        for tab in (client, second, third):
            start = len(tab.frames)
            await tab.subscribe(chat.id, 0)
            assert await tab.until(chat.id, len(log), start) == log
        for tab in (second, third):  # whatever was repeated between two subscriptions was repeated word for word
            frames = [frame for frame in tab.frames if frame["type"] == "event"]
            assert all(frame == log[frame["seq"] - 1] for frame in frames)


async def test_text_is_joined_before_the_log_and_each_flush_is_one_event_for_all(
    server: Server, client: Client, fake: FakeApi, wire: str
) -> None:  # P4
    words = [f"{number} " for number in range(1000)]
    await fake.script({"blocks": [text_block("First ", {"text": words[0], "hold": "rest"}, *words[1:])]})
    async with server.client() as other:
        chat = await Chat.create(client, wire)
        await other.subscribe(chat.id)
        await chat.send("count")
        first = await chat.event("text_delta")
        assert first["text"] == "First "  # at once: nothing else of the block is there yet
        await fake.release("rest")
        await chat.event("turn_finished")
        log = stored_log(server.database, chat.id)
        assert log_of(client.frames, chat.id) == log
        assert await other.until(chat.id, len(log)) == log
    deltas = [frame["event"] for frame in log if frame["event"]["type"] == "text_delta"]
    assert "".join(delta["text"] for delta in deltas) == "First " + "".join(words)
    assert len(deltas) < len(words) / 2
    assert texts((await chat.messages())[-1]) == "First " + "".join(words)


async def test_an_id_that_comes_again_has_one_effect_and_equal_acks(
    server: Server, client: Client, fake: FakeApi
) -> None:  # P5, report 28: double click, another tab, a resend after an answer was lost
    await fake.say("Once.", times=9)
    frame = {"action": "chat", "id": f"c_{uuid.uuid4().hex}", "session_id": None, "text": "only once"}
    text = orjson.dumps(frame).decode()
    async with server.client() as other:
        for _ in range(3):
            await client.send_raw(text)
            await other.send_raw(text)
        acks = [await tab.answer(str(frame["id"])) for tab in (client, other) for _ in range(3)]
        assert all(ack == acks[0] for ack in acks)
        chat = await Chat.join(other, acks[0]["session_id"])
        assert (await chat.event("turn_finished"))["reason"] == "done"
        assert [message["role"] for message in await chat.messages() if message["role"] != "notice"] == [
            "user",
            "assistant",
        ]
    assert len(await sent(fake)) == 1


async def test_an_id_that_was_used_for_something_else_is_a_conflict(client: Client) -> None:  # P5
    chat = await Chat.create(client, "openai")
    used = f"c_{uuid.uuid4().hex}"
    ack = await chat.act("toggle_web_search", value=True, id=used)
    for action, fields in (("toggle_web_search", {"value": False}), ("set_tools_profile", {"toolset": "full"})):
        with pytest.raises(Refused, match="id_conflict"):
            await chat.act(action, id=used, **fields)
    assert await chat.act("toggle_web_search", value=True, id=used) == ack
    with pytest.raises(Refused, match="unknown_preset"):
        await chat.act("set_tools_profile", toolset="nope", id=f"{used}x")
    assert (await chat.act("set_tools_profile", toolset="full", id=f"{used}x"))["revision"] == 2  # it had failed


async def test_a_setting_that_is_sent_again_does_not_undo_a_newer_one(client: Client) -> None:  # P5
    first = {"key": "new_chats", "value": {"mode": "last_used", "intent": {}}, "id": f"c_{uuid.uuid4().hex}"}
    await client.send("set_setting", **first)
    await client.send("set_setting", key="new_chats", value=None)
    await client.send("set_setting", **first)
    settings = (await client.send("get_settings"))["settings"]
    assert settings["new_chats"]["mode"] == "follow_profile"


async def test_the_server_pings_by_itself(tmp_path: Path, fake: FakeApi) -> None:  # P10, report 25
    async with running_server(tmp_path, fake, program=QUICK) as server, server.client() as client:
        for _ in range(2):
            frame = await client.frame("ping")
            assert set(frame) == {"type", "at"}


async def test_eight_chats_in_two_tabs_each_are_the_same_in_every_replay(server: Server, fake: FakeApi) -> None:
    """P2, P11: concurrent chats share sockets, and one slow reader among them."""
    async with server.client() as one, server.client() as two:
        chats = [await Chat.create(one, wire, mode="auto") for wire in ("openai", "anthropic") * 4]
        for number, chat in enumerate(chats):
            await two.subscribe(chat.id)
            said = {"match": {"text": f"chat {number}."}}
            words = [f"{number}.{word} " for word in range(60)]
            call = call_block("bash", f"call_{number}", command=f"echo {number}")
            await fake.script({"blocks": [text_block(*words), call], "rate": 200, **said})
            await fake.script({"blocks": [text_block(*words)], "rate": 200, **said})
        tabs = [Chat(two if number % 2 else one, chat.id) for number, chat in enumerate(chats)]
        await asyncio.gather(*(tab.send(f"chat {number}.") for number, tab in enumerate(tabs)))
        toggles = [chat.act("toggle_web_search", value=True) for chat in chats]
        await asyncio.gather(*toggles)
        for chat in chats:
            assert (await chat.event("turn_finished"))["reason"] == "done"
        for chat in chats:
            log = stored_log(server.database, chat.id)
            assert await one.until(chat.id, len(log)) == log
            assert await two.until(chat.id, len(log)) == log
            for tab in (one, two):
                start = len(tab.frames)
                await tab.subscribe(chat.id)
                replay: list[Frame] = await tab.until(chat.id, len(log), start)
                assert replay == log
    assert len(await sent(fake)) == 2 * len(chats)
