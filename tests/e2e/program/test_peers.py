"""The same chat, streaming with tool use, of the whole program against two servers that were not written here."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from llmock.verdict import judge

from openprogram.core.prompt import Api
from tests.support.conversation import WIRES, Chat, log_of, stored_log, texts
from tests.support.peers import Aimock, Llmock, aimock, llmock_server
from tests.support.server import Server, running_server
from tests.support.ws import Client

pytestmark = pytest.mark.asyncio(loop_scope="session")

APIS: Final[dict[str, Api]] = {"openai": "openai-chat", "anthropic": "anthropic"}
MODELS: Final = {"openai": "gpt-4.1", "anthropic": "claude-opus-4-5"}


@asynccontextmanager
async def serving(directory: Path, peer: Aimock | Llmock) -> AsyncIterator[Server]:
    """The server with that peer behind both of its endpoints."""
    config = "".join(
        f'[endpoints.{wire}]\napi = "{APIS[wire]}"\nbase_url = "{peer.address(APIS[wire])}"\nkey = "test"\n'
        f'models = ["{MODELS[wire]}"]\n'
        for wire in WIRES
    )
    async with running_server(directory, config=config) as server:
        yield server


async def new_chat(client: Client, wire: str) -> Chat:
    ack = await client.send("create_session", model=f"{wire}/{MODELS[wire]}")
    return await Chat.join(client, ack["session_id"])


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def aimock_peer() -> AsyncIterator[Aimock]:
    async with aimock("--chunk-size", "5", "--latency", "20") as peer:
        yield peer


@pytest.fixture(scope="module")
def llmock_peer() -> Iterator[Llmock]:
    with llmock_server() as peer:
        yield peer


async def test_aimock_streams_and_has_its_calls_run(tmp_path: Path, aimock_peer: Aimock) -> None:
    async with serving(tmp_path, aimock_peer) as server, server.client() as client:
        (server.workspace / "alpha.txt").write_text("sunny")
        (server.workspace / "漢字.txt").write_text("21 degrees")
        for wire in WIRES:
            chat = await new_chat(client, wire)
            assert (await chat.turn("What is the weather?"))["reason"] == "done"
            await chat.act("toggle_web_search", value=False)
            assert (await chat.turn("thanks"))["reason"] == "done"
            said = [texts(message) for message in await chat.messages() if message["role"] == "assistant"]
            assert said == ["Let me look it up 🌦️ in both.", "It is sunny ☀️, 21 °C.", "You are welcome."]
            assert client.text(chat.id) == "".join(said)
            finished = client.received(chat.id, "tool_call_finished")  # in parallel: in any order
            found = "".join(event["result"]["content"][0]["text"] for event in finished)
            assert (len(finished), found.count("sunny"), found.count("21 degrees")) == (2, 1, 1)
            assert len(client.received(chat.id, "text_delta")) > len(said)  # it streams
            assert log_of(client.frames, chat.id) == stored_log(server.database, chat.id)


async def test_llmock_streams_has_its_call_run_and_finds_no_fault_with_this_client(
    tmp_path: Path, llmock_peer: Llmock
) -> None:
    async with serving(tmp_path, llmock_peer) as server, server.client() as client:
        for wire in WIRES:
            chat = await new_chat(client, wire)
            await chat.act("pick_tools", tools=["tool_search"])
            assert (await chat.turn("Please find me a tool"))["reason"] == "done"
            assert [event["name"] for event in client.received(chat.id, "tool_call_started")] == ["tool_search"]
            assert [event["status"] for event in client.received(chat.id, "tool_call_finished")] == ["ok"]
            answer = (await chat.messages())[-1]
            assert (answer["role"], answer["status"]) == ("assistant", "complete")
            assert texts(answer) == client.text(chat.id, answer["id"])
            assert (await chat.turn("And now without it."))["reason"] == "done"
    records = await asyncio.to_thread(llmock_peer.server.state.journal.records, wait=2.0)
    judge(records).assert_ok(strict=True)
