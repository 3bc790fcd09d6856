"""A chat whose tools change, through the loop, an adapter and HTTP, at the strict fake API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from openprogram.agent.tool_search import tool_search
from openprogram.core.prompt import Api, ModelInfo
from openprogram.core.surface import BRIDGE_NAME, Strategy
from openprogram.providers.config import EndpointConfig
from tests.support.agent import Chat, FakeTool
from tests.support.deferral import deferred, say_more
from tests.support.fake import FakeApi
from tests.support.providers import fake_address, provider_at
from tests.support.script import ScriptedProvider

WORDS: Final = "word " * 1500
"""The fake caches nothing that is short, as the real ones do not."""


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
    """An answer that asks for this call."""
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
