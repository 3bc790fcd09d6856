"""Tools that change in mid-chat, through the loop, adapters and HTTP, at the strict fake API (cache.md C2, C7, C9)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from openprogram.agent.tool_search import tool_search
from openprogram.core.events import Notice, StepStarted
from openprogram.core.prompt import Api, ModelInfo
from openprogram.core.surface import BRIDGE_NAME, Strategy
from openprogram.providers.config import EndpointConfig
from tests.support.agent import Chat, FakeTool
from tests.support.deferral import deferred, say_more
from tests.support.fake import FakeApi
from tests.support.providers import fake_address, provider_at
from tests.support.script import ScriptedProvider

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORDS = "word " * 1500
"""The fake caches nothing that is short, as the real ones do not."""
CASES: tuple[tuple[Strategy, Api, str], ...] = (
    ("inline_changes", "anthropic", "claude-opus-5-5"),
    ("reference_changes", "anthropic", "claude-opus-5-5"),
    ("tool_reference", "anthropic", "claude-sonnet-5"),
    ("additional_tools", "openai-responses", "gpt-5.6"),
    ("client_tool_search", "openai-responses", "gpt-5.4"),
    ("bridge", "openai-responses", "gpt-5.4"),
    ("bridge", "anthropic", "claude-opus-5-5"),
    ("bridge", "openai-chat", "gpt-4.1"),
    ("frozen", "openai-chat", "gpt-4.1"),
)
ROUNDING = 128
"""Chat Completions reads in steps of so many tokens."""


@asynccontextmanager
async def chat_at(fake: FakeApi, strategy: Strategy, api: Api, model: str) -> AsyncIterator[Chat]:
    """A chat with two resident tools and two that wait, at an endpoint that is said to do this."""
    config = EndpointConfig("e", api, fake_address(api, fake), "test", strategy=strategy)
    info: ModelInfo = config.info(model)
    async with provider_at(api, config.base_url, strategy=strategy) as provider:
        tools = (FakeTool("bash"), FakeTool("read"), deferred("notes"), deferred("weather"))
        chat = Chat(ScriptedProvider(), *tools, said=WORDS)
        chat.registry.put("builtin", [tool_search, *(tool.spec for tool in tools)])
        chat.endpoint, chat.model = provider, info
        yield chat


def uses(tool: str, /, **arguments: Any) -> dict[str, Any]:
    return {"blocks": [{"type": "tool_use", "name": tool, "input": arguments}]}


async def turn(chat: Chat, fake: FakeApi, *answers: dict[str, Any], off: tuple[str, ...] = ()) -> None:
    """The person has these tools off and says something; the model answers so, and then is done."""
    chat.intent = replace(chat.intent, disabled=off)
    for answer in answers:
        await fake.script(answer)
    await fake.say("Done.")
    if len(chat.history.messages) > 1:
        say_more(chat, "And now?")
    await chat.run()


async def played(chat: Chat, fake: FakeApi, strategy: Strategy) -> list[dict[str, Any]]:
    """A chat with switches, a discovery and a call of what was found."""
    await turn(chat, fake)
    await turn(chat, fake, off=("bash",))
    await turn(chat, fake, uses("bash"), off=())
    through = strategy == "bridge"
    call = uses(BRIDGE_NAME, name="weather", arguments={}) if through else uses("weather")
    await turn(chat, fake, uses("tool_search", query="select:weather"), call, off=("read",))
    await turn(chat, fake, off=("weather",))
    await turn(chat, fake, off=())
    return await fake.requests()


@pytest.mark.parametrize(("strategy", "api", "model"), CASES, ids=[f"{case[0]}-{case[1]}" for case in CASES])
async def test_nothing_that_was_cached_is_lost_to_a_switch_or_a_discovery(
    fake: FakeApi, strategy: Strategy, api: Api, model: str
) -> None:
    async with chat_at(fake, strategy, api, model) as chat:
        records = await played(chat, fake, strategy)
    assert chat.reasons == ["done"] * 6
    assert [result.status for result in chat.results] == ["ok", "ok", "ok"]
    assert {record["status"] for record in records} == {200}
    for before, after in pairwise(records):
        assert after["cache"]["common_prefix"] >= before["cache"]["prompt"]
        if before["cache"]["prompt"] >= 1024:
            assert after["cache"]["read"] > before["cache"]["prompt"] - ROUNDING


async def test_an_endpoint_that_refuses_changes_goes_on_within_the_same_send(fake: FakeApi) -> None:  # C9
    async with chat_at(fake, "inline_changes", "anthropic", "claude-haiku-4-5") as chat:
        await turn(chat, fake)
        await turn(chat, fake, off=("bash",))
        await turn(chat, fake, off=())
        records = await fake.requests()
    assert [record["status"] for record in records] == [200, 400, 200, 200]
    assert chat.reasons == ["done"] * 3
    assert [notice.code for notice in chat.emit.of(Notice)] == ["downgraded"]
    assert chat.surfaces.current is not None
    assert chat.surfaces.current.deltas == ()
    assert records[2]["cache"]["common_prefix"] >= records[0]["cache"]["prompt"]


@pytest.mark.parametrize("tools", [1, 30], ids=["little is left", "much is left"])
@pytest.mark.parametrize(("api", "model"), [("anthropic", "claude-opus-5-5"), ("openai-chat", "gpt-4.1")])
async def test_the_loss_that_is_predicted_is_the_loss_that_is_billed(
    fake: FakeApi, api: Api, model: str, tools: int
) -> None:
    async with chat_at(fake, "append", api, model) as chat:
        chat.model = replace(chat.model, counting=replace(chat.model.counting, ratio=1.0))  # the fake counts in o200k
        more = [FakeTool(f"tool_{number}", description=WORDS[:400]).spec for number in range(tools)]
        chat.registry.put("plugin:more", more)
        await turn(chat, fake)
        await turn(chat, fake, uses("tool_search", query="select:weather"), off=("bash",))
        await turn(chat, fake)
        records = await fake.requests()
    plans = [started.plan for started in chat.emit.of(StepStarted)]
    assert [plan.kind for plan in plans] == ["rebase", "keep", "append", "keep"]
    for (before, after), plan in zip(pairwise(records), plans[1:], strict=True):
        billed = before["cache"]["prompt"] - min(after["cache"]["read"], before["cache"]["prompt"])
        assert plan.predicted_loss is not None
        # The fake puts two tokens less around a tool of the Messages API than the price of its JSON has.
        assert -ROUNDING < plan.predicted_loss - billed < 0.02 * before["cache"]["prompt"]
