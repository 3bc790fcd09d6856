"""What the whole program does under pressure: a full disk, slow tabs, large outputs, many connections, shutdown.

Spec trust.md R1, R4, R5, R6; protocol.md P3, P11.
"""

import asyncio
import os
import resource
import signal
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from websockets.asyncio.client import connect

from tests.support.conversation import Chat, call_block, log_of, sent, stored_log, text_block, texts
from tests.support.crash import gone
from tests.support.fake import FakeApi
from tests.support.quick import QUICK
from tests.support.server import PROTOCOL, Server, running_server
from tests.support.ws import WAIT_S, Client, Refused

pytestmark = pytest.mark.asyncio(loop_scope="session")

MB = 1_000_000


def memory_mb(pid: int) -> float:
    """The most that a process has had resident."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def demos_of(pid: int) -> list[int]:
    """The demo model of a server: it has other children for a moment, such as one that counts tokens."""
    return [child for child in children(pid) if b"fake-api" in command_of(child)]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


async def test_a_full_disk_is_told_and_nothing_is_half_done(tmp_path: Path, fake: FakeApi) -> None:  # R4
    async with running_server(tmp_path, fake) as server, server.client() as client:
        chat = await Chat.create(client, "openai")
        await fake.say("Yes.")
        await chat.turn("hello")
        await fake.say("Half ", {"text": "of it", "hold": "h"}, match={"text": "running"})
        running = await Chat.create(client, "openai")
        await running.send("running")
        await running.event("text_delta")
        before = await chat.snapshot()
        unlimited = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (4096, unlimited[1]))
        for action, fields in (
            ("chat", {"text": "is there room?"}),
            ("toggle_web_search", {"value": True}),
            ("rename_session", {"title": "No room"}),
        ):
            with pytest.raises(Refused) as refused:
                await chat.act(action, id=f"again {action}", **fields)
            assert refused.value.code == "storage_failed"
            assert refused.value.frame["message"]
        await fake.release("h")
        with pytest.raises(Refused):
            await client.send("create_session")
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, unlimited)
        assert await chat.snapshot() == before
        await fake.say("There is.", match={"text": "is there room?"})
        await chat.send("is there room?", id="again chat")  # the same id: it was not remembered
        assert (await chat.event("turn_finished", reason="done"))["error"] is None
        await fake.say("Back.", match={"text": "still running?"})
        await running.send("still running?")
        ends = [(await running.event("turn_finished"))["reason"] for _ in range(2)]
        assert ends[0] in ("error", "interrupted", "done")
        assert ends[1] == "done"
        assert (await running.snapshot())["status"] == "idle"
        for each in (chat, running):
            assert log_of(client.frames, each.id) == stored_log(server.database, each.id)


async def test_a_tab_that_reads_nothing_holds_up_nobody_and_gets_a_snapshot(
    server: Server, client: Client, fake: FakeApi
) -> None:  # P3, P11
    ack = await client.send("create_session", model="openai/demo")
    chat = Chat(client, ack["session_id"])
    words = [f"{number:06} " * 3000 for number in range(400)]
    await fake.script({"blocks": [text_block(*words)], "rate": 400})
    headers = {"authorization": f"Bearer {server.token}"}
    async with connect(
        server.ws_url, subprotocols=[PROTOCOL], additional_headers=headers, proxy=None, max_queue=1, max_size=None
    ) as slow:
        subscribe = {"action": "subscribe", "id": "s", "session_id": chat.id, "after_seq": 0}
        await slow.send(orjson.dumps(subscribe).decode())
        await chat.send("talk a lot")
        while (await status_of(client, chat)) != "idle":
            await client.send("ping")
        assert texts((await chat.messages())[-1]) == "".join(words)
        newest = stored_log(server.database, chat.id)[-1]["seq"]
        seen, snapshots, cursor = 0, 0, 0
        while cursor < newest:
            async with asyncio.timeout(WAIT_S):
                frame: dict[str, Any] = orjson.loads(await slow.recv())
            if frame["type"] == "snapshot":
                snapshots, cursor = snapshots + 1, frame["seq"]
            elif frame["type"] == "event":
                assert frame["seq"] == cursor + 1
                seen, cursor = seen + 1, frame["seq"]
        assert snapshots >= 1
        assert 0 < seen < newest


async def status_of(client: Client, chat: Chat) -> str:
    sessions = (await client.send("list_sessions", limit=1000))["sessions"]
    return next(str(session["status"]) for session in sessions if session["id"] == chat.id)


async def test_a_hundred_megabytes_of_output_cost_a_bounded_memory(tmp_path: Path, fake: FakeApi) -> None:  # R6
    async with running_server(tmp_path, fake) as server, server.client() as client:
        chat = await Chat.create(client, "openai", mode="auto")
        await fake.script({"blocks": [call_block("bash", "call_1", command="yes 0123456789 | head -c 100000000")]})
        await fake.say("That was a lot.")
        before = memory_mb(server.pid)
        assert (await chat.turn("a lot"))["reason"] == "done"
        assert memory_mb(server.pid) - before < 40
        shown = sum(len(event["text"]) for event in client.received(chat.id, "tool_output_delta"))
        assert shown <= 65_536
        [finished] = client.received(chat.id, "tool_call_finished")
        output = Path(finished["result"]["display"]["output_file"])
        assert output.stat().st_size >= 100_000_000
        assert len((await sent(fake))[-1].results["call_1"]) < 40_000


async def test_a_large_paste_goes_through(client: Client, fake: FakeApi, wire: str) -> None:  # R6, report 37
    paste = "The quick brown fox. " * 8000
    chat = await Chat.create(client, wire)
    await fake.say("Read.")
    assert (await chat.turn(paste))["reason"] == "done"
    assert texts((await chat.messages())[0]) == paste
    assert paste.strip() in (await sent(fake))[-1].text


async def test_connections_come_and_go_and_leave_nothing(server: Server, client: Client, fake: FakeApi) -> None:  # R5
    await fake.say("Half ", {"text": "of it", "hold": "h"})
    chat = await Chat.create(client, "openai")
    await chat.send("hello")
    await chat.event("text_delta")
    headers = {"authorization": f"Bearer {server.token}"}

    async def come_and_go(number: int) -> None:
        async with server.client() as other:
            await other.subscribe(chat.id, snapshot=bool(number % 2))
            await other.subscribe(None)
            if number % 3:
                await other.until(chat.id, 1) if not number % 2 else await other.frame("snapshot")

    async with aiohttp.ClientSession(server.url, headers=headers) as http:
        for number in range(5):
            await come_and_go(number)
        before = descriptors(server.pid)
        for number in range(0, 100, 10):
            await asyncio.gather(*(come_and_go(number + each) for each in range(10)))
            async with http.get(f"/api/sessions/{chat.id}/events") as stream:
                assert (await stream.content.readline()).startswith(b"id: ")
        await fake.release("h")
        await chat.event("turn_finished")
        async with asyncio.timeout(WAIT_S):
            while True:
                async with http.get("/metrics") as response:
                    metrics = await response.text()
                if "openprogram_sockets 1.0" in metrics and "openprogram_event_streams 0.0" in metrics:
                    break
        assert "openprogram_subscriptions 1.0" in metrics
        async with asyncio.timeout(WAIT_S):
            while descriptors(server.pid) > before + 3:  # a socket is closed a little later than it is counted
                await client.send("ping")


async def test_events_over_http_are_the_frames_and_resume_by_id(server: Server, client: Client, fake: FakeApi) -> None:
    await fake.script({"blocks": [text_block("I ", "look."), call_block("list")]})
    await fake.say("There.")
    chat = await Chat.create(client, "openai")
    await chat.turn("look")
    log = stored_log(server.database, chat.id)
    headers = {"authorization": f"Bearer {server.token}"}
    async with aiohttp.ClientSession(server.url, headers=headers) as http:
        for after in (0, 3, len(log) - 1):
            resume = {"last-event-id": str(after)} if after else {}
            async with http.get(f"/api/sessions/{chat.id}/events", headers=resume) as stream:
                for frame in log[after:]:
                    assert await stream.content.readline() == f"id: {frame['seq']}\n".encode()
                    assert orjson.loads((await stream.content.readline()).removeprefix(b"data: ")) == frame
                    assert await stream.content.readline() == b"\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_shutdown_in_mid_work_is_quick_in_order_and_leaves_nothing(
    tmp_path: Path, fake: FakeApi, number: signal.Signals
) -> None:
    async with running_server(tmp_path, fake) as server:
        async with server.client() as client:
            await fake.say("Half ", {"text": "of it", "hold": "h"}, match={"text": "streaming"})
            await fake.script(
                {"blocks": [call_block("bash", command="echo $$; sleep 300")], "match": {"text": "running"}}
            )
            await fake.script({"blocks": [call_block("bash", command="echo no")], "match": {"text": "asking"}})
            streaming, asking = await Chat.create(client, "openai"), await Chat.create(client, "openai")
            running = await Chat.create(client, "openai", mode="auto")
            for chat, said in ((streaming, "streaming"), (running, "running"), (asking, "asking")):
                await chat.send(said)
            await streaming.event("text_delta")
            command = int((await running.event("tool_output_delta"))["text"])
            await asking.event("approval_requested")
            pid = server.pid
            os.kill(pid, number)
            assert await server.ended() == 0
        await gone(command)
        await gone(pid)
        assert "Traceback" not in server.log
        assert not Path(f"{server.database}-wal").exists()  # the log was moved into the database
        await server.start()
        async with server.client() as client:
            states = [await Chat(client, chat.id).snapshot() for chat in (streaming, running, asking)]
        assert [state["status"] for state in states] == ["idle", "idle", "waiting"]
        assert texts(states[0]["messages"][-1]) == "Half "


async def test_the_demo_answers_offline_and_ends_with_the_server_however_that_ends(tmp_path: Path) -> None:
    async with running_server(tmp_path, program=QUICK) as server:
        demos = []
        for end in (server.kill, server.stop):
            async with server.client() as client:
                assert client.hello["default_model"] == "demo/demo"
                ack = await client.send("chat", session_id=None, text="list the files here")
                chat = await Chat.join(client, ack["session_id"])
                assert (await chat.event("turn_finished"))["reason"] == "done"
                assert [event["name"] for event in client.received(chat.id, "tool_call_started")] == ["list"]
                demos += demos_of(server.pid)
                await end()
            await server.start()
        assert len(set(demos)) == 2
        for demo in demos:
            await gone(demo)


async def test_a_demo_that_died_is_started_again(tmp_path: Path) -> None:
    async with running_server(tmp_path, program=QUICK) as server, server.client() as client:
        for _ in range(2):
            ack = await client.send("chat", session_id=None, text="hello")
            chat = await Chat.join(client, ack["session_id"])
            assert (await chat.event("turn_finished"))["reason"] == "done"
            [demo] = demos_of(server.pid)
            os.kill(demo, signal.SIGKILL)
            while demo in children(server.pid):  # until the server knows
                await client.send("ping")
