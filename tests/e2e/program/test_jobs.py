"""Background commands: their end is told instead of asked for, to the model once and to people at once; and after a
restart it is said what became of them (spec cache.md C12, trust.md R2)."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.support.conversation import Chat, call_block, sent
from tests.support.crash import gone
from tests.support.fake import FakeApi
from tests.support.processes import read_pipe
from tests.support.server import Server, running_server
from tests.support.ws import Client, Frame

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A command that reads it waits for `let_go`."""
    path = tmp_path / "go"
    os.mkfifo(path)
    return path


async def let_go(pipe: Path) -> None:
    """Let the waiting command go on."""
    await asyncio.to_thread(pipe.write_text, "on\n")


async def begun(chat: Chat, fake: FakeApi, command: str) -> str:
    """A turn that starts a background command; returns its id."""
    await fake.script({"blocks": [call_block("bash", "call_bg", command=command, background=True)]})
    await fake.say("Started.")
    await chat.send("start it")
    finished = await chat.event("tool_call_finished")
    await chat.event("turn_finished")
    job: str = finished["result"]["display"]["job"]
    return job


async def job_ended(chat: Chat) -> Frame:
    """The line that people see."""
    while (notice := await chat.event("notice"))["code"] != "job_ended":
        pass
    return notice


async def test_the_end_is_told_to_people_at_once_and_to_the_model_at_its_next_turn(
    client: Client, fake: FakeApi, wire: str, pipe: Path
) -> None:
    chat = await Chat.create(client, wire, mode="auto")
    job = await begun(chat, fake, f"read line < {pipe}; exit 3")
    await let_go(pipe)
    notice = await job_ended(chat)
    assert notice["message"].startswith(f"Background command {job}: exit code 3 (read line < ")
    before = len(await sent(fake))
    for text in ("and now?", "anything else?"):
        await fake.say("Yes.")
        assert (await chat.turn(text))["reason"] == "done"
    first, second = (await sent(fake))[before:]
    told = f"Background command {job}: exit code 3 after "
    assert first.text.count(told) == second.text.count(told) == 1  # once, and it stays where it was said
    notices = [message for message in await chat.messages() if message["role"] == "notice"]
    assert [told in message["blocks"][0]["text"] for message in notices].count(True) == 1


async def test_within_a_turn_the_model_hears_of_it_at_the_next_step(
    client: Client, fake: FakeApi, wire: str, pipe: Path
) -> None:
    chat = await Chat.create(client, wire, mode="auto")
    command = f"read line < {pipe}"
    await fake.script({"blocks": [call_block("bash", "call_bg", command=command, background=True)]})
    await fake.script({"blocks": [call_block("bash", "call_2", command="echo meanwhile")], "hold": "step"})
    await fake.say("It is done.")
    await chat.send("start it")
    await fake.wait(held="step")
    await let_go(pipe)
    await job_ended(chat)
    await fake.release("step")
    assert (await chat.event("turn_finished"))["reason"] == "done"
    requests = await sent(fake)
    assert ["exit code 0 after" in request.text for request in requests] == [False, False, True]
    assert requests[2].messages[: len(requests[1].messages)] == requests[1].messages  # nothing that was sent has moved


async def test_another_chat_neither_hears_of_it_nor_sees_it(
    client: Client, fake: FakeApi, wire: str, pipe: Path
) -> None:
    chat, other = await Chat.create(client, wire, mode="auto"), await Chat.create(client, wire, mode="auto")
    job = await begun(chat, fake, f"read line < {pipe}")
    await other.act("set_tools_profile", toolset="coding")
    await fake.script({"blocks": [call_block("job_output", "call_1"), call_block("job_stop", "call_2", job=job)]})
    await fake.say("I see none.")
    await other.turn("look")
    results = [
        block for message in await other.messages() for block in message["blocks"] if block["type"] == "tool_result"
    ]
    assert [result["status"] for result in results] == ["ok", "error"]
    assert job not in results[0]["content"][0]["text"]
    await let_go(pipe)
    await job_ended(chat)
    before = len(await sent(fake))
    await fake.say("Yes.")
    await other.turn("and now?")
    assert "Background command" not in (await sent(fake))[before].text


@pytest.mark.parametrize("how", ["shutdown", "kill"])
async def test_after_a_restart_it_is_said_what_became_of_it(
    fake: FakeApi, tmp_path: Path, pipe: Path, how: str
) -> None:  # R2
    async with running_server(tmp_path / "home", fake, api="both") as server:
        session_id, job, pid = await _interrupted(server, fake, pipe, how)
        await gone(pid)
        async with server.client() as client:
            chat = await Chat.join(client, session_id)
            before = len(await sent(fake))
            await fake.script({"blocks": [call_block("job_output", "call_1", job=job)]})
            await fake.say("I see.")
            await chat.act("set_tools_profile", toolset="coding")
            await chat.send("and now?")
            while (finished := await chat.event("tool_call_finished"))["call_id"] != "call_1":
                pass
            fate = (
                "ended with the server, after" if how == "shutdown" else "cut off when the server ended without warning"
            )
            assert f"Background command {job}: {fate}" in (await sent(fake))[before].text
            assert finished["result"]["content"][0]["text"].startswith(f"{job}: {fate}")
            assert "begun" in finished["result"]["content"][0]["text"]


async def _interrupted(server: Server, fake: FakeApi, pipe: Path, how: str) -> tuple[str, str, int]:
    """A background command on a server that is then started anew: its chat, its id, its process."""
    told = pipe.with_name("pid")
    os.mkfifo(told)
    async with server.client() as client:
        chat = await Chat.create(client, "openai", mode="auto")
        job = await begun(chat, fake, f"echo begun; echo $$ > {told}; read line < {pipe}")
        pid = int(await asyncio.to_thread(read_pipe, told))
    await (server.stop() if how == "shutdown" else server.kill())
    await server.start()
    return chat.id, job, pid
