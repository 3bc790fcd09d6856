"""What the adapters know of their endpoint: its configuration, and what it has told of its models itself."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from openprogram.core.errors import NoEndpoint
from openprogram.core.jsonio import JsonObject
from openprogram.core.prompt import ModelInfo, ProviderRequest
from openprogram.providers.catalog import UNKNOWN, ModelFacts
from openprogram.providers.config import EndpointConfig
from openprogram.providers.failures import Site, failure_of
from openprogram.providers.faults import Fault
from openprogram.providers.listing import listed_models


class Endpoint:
    """A configuration and what the endpoint itself has told of its models so far."""

    def __init__(self, config: EndpointConfig) -> None:
        self.config = config
        self.site = Site(config.name, config.base_url, config.key)
        self._listed: dict[str, ModelFacts] = {}

    def facts(self, model: str) -> ModelFacts:
        """What is known of a model, from all sources."""
        return self.config.facts(model, self._listed.get(model, UNKNOWN))

    def configured(self, request: ProviderRequest) -> ProviderRequest:
        """The request with the output limit of the configuration, where it sets none itself."""
        limit = self.config.output_limit(request.model)
        if request.params.max_output_tokens is not None or limit is None:
            return request
        return replace(request, params=replace(request.params, max_output_tokens=limit))

    async def models(self, ask: Callable[[], Awaitable[JsonObject]]) -> tuple[ModelInfo, ...]:
        """The configured models, or those of the endpoint's list, fetched by `ask`. Raises `NoEndpoint`."""
        configured = self.config.models
        if configured:
            return tuple(self._info(entry.model) for entry in configured)
        try:
            self._listed = dict(listed_models(await ask(), self.config.base_url))
        except Fault as fault:
            failure = failure_of(fault, self.site, time.time())
            raise NoEndpoint(
                failure.message, field=f"endpoints.{self.config.name}", hint="Or list its models in the configuration."
            ) from fault
        return tuple(self._info(model) for model in self._listed)

    def _info(self, model: str) -> ModelInfo:
        return self.config.info(model, self._listed.get(model, UNKNOWN))
