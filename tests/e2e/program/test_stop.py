"""Stop, wherever a turn is (spec protocol.md P6, P7, P9; reports 30 to 33).

After each: the endpoint's stream is closed, nothing of a command runs on, what was shown is kept and in the history,
and the next message works, with every call paired.
"""

import asyncio
from pathlib import Path

import pytest

from tests.support.conversation import Chat, call_block, sent, text_block, texts
from tests.support.crash import gone
from tests.support.fake import FakeApi
from tests.support.server import Server, running_server
from tests.support.ws import Client, Refused

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def stopped(chat: Chat) -> None:
    """Stop, and wait until the turn says so."""
    await chat.act("stop")
    assert (await chat.event("turn_finished"))["reason"] == "stopped"


async def goes_on(chat: Chat, fake: FakeApi) -> str:
    """Send one more message; returns the text of the request that carried it."""
    await fake.say("Yes.", match={"text": "and now?"})
    assert (await chat.turn("and now?"))["reason"] == "done"
    state = await chat.snapshot()
    assert (state["status"], state["turn_id"], state["queue"]) == ("idle", None, [])
    last = (await sent(fake))[-1]
    assert list(last.results) == last.calls
    return last.text


async def test_in_mid_stream_the_text_is_kept_and_the_stream_closed(client: Client, fake: FakeApi, wire: str) -> None:
    await fake.say("Half ", {"text": "of it", "hold": "h"})
    chat = await Chat.create(client, wire)
    await chat.send("hello")
    await chat.event("text_delta")
    await stopped(chat)
    await fake.wait_closed()
    answer = (await chat.messages())[-1]
    assert (answer["role"], answer["status"], texts(answer)) == ("assistant", "stopped", "Half ")
    assert "Half " in await goes_on(chat, fake)


async def test_before_the_first_token_the_chat_and_its_message_stay(client: Client, fake: FakeApi, wire: str) -> None:
    await fake.say("never", hold="start")
    chat = await Chat.create(client, wire)
    await chat.send("hello")
    await fake.wait(held="start")
    await stopped(chat)
    await fake.wait_closed()
    assert texts((await chat.messages())[0]) == "hello"
    listed = (await client.send("list_sessions", limit=1000))["sessions"]
    assert [session["status"] for session in listed if session["id"] == chat.id] == ["idle"]
    assert "hello" in await goes_on(chat, fake)


async def test_a_stop_right_behind_the_message_ends_its_turn(client: Client, fake: FakeApi, wire: str) -> None:
    await fake.say("never", hold="start")
    chat = await Chat.create(client, wire)
    await client.post("chat", session_id=chat.id, text="hello")
    await stopped(chat)
    await fake.reset()
    assert "hello" in await goes_on(chat, fake)


async def test_a_running_command_ends_with_all_that_it_started(client: Client, fake: FakeApi, wire: str) -> None:
    command = "sleep 300 & echo $$ $!; setsid sleep 300 & echo $!; wait"
    await fake.script({"blocks": [text_block("I run it."), call_block("bash", "call_1", command=command)]})
    chat = await Chat.create(client, wire, mode="auto")
    await chat.send("run it")
    output = ""
    while len(output.split()) < 3:
        output += (await chat.event("tool_output_delta"))["text"]
    await stopped(chat)
    for pid in map(int, output.split()):
        await gone(pid)
    [result] = (await chat.messages())[-1]["blocks"]
    assert (result["call_id"], result["status"]) == ("call_1", "stopped")
    assert "Stopped by the user" in await goes_on(chat, fake)


async def test_of_several_calls_those_that_never_began_do_not_run(
    client: Client, fake: FakeApi, tmp_path: Path, wire: str
) -> None:
    mark = tmp_path / "ran"
    calls = [call_block("bash", "call_1", command="echo now; sleep 300")]
    calls += [call_block("bash", f"call_{number}", command=f"echo {number} >> {mark}") for number in (2, 3)]
    await fake.script({"blocks": calls})
    chat = await Chat.create(client, wire, mode="auto")
    await chat.send("run them")
    await chat.event("tool_output_delta")
    await stopped(chat)
    assert [block["status"] for block in (await chat.messages())[-1]["blocks"]] == ["stopped"] * 3
    await goes_on(chat, fake)
    assert not mark.exists()


async def test_an_open_question_goes_away_in_every_tab(
    server: Server, client: Client, fake: FakeApi, tmp_path: Path, wire: str
) -> None:  # P9, report 30
    mark = tmp_path / "ran"
    await fake.script({"blocks": [call_block("bash", "call_1", command=f"echo ran >> {mark}")]})
    async with server.client() as other:
        chat = await Chat.create(client, wire)
        tab = await Chat.join(other, chat.id)
        await chat.send("run it")
        asked = await tab.event("approval_requested")
        await stopped(chat)
        assert (await tab.event("approval_resolved"))["decision"] is None
        with pytest.raises(Refused) as refused:
            await tab.act("answer_approval", approval_id=asked["approval_id"], decision="once")
        assert (refused.value.code, refused.value.frame["field"]) == ("bad_field", "approval_id")
        assert (await tab.snapshot())["approvals"] == []
    await goes_on(chat, fake)
    assert not mark.exists()


