"""Models are listed as far as they are known: an endpoint that is slow, or hangs, keeps nobody waiting (P1)."""

import asyncio

from typing_extensions import override

from openprogram.app.demo import DemoProcess
from openprogram.app.models import DEMO_INFO, GLANCE_S, Models
from openprogram.core.prompt import ModelInfo
from openprogram.providers.config import EndpointConfig
from tests.support.script import MODEL, Gate, ScriptedProvider
from tests.support.virtual_time import run_virtually

CONFIG = EndpointConfig(name="fake", api="openai-chat", base_url="http://127.0.0.1:1/v1", key=None)


class SlowProvider(ScriptedProvider):
    """Tells its models when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate()

    @override
    async def models(self) -> tuple[ModelInfo, ...]:
        await self.gate.wait()
        return (MODEL,)


def test_no_list_waits_for_an_endpoint_and_what_comes_later_is_told() -> None:  # P1
    run_virtually(_no_list_waits())


async def _no_list_waits() -> None:
    loop, provider = asyncio.get_running_loop(), SlowProvider()
    models = Models([CONFIG], DemoProcess(), lambda _: CONFIG, lambda _: provider, now=loop.time)
    changes = asyncio.Queue[None]()
    models.subscribe(lambda: changes.put_nowait(None))
    assert await models.models() == (DEMO_INFO,)
    assert await models.default_id() is None
    assert loop.time() <= 2 * GLANCE_S
    provider.gate.open()
    await changes.get()
    assert await models.models() == (MODEL, DEMO_INFO)
    assert await models.default_id() == MODEL.id
    assert changes.empty()  # the same list again is no news
    await models.aclose()


def test_a_turn_waits_for_the_list_that_its_model_comes_from() -> None:
    run_virtually(_a_turn_waits())


async def _a_turn_waits() -> None:
    loop, provider = asyncio.get_running_loop(), SlowProvider()
    models = Models([CONFIG], DemoProcess(), lambda _: CONFIG, lambda _: provider, now=loop.time)
    loop.call_later(10, provider.gate.open)
    info, found = await models.resolve(None)
    assert (info, found) == (MODEL, provider)
    await models.aclose()


async def test_what_is_known_of_a_model_is_told_without_asking_anybody() -> None:
    asked = SlowProvider()
    models = Models([CONFIG], DemoProcess(), lambda _: CONFIG, lambda _: asked, now=lambda: 0.0)
    known = models.about("fake/llama-9")
    assert known is not None
    assert (known.id, known.counting.api) == ("fake/llama-9", "openai-chat")
    assert models.about(DEMO_INFO.id) == DEMO_INFO
    assert models.about("gone/llama-9") is None
    assert models.about("fake") is None
    await models.aclose()
