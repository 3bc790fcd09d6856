"""OpenAI's Responses API, at the vendor or at a server that is compatible with it."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager

from openprogram.core.jsonio import JsonObject
from openprogram.core.prompt import ModelInfo, ProviderEvent, ProviderRequest
from openprogram.providers.config import EndpointConfig
from openprogram.providers.endpoint import Endpoint
from openprogram.providers.history import call_ids
from openprogram.providers.http import HttpClient
from openprogram.providers.responses_events import ResponsesParser
from openprogram.providers.responses_prompt import request_body
from openprogram.providers.streaming import Chunks, answer


class ResponsesProvider:
    """One endpoint; implements `core.ports.Provider`, without retries (`retry` adds them)."""

    def __init__(self, config: EndpointConfig) -> None:
        self._config = config
        self._endpoint = Endpoint(config)
        self._http = HttpClient(config.base_url, config.key, config.stall_timeout_s)

    def stream(self, request: ProviderRequest) -> AsyncGenerator[ProviderEvent, None]:
        """Send the request once; see `core.ports.Provider.stream`."""
        parser = ResponsesParser(call_ids(request.messages))
        return answer(lambda: self._body(request), self._send, parser, self._endpoint.site)

    def replay(self, body: JsonObject) -> AsyncGenerator[ProviderEvent, None]:
        """Send a body as it is, once."""
        return answer(lambda: body, self._send, ResponsesParser(), self._endpoint.site)

    def _send(self, body: JsonObject) -> AbstractAsyncContextManager[Chunks]:
        return self._http.stream("/responses", body)

    def _body(self, request: ProviderRequest) -> JsonObject:
        sent = self._endpoint.configured(request)
        return request_body(sent, self._config.model_id(request.model), self._endpoint.facts(request.model))

    async def models(self) -> tuple[ModelInfo, ...]:
        """Configured models, or those that the endpoint lists. Raises `NoEndpoint` when it cannot be asked."""
        return await self._endpoint.models(lambda: self._http.get("/models"))

    async def aclose(self) -> None:
        """Close connections."""
        await self._http.aclose()
