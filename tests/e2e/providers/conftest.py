"""One fake API for each module, and a provider for each wire format at it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from openprogram.core.ports import Provider
from openprogram.core.prompt import Api
from tests.support.fake import FakeApi, fake_api
from tests.support.providers import APIS, fake_address, provider_at


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running() -> AsyncIterator[FakeApi]:
    async with fake_api() as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="module")
async def fake(running: FakeApi) -> FakeApi:
    await running.reset()
    return running


@pytest.fixture(params=(*APIS, "openai-responses"))
def api(request: pytest.FixtureRequest) -> Api:
    chosen: Api = request.param
    return chosen


@pytest_asyncio.fixture(loop_scope="module")
async def provider(api: Api, fake: FakeApi) -> AsyncIterator[Provider]:
    async with provider_at(api, fake_address(api, fake)) as provider:
        yield provider
