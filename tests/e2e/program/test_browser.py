"""The browser tool in the whole program: its preset, refused addresses, and that nothing outlives the server."""

import asyncio
from pathlib import Path

import pytest

from tests.support.conversation import Chat, call_block, sent
from tests.support.fake import FakeApi
from tests.support.processes import wait_gone
from tests.support.server import running_server
from tests.support.ws import Frame

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.browser]


def _parents() -> dict[int, int]:
    """Each process's parent."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has ended meanwhile
    return found


def _browsers_below(pid: int) -> list[int]:
    """The browser's processes among the descendants of this one."""
    parents = _parents()
    below = {pid}
    while more := {child for child, parent in parents.items() if parent in below} - below:
        below |= more
    return [one for one in below if b"--proxy-server=" in (Path("/proc") / str(one) / "cmdline").read_bytes()]


@pytest.mark.parametrize("how", ["kill", "shutdown"])
async def test_the_servers_own_address_is_refused_and_no_browser_outlives_the_server(
    fake: FakeApi, tmp_path: Path, how: str
) -> None:
    async with running_server(tmp_path / "home", fake) as server:
        async with server.client() as client:
            chat = Chat(client, (await client.send("create_session"))["session_id"])
            await client.subscribe(chat.id)
            await chat.act("set_tools_profile", toolset="browser")
            assert "playwright_browser" in [tool["name"] for tool in await _tools(chat) if tool["state"] == "deferred"]
            url = f"{server.url}/?token={server.token}"
            await fake.script({"blocks": [call_block("playwright_browser", "call_1", action="open", url=url)]})
            await fake.say("It may not.")
            await chat.send("open it")
            finished = await chat.event("tool_call_finished")
            await chat.event("turn_finished")
        assert finished["status"] == "error"
        assert "127.0.0.1 is not a public address" in finished["result"]["content"][0]["text"]
        assert len(await sent(fake)) == 2
        assert server._process is not None
        pids = await asyncio.to_thread(_browsers_below, server._process.pid)
        assert pids
        await (server.kill() if how == "kill" else server.stop())
        for pid in pids:
            await asyncio.to_thread(wait_gone, pid)


async def _tools(chat: Chat) -> list[Frame]:
    found: list[Frame] = (await chat.act("explain_tools"))["tools"]
    return found
