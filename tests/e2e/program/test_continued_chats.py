"""A chat that goes on after its tools were changed from outside (spec tools.md T5, T8, T10; report 1)."""

import itertools
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.conversation import Chat, sent, stored_log
from tests.support.fake import FakeApi
from tests.support.server import Server, running_server

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def post(server: Server, action: str, **fields: Any) -> dict[str, Any]:
    """The action as a script sends it."""
    async with (
        aiohttp.ClientSession(headers={"authorization": f"Bearer {server.token}"}) as http,
        http.post(f"{server.url}/api/actions/{action}", json=fields) as answer,
    ):
        assert answer.status == 200, await answer.text()
        body: dict[str, Any] = await answer.json()
        return body


async def offered(chat: Chat, text: str, fake: FakeApi) -> tuple[list[str], str]:
    """Take a turn: the tools that it began with, and the fingerprint of its contract."""
    await fake.say("Yes.")
    await chat.turn(text)
    started = chat.client.received(chat.id, "turn_started")[-1]
    return started["tools"], started["fingerprint"]


async def test_a_change_posted_to_a_continued_chat_is_all_of_its_next_turn_and_survives_a_restart(
    tmp_path: Path, fake: FakeApi, wire: str
) -> None:  # report 1
    async with running_server(tmp_path, fake, api=wire) as server:
        async with server.client() as client:
            chat = await Chat.create(client, wire)
            before, old = await offered(chat, "one", fake)
            ack = await post(server, "set_tools_profile", session_id=chat.id, toolset="safe")
            assert ack["revision"] == 1
            after, new = await offered(chat, "two", fake)
            assert "bash" in before
            assert "bash" not in after
            assert old != new
            assert after == (await offered(chat, "three", fake))[0]
        await server.kill()
        await server.start()
        async with server.client() as client:
            chat = await Chat.join(client, chat.id, stored_log(server.database, chat.id)[-1]["seq"])
            assert await offered(chat, "four", fake) == (after, new)
    requests = await sent(fake)
    # What the endpoint has cached stays (C2); the model is told of what is off in the newest message.
    assert all(request.extends(one) for one, request in itertools.pairwise(requests))
