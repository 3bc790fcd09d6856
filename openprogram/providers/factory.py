"""From an endpoint's configuration to its provider."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import Protocol, assert_never

from openprogram.core.jsonio import JsonObject
from openprogram.core.ports import Provider
from openprogram.core.prompt import ProviderEvent
from openprogram.providers.anthropic import AnthropicProvider, load_client
from openprogram.providers.config import EndpointConfig
from openprogram.providers.openai_chat import ChatProvider
from openprogram.providers.openai_responses import ResponsesProvider
from openprogram.providers.retry import OneTry, RetryingProvider, RetryPolicy


class Adapter(OneTry, Protocol):
    """What speaks an endpoint's wire format."""

    def replay(self, body: JsonObject) -> AsyncGenerator[ProviderEvent, None]:
        """Send a body as it is, once."""
        ...


def build_provider(config: EndpointConfig, policy: RetryPolicy | None = None) -> Provider:
    """The provider for one endpoint, with retries. Cheap: nothing is imported or connected before first use."""
    return RetryingProvider(adapter(config), policy or RetryPolicy())


async def warm_up(configs: Iterable[EndpointConfig]) -> None:
    """At start-up, beside everything else: import what the first request to these endpoints will need."""
    if any(config.api == "anthropic" for config in configs):
        await asyncio.to_thread(load_client)


def adapter(config: EndpointConfig) -> Adapter:
    """The endpoint without retries."""
    match config.api:
        case "anthropic":
            return AnthropicProvider(config)
        case "openai-responses":
            return ResponsesProvider(config)
        case "openai-chat":
            return ChatProvider(config)
        case _:
            assert_never(config.api)
