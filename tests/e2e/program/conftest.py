"""One fake API and one server for all tests of this folder that neither restart nor configure theirs.

They live as long as the test run, so every test here runs on the session's event loop. Each test gets a fake API that
was reset and makes chats of its own; a test that starts a server of its own shares only the fake API.
"""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.conversation import WIRES
from tests.support.fake import FakeApi, fake_api, moves_of
from tests.support.server import Server, running_server
from tests.support.ws import Client


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def fake_process() -> AsyncIterator[FakeApi]:
    async with fake_api() as fake:
        yield fake


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_server(tmp_path_factory: pytest.TempPathFactory, fake_process: FakeApi) -> AsyncIterator[Server]:
    search = {"SEARXNG_URL": fake_process.base_url}
    directory = tmp_path_factory.mktemp("shared")
    async with running_server(directory, fake_process, api="both", environment=search) as server:
        listed: set[str] = set()
        while not {f"{wire}/demo" for wire in WIRES} <= listed:  # each hello waits a while for slow endpoints
            async with server.client() as client:
                listed = {model["id"] for model in client.hello["models"]}
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def fake(fake_process: FakeApi, request: pytest.FixtureRequest) -> AsyncIterator[FakeApi]:
    async with fake_process.for_test(moves_of(request)) as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="session")
async def server(fake: FakeApi, shared_server: Server) -> AsyncIterator[Server]:
    """A server with both endpoints, `openai` and `anthropic`, and web search at the fake API. Do not restart it.

    No turn of this test is left to take what the next one tells the fake API to say.
    """
    yield shared_server
    await shared_server.rest()


@pytest_asyncio.fixture(loop_scope="session")
async def client(server: Server) -> AsyncIterator[Client]:
    """A tab on the shared server."""
    async with server.client() as client:
        yield client


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    """The wire format under test: the name of its endpoint."""
    chosen: str = request.param
    return chosen
