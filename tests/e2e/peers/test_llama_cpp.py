"""A real prefix cache that was not written here agrees: llama.cpp's reused tokens over a chat with switches.

The chat runs in the real service, loop, planner and adapter of Chat Completions. The template renders the tools first,
so that any change of the array costs all that follows.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio

from openprogram.agent.tool_search import tool_search
from openprogram.core.events import StepFinished, StepStarted, ToolCallFinished
from openprogram.core.surface import BRIDGE_NAME, Strategy
from openprogram.core.tooling import AgentProfile, Preset
from openprogram.providers.config import EndpointConfig
from openprogram.providers.retry import RetryPolicy
from openprogram.tools.registry import Registry
from tests.support.deferral import select
from tests.support.histories import message
from tests.support.llama import Prompted, llama
from tests.support.providers import collect, completed, provider_at, request
from tests.support.script import use
from tests.support.sessions import Chats, opened
from tests.support.tools import spec

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.asyncio(loop_scope="module")]

ONE: Final = 1
"""Tokens that llama.cpp never reuses: it computes the last one of a prompt anew, for its answer."""
SHORT: Final = 4
"""Tokens of an answer. Nothing depends on what this model says."""
AGAIN: Final = RetryPolicy(first_s=0.1)
"""The server closes a connection that is idle whenever it likes."""
PRESETS: Final = (Preset("reading", "Reading", entries=("@readonly",)),)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def base_url() -> AsyncIterator[str]:
    async with llama() as found:
        yield found


@dataclass(frozen=True)
class Asked:
    """A request as the server reported it, and why its surface was as it was."""

    reason: str
    prompt: int
    reused: int


def registry() -> Registry:
    made = Registry(PRESETS)
    resident = [spec(name, readonly=name == "read", residency="resident") for name in ("bash", "read")]
    search = spec("web_search", readonly=True, network=True, provides=("web_search",), residency="resident")
    made.put("builtin", [tool_search, *resident, search, spec("weather", readonly=True)])
    return made


@asynccontextmanager
async def serving(folder: Path, base_url: str, strategy: Strategy) -> AsyncIterator[tuple[Chats, Prompted]]:
    """The server's inside with that endpoint behind its one model."""
    config = EndpointConfig("e", "openai-chat", base_url, "test", strategy=strategy)
    options: dict[str, Any] = {"policy": AGAIN, "strategy": strategy, "max_output_tokens": SHORT}
    async with (
        opened(folder, registry=registry(), profile=AgentProfile()) as chats,
        provider_at("openai-chat", base_url, **options) as provider,
    ):
        model = Prompted(provider)
        chats.catalog.provider = model
        chats.catalog.model = replace(config.info("model"), id=chats.catalog.model.id)
        yield chats, model


async def switched(chats: Chats, model: Prompted, strategy: Strategy) -> str:
    """A chat of several turns with switches before them and a discovery; returns its id."""
    session_id = await chats.said("Hello.")
    await chats.patch("toggle_web_search", session_id, value=True)
    await chats.said("Search the web.", session_id)
    await chats.patch("toggle_web_search", session_id, value=False)
    await chats.patch("set_tool_disabled", session_id, name="bash", value=True)
    chats.registry.put("mcp:notes", [spec("add_note"), spec("list_notes")])
    await chats.said("And without it?", session_id)
    await chats.patch("set_tools_profile", session_id, toolset="reading")
    await chats.said("Only read, please.", session_id)
    call = use("weather")
    if strategy == "bridge":
        call = replace(call, name=BRIDGE_NAME, arguments={"name": "weather", "arguments": {}})
    model.calls += [select("weather"), call]
    await chats.said("How is the weather?", session_id)
    return session_id


async def asked(chats: Chats, session_id: str) -> Sequence[Asked]:
    reasons = [started.reason for started in await chats.of(session_id, StepStarted)]
    usages = [finished.usage for finished in await chats.of(session_id, StepFinished)]
    told = []
    for reason, usage in zip(reasons, usages, strict=True):
        assert usage.prompt is not None
        assert usage.cache_read is not None
        told.append(Asked(reason, usage.prompt, usage.cache_read))
    return told


@pytest.mark.parametrize("strategy", ["append", "bridge"])
async def test_each_request_reuses_the_whole_prompt_before_it(
    tmp_path: Path, base_url: str, strategy: Strategy
) -> None:  # C2, C5, C13, C22
    async with serving(tmp_path, base_url, strategy) as (chats, model):
        session_id = await switched(chats, model, strategy)
    async with serving(tmp_path, base_url, strategy) as (chats, _):  # after a restart, without the MCP server
        await chats.patch("set_tool_disabled", session_id, name="bash", value=False)
        await chats.patch("set_tools_profile", session_id, toolset="full")
        await chats.said("Thanks.", session_id)
        requests = await asked(chats, session_id)
        calls = await chats.of(session_id, ToolCallFinished)
    assert [call.status for call in calls] == ["ok", "ok"]
    assert len(requests) == 8
    planned = [after.reason == "discovered" for after in requests[1:]]
    assert planned.count(True) == (strategy == "append")  # its one miss, which the array's growth costs
    for (before, after), miss in zip(pairwise(requests), planned, strict=True):
        assert (after.reused < before.prompt - ONE) == miss, (before, after)


async def test_a_tool_more_at_the_front_is_seen(base_url: str) -> None:
    """What this proof rests on: here the tools stand first, and one that changes costs all that follows."""
    same = request(message("user", "Count to twenty in words."), model="model", max_output_tokens=SHORT)
    other = replace(same, tools=({"name": "a", "description": "Another.", "parameters": {}}, *same.tools))
    async with provider_at("openai-chat", base_url, policy=AGAIN) as provider:
        first = completed(await collect(provider, same)).usage
        again = completed(await collect(provider, same)).usage
        changed = completed(await collect(provider, other)).usage
    assert first.prompt is not None
    assert again.cache_read == first.prompt - ONE
    assert changed.cache_read is not None
    assert changed.cache_read < first.prompt / 2