async def test_an_approval_is_answered_once_however_many_tabs_do(
    server: Server, client: Client, fake: FakeApi, tmp_path: Path, wire: str
) -> None:  # P9, report 30
    mark = tmp_path / "ran"
    await fake.script({"blocks": [call_block("bash", "call_1", command=f"echo ran >> {mark}")]})
    await fake.say("Done.")
    async with server.client() as other:
        chat = await Chat.create(client, wire)
        tab = await Chat.join(other, chat.id)
        await chat.send("run it")
        asked = (await tab.event("approval_requested"))["approval_id"]
        answers = [each.act("answer_approval", approval_id=asked, decision="once") for each in (chat, tab) * 3]
        outcomes = await asyncio.gather(*answers, return_exceptions=True)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Refused"] * 5 + ["dict"]
        assert (await tab.event("turn_finished"))["reason"] == "done"
    assert mark.read_text() == "ran\n"
    assert [event["decision"] for event in client.received(chat.id, "approval_resolved")] == ["once"]


async def test_during_the_wait_before_a_retry(client: Client, fake: FakeApi, wire: str) -> None:
    await fake.script({"fault": {"kind": "rate_limit", "retry_after": 50}, "match": {"text": "hello"}})
    chat = await Chat.create(client, wire)
    await chat.send("hello")
    assert (await chat.event("notice"))["code"] == "retry"
    await stopped(chat)
    await goes_on(chat, fake)


async def test_what_waits_stays_in_the_queue_and_is_sent_once(client: Client, fake: FakeApi, wire: str) -> None:
    """P6, report 33."""
    await fake.say("Half ", {"text": "of it", "hold": "h"})
    chat = await Chat.create(client, wire)
    await chat.send("hello")
    await chat.event("text_delta")
    queued = [await chat.send("second"), await chat.send("third", mode="queue"), await chat.send("first", mode="steer")]
    assert all(ack["queued"] for ack in queued)
    await chat.act("edit_queue", queued_id=queued[1]["message_id"], text="third, edited")
    await stopped(chat)
    assert [waiting["text"] for waiting in (await chat.snapshot())["queue"]] == ["second", "third, edited", "first"]
    for _ in range(4):
        await fake.say("Yes.")
    await chat.send("go on")
    for _ in range(4):
        assert (await chat.event("turn_finished"))["reason"] == "done"
    said = [texts(message) for message in await chat.messages() if message["role"] == "user"]
    assert said == ["hello", "first", "second", "third, edited", "go on"]
    assert (await chat.snapshot())["queue"] == []


async def test_a_message_for_a_turn_that_is_just_ending_is_never_lost(
    client: Client, fake: FakeApi, wire: str
) -> None:  # report 33: at once with the end, with stop, and steered at the last moment
    chat = await Chat.create(client, wire)
    expected = []
    for number in range(8):
        await fake.say("Yes.", times=3)
        mode = ("send", "steer", "queue")[number % 3]
        await client.post("chat", session_id=chat.id, text=f"{number} a")
        if number % 2:
            await client.post("stop", session_id=chat.id)
        await chat.send(f"{number} b", mode=mode)
        expected += [f"{number} a", f"{number} b"]
        await settled(chat)
        while (await chat.snapshot())["queue"]:
            await chat.send(f"{number} c")
            expected.append(f"{number} c")
            await settled(chat)
    said = [texts(message) for message in await chat.messages() if message["role"] == "user"]
    assert sorted(said) == sorted(expected)
    requests = await sent(fake)
    assert all(list(request.results) == request.calls for request in requests)


async def settled(chat: Chat) -> None:
    """Wait until no turn runs."""
    while (await chat.snapshot())["status"] != "idle":
        continue


async def test_the_sidebar_hears_that_it_is_over(client: Client, fake: FakeApi) -> None:
    await fake.say("Half ", {"text": "of it", "hold": "h"})
    await client.subscribe(None)
    chat = await Chat.create(client, "openai")
    await chat.send("hello")
    assert (await client.hint(chat.id, title="hello"))["status"] == "running"
    await chat.event("text_delta")
    await stopped(chat)
    await client.send("rename_session", session_id=chat.id, title="Renamed")
    assert (await client.hint(chat.id, title="Renamed"))["status"] == "idle"


async def test_a_plug_in_that_never_ends_holds_up_neither_stop_nor_the_servers_end(
    tmp_path: Path, fake: FakeApi
) -> None:  # P7
    async with running_server(tmp_path, fake, program="tests.support.deaf_tool") as server:
        async with server.client() as client:
            chat = await Chat.create(client, "openai")
            await fake.script({"blocks": [call_block("deaf")]})
            await chat.send("wait")
            await chat.event("tool_output_delta")
            await stopped(chat)
            await goes_on(chat, fake)
        await server.stop()
        assert "tool_left_behind" in server.log
        assert "plugin:sea" in server.log
        await server.start()
        async with server.client() as client:
            again = Chat(client, chat.id)
            assert (await again.snapshot())["status"] == "idle"
