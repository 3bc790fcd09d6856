"""Anthropic's Messages API, at Anthropic or wherever its format is spoken."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from openprogram.core.jsonio import JsonObject
from openprogram.core.prompt import ModelInfo, ProviderEvent, ProviderRequest
from openprogram.providers.anthropic_events import AnthropicParser
from openprogram.providers.anthropic_prompt import BETAS, request_body
from openprogram.providers.config import EndpointConfig
from openprogram.providers.endpoint import Endpoint
from openprogram.providers.history import call_ids
from openprogram.providers.streaming import Chunks, answer

if TYPE_CHECKING:
    from openprogram.providers.anthropic_http import SdkClient


def load_client() -> "type[SdkClient]":
    """Import the vendor's SDK; call it in a thread."""
    from openprogram.providers.anthropic_http import SdkClient  # noqa: PLC0415 (two seconds of CPU, 80 MB)

    return SdkClient


class AnthropicProvider:
    """One Messages endpoint; implements `core.ports.Provider`, without retries (`retry` adds them)."""

    def __init__(self, config: EndpointConfig) -> None:
        self._config = config
        self._endpoint = Endpoint(config)
        self._client: SdkClient | None = None
        self._opening = asyncio.Lock()

    def stream(self, request: ProviderRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Send the request once; see `core.ports.Provider.stream`."""
        parser = AnthropicParser(call_ids(request.messages))
        send = partial(self._send, beta=BETAS.get(request.strategy))
        return answer(lambda: self._body(request), send, parser, self._endpoint.site)

    def replay(self, body: JsonObject) -> AsyncGenerator[ProviderEvent, None]:
        """Send a body as it is, once."""
        send = partial(self._send, beta=BETAS["inline_changes"] if _has_changes(body) else None)
        return answer(lambda: body, send, AnthropicParser(), self._endpoint.site)

    async def models(self) -> tuple[ModelInfo, ...]:
        """Configured models, or those that the endpoint lists. Raises `NoEndpoint` when it cannot be asked."""
        return await self._endpoint.models(self._list)

    async def aclose(self) -> None:
        """Close connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _body(self, request: ProviderRequest) -> JsonObject:
        model = request.model
        sent = self._endpoint.configured(request)
        return request_body(sent, self._config.model_id(model), self._endpoint.facts(model))

    @asynccontextmanager
    async def _send(self, body: JsonObject, *, beta: str | None) -> AsyncIterator[Chunks]:
        client = await self._open()
        async with client.stream(body, beta) as chunks:
            yield chunks

    async def _list(self) -> JsonObject:
        client = await self._open()
        return await client.list_models()

    async def _open(self) -> "SdkClient":
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make_client)
            return self._client

    def _make_client(self) -> "SdkClient":
        return load_client()(self._config.base_url, self._config.key, self._config.stall_timeout_s)


def _has_changes(body: JsonObject) -> bool:
    """Whether a message changes the tools in mid-conversation."""
    messages = body.get("messages")
    roles = (
        [message.get("role") for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []
    )
    return "system" in roles
