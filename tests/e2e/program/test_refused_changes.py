"""An endpoint that refuses changes of the tools: the chat goes on, within the send and after a restart (cache.md C9).

Report 19: nothing is kept that the endpoint would refuse again.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.conversation import Chat, call_block, stored_log
from tests.support.fake import FakeApi
from tests.support.server import Server, running_server
from tests.support.ws import Client

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOOL = "mail_007"
CONFIG = """\
[endpoints.cloud]
api = "{api}"
base_url = "{url}"
key = "test"
models = ["{model}"]
strategy = "{strategy}"
"""


@dataclass(frozen=True)
class Endpoint:
    """One that is said to take changes, and what of them it does not take."""

    strategy: str
    api: str
    model: str
    refused: str

    def __str__(self) -> str:
        return f"{self.strategy}-{self.refused}"

    def config(self, fake: FakeApi) -> str:
        url = fake.anthropic_url if self.api == "anthropic" else fake.openai_url
        return CONFIG.format(api=self.api, url=url, model=self.model, strategy=self.strategy)


RECENT = ("anthropic", "claude-opus-5-5")
OLDER = ("anthropic", "claude-sonnet-5")
CHANGES = (
    Endpoint("inline_changes", *RECENT, "tool_changes"),
    Endpoint("inline_changes", *RECENT, "inline_tools"),
    Endpoint("reference_changes", *RECENT, "tool_changes"),
    Endpoint("tool_reference", *OLDER, "tool_references"),
    Endpoint("additional_tools", "openai-responses", "gpt-5.6", "additional_tools"),
)
"""What is refused once something changes."""
FROM_THE_FIRST = (
    Endpoint("inline_changes", *RECENT, "deferred_tools"),
    Endpoint("reference_changes", *RECENT, "betas"),
    Endpoint("tool_reference", *OLDER, "deferred_tools"),
    Endpoint("client_tool_search", "openai-responses", "gpt-5.4", "tool_search"),
)
"""What is refused already at the first request, which holds the placeholder, or the API's own search."""


@asynccontextmanager
async def serving(endpoint: Endpoint, fake: FakeApi, directory: Path) -> AsyncIterator[Server]:
    """A server with hundreds of tools that wait to be found, at this endpoint."""
    program = "tests.support.many_tools"
    async with running_server(directory, config=endpoint.config(fake), program=program) as server:
        yield server


async def opened(client: Client, endpoint: Endpoint) -> Chat:
    ack = await client.send("create_session", model=f"cloud/{endpoint.model}")
    await client.subscribe(ack["session_id"])
    return Chat(client, ack["session_id"])


async def find(fake: FakeApi, chat: Chat) -> None:
    """A turn in which the model finds a tool and calls it."""
    await fake.script({"blocks": [call_block("tool_search", query=f"select:{TOOL}")]})
    await fake.script({"blocks": [call_block(TOOL)]})
    await fake.say("Done.")
    assert (await chat.turn("use the mail"))["reason"] == "done"


async def talk(fake: FakeApi, chat: Chat) -> None:
    await fake.say("Yes.")
    assert (await chat.turn("and now?"))["reason"] == "done"


async def statuses(fake: FakeApi, since: int = 0) -> list[int]:
    return [record["status"] for record in await fake.requests(since) if record["cache"] or record["rule"]]


def downgrades(log: list[dict[str, Any]]) -> int:
    return sum(1 for frame in log if frame["event"].get("code") == "downgraded")


async def assert_goes_on_after_a_restart(server: Server, fake: FakeApi, endpoint: Endpoint, chat_id: str) -> None:
    """Killed and started again, it sends nothing that is refused, in this chat and in a new one; it says no more."""
    log = stored_log(server.database, chat_id)
    told = downgrades(log)
    assert told == 1
    await server.kill()
    await server.start()
    asked = len(await fake.requests())
    async with server.client() as client:
        await talk(fake, await Chat.join(client, chat_id, log[-1]["seq"]))
        new = await opened(client, endpoint)
        await find(fake, new)
    assert set(await statuses(fake, asked)) == {200}
    assert downgrades(stored_log(server.database, chat_id)) == told
    assert downgrades(stored_log(server.database, new.id)) == 0


@pytest.mark.parametrize("endpoint", CHANGES, ids=str)
async def test_a_change_that_is_refused_is_rendered_away_within_the_send(
    endpoint: Endpoint, fake: FakeApi, tmp_path: Path
) -> None:  # C9, report 19
    await fake.refuse(endpoint.refused)
    async with serving(endpoint, fake, tmp_path) as server:
        async with server.client() as client:
            chat = await opened(client, endpoint)
            await find(fake, chat)
            assert await statuses(fake) == [200, 400, 200, 200]
            [notice] = [notice for notice in client.received(chat.id, "notice") if notice["code"] == "downgraded"]
            assert "does not take changes of the tools" in notice["message"]
            finished = client.received(chat.id, "tool_call_finished")
            assert [call["result"]["status"] for call in finished] == ["ok", "ok"]
        await assert_goes_on_after_a_restart(server, fake, endpoint, chat.id)


@pytest.mark.parametrize("endpoint", FROM_THE_FIRST, ids=str)
async def test_an_endpoint_that_refuses_the_first_request_gets_it_without(
    endpoint: Endpoint, fake: FakeApi, tmp_path: Path
) -> None:  # C9, C8
    await fake.refuse(endpoint.refused)
    async with serving(endpoint, fake, tmp_path) as server:
        async with server.client() as client:
            chat = await opened(client, endpoint)
            await find(fake, chat)
            assert await statuses(fake) == [400, 200, 200, 200]
        await assert_goes_on_after_a_restart(server, fake, endpoint, chat.id)


@pytest.mark.moves("what the endpoint had taken it now refuses: a new epoch with the cause `provider`")
@pytest.mark.parametrize("endpoint", [*CHANGES, FROM_THE_FIRST[-1]], ids=str)
async def test_changes_that_were_taken_and_now_are_refused_are_told_anew(
    endpoint: Endpoint, fake: FakeApi, tmp_path: Path
) -> None:  # C9, report 19
    async with serving(endpoint, fake, tmp_path) as server:
        async with server.client() as client:
            chat = await opened(client, endpoint)
            await find(fake, chat)
            await fake.refuse(endpoint.refused)
            await talk(fake, chat)
            assert await statuses(fake) == [200, 200, 200, 400, 200]
            started = client.received(chat.id, "step_started")[-1]
            assert (started["plan"]["kind"], started["reason"]) == ("rebase", "provider")
            assert TOOL in started["loaded"]  # what was found stays callable
        await assert_goes_on_after_a_restart(server, fake, endpoint, chat.id)
