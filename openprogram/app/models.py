"""Which models there are: those of the configured endpoints, and the demo."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

import structlog

from openprogram.app.demo import ENDPOINT, MODEL, DemoProcess
from openprogram.core.errors import NoEndpoint
from openprogram.core.ports import Provider
from openprogram.core.prompt import ModelInfo
from openprogram.core.usage import CacheRules, Price
from openprogram.providers.config import EndpointConfig

ASK_AGAIN_S: Final = 300.0
"""How long an endpoint's list of models is believed."""
RETRY_S: Final = 15.0
"""How soon an endpoint that could not be asked is asked again."""
GLANCE_S: Final = 0.02
"""How long a list of models waits for an endpoint: no tab's hello is late for it. What comes later is told (P1)."""
PATIENCE_S: Final = 3.0
"""How long a turn waits for the list that its model should be in, before it takes the model's name for good."""
LONG_PATIENCE_S: Final = 30.0
"""How long a turn waits for the list that its default model is taken from: without one it could not begin."""

_log = structlog.get_logger(__name__)

DEMO_INFO: Final = ModelInfo(
    id=f"{ENDPOINT}/{MODEL}",
    endpoint=ENDPOINT,
    model=MODEL,
    title="Demo (scripted, offline)",
    price=Price(0.0, 0.0, 0.0, 0.0, 0.0),
    caching=CacheRules(ttl_s=600.0, minimum=1_024, granularity=128),
    demo=True,
)
"""Its cache is that of the fake API for Chat Completions (`docs/fake-api.md`)."""


class Endpoint:
    """One configured endpoint with its provider, made when first needed, and its list of models."""

    def __init__(
        self,
        config: EndpointConfig,
        build: Callable[[EndpointConfig], Provider],
        now: Callable[[], float],
        changed: Callable[[], None],
    ) -> None:
        self.config = config
        self._build = build
        self._now = now
        self._changed = changed
        self._provider: Provider | None = None
        self._models: tuple[ModelInfo, ...] = ()
        self._fresh_until = 0.0
        self._asked_at = 0.0
        self._asking: asyncio.Task[None] | None = None
        self.problem: NoEndpoint | None = None
        """Why the endpoint could not be asked the last time."""

    @property
    def provider(self) -> Provider:
        """The adapter behind this endpoint."""
        if self._provider is None:
            self._provider = self._build(self.config)
        return self._provider

    async def models(self, patience_s: float) -> tuple[ModelInfo, ...]:
        """The newest list that could be had within `patience_s` of asking."""
        if self._now() >= self._fresh_until:
            if self._asking is None or self._asking.done():
                self._asked_at = self._now()
                self._asking = asyncio.create_task(self._ask(), name=f"models of {self.config.name}")
            if not self._models:  # an old list is good enough while a new one is asked for
                waited = self._now() - self._asked_at
                await asyncio.wait({self._asking}, timeout=max(0.0, patience_s - waited))
        return self._models

    def about(self, model: str) -> ModelInfo:
        """What is known of a model, in the newest list or without it."""
        listed = (info for info in self._models if info.model == model)
        return next(listed, None) or self.config.info(model)

    async def _ask(self) -> None:
        try:
            before, self._models = self._models, await self.provider.models()
            self._fresh_until = self._now() + ASK_AGAIN_S
            self.problem = None
            if self._models != before:
                self._changed()
        except NoEndpoint as error:
            self.problem = error
            self._fresh_until = self._now() + RETRY_S
            _log.warning("endpoint_lists_no_models", endpoint=self.config.name, error=error.message)

    async def aclose(self) -> None:
        """Close connections."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait({self._asking})
        if self._provider is not None:
            await self._provider.aclose()


class Models:
    """The `ModelCatalog` of the server. The demo is offered last, and is the default where there is nothing else."""

    def __init__(
        self,
        configs: Iterable[EndpointConfig],
        demo: DemoProcess,
        demo_config: Callable[[str], EndpointConfig],
        build: Callable[[EndpointConfig], Provider],
        *,
        now: Callable[[], float],
    ) -> None:
        self._listeners: list[Callable[[], None]] = []
        self._endpoints = {config.name: Endpoint(config, build, now, self._tell) for config in configs}
        self._demo = demo
        self._demo_config = demo_config
        self._build = build
        self._demo_provider: tuple[str, Provider] | None = None

    @property
    def has_endpoint(self) -> bool:
        """Whether anything but the demo is configured."""
        return bool(self._endpoints)

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Have `listener` called whenever an endpoint's list of models has become another one."""
        self._listeners.append(listener)

    async def models(self) -> tuple[ModelInfo, ...]:
        """Every model that is known now; the default first, where it is."""
        lists = await asyncio.gather(*(endpoint.models(GLANCE_S) for endpoint in self._endpoints.values()))
        return (*(model for models in lists for model in models), DEMO_INFO)

    async def default_id(self, patience_s: float = GLANCE_S) -> str | None:
        """The default model: the first one of the first endpoint that has told its models; None where none has."""
        for endpoint in self._endpoints.values():
            if models := await endpoint.models(patience_s):
                return models[0].id
        return None if self._endpoints else DEMO_INFO.id

    def about(self, model_id: str) -> ModelInfo | None:
        """What is known of a model, listed or not; None where no endpoint is named so. Asks nobody."""
        if model_id == DEMO_INFO.id:
            return DEMO_INFO
        name, _, model = model_id.partition("/")
        endpoint = self._endpoints.get(name)
        return endpoint.about(model) if endpoint is not None and model else None

    async def resolve(self, model_id: str | None) -> tuple[ModelInfo, Provider]:
        """The model of that id, or the default. Raises `NoEndpoint` naming the choices."""
        if model_id is None:
            model_id = await self._required_default()
        if model_id == DEMO_INFO.id:
            return DEMO_INFO, await self._demo_adapter()
        name, _, model = model_id.partition("/")
        endpoint = self._endpoints.get(name)
        if endpoint is None or not model:
            names = ", ".join([*self._endpoints, ENDPOINT])
            raise NoEndpoint(
                f"no endpoint serves the model {model_id}", hint=f"there are {names}; choose another model"
            )
        models = await endpoint.models(PATIENCE_S)
        if models and all(info.id != model_id for info in models):
            raise NoEndpoint(
                f"{name} has no model {model}", hint=f"choose one of {', '.join(info.id for info in models)}"
            )
        return endpoint.about(model), endpoint.provider  # an endpoint that cannot list may have it

    async def aclose(self) -> None:
        """Close every adapter, then the demo."""
        for endpoint in self._endpoints.values():
            await endpoint.aclose()
        if self._demo_provider is not None:
            await self._demo_provider[1].aclose()
        await self._demo.aclose()

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()

    async def _required_default(self) -> str:
        default = await self.default_id(LONG_PATIENCE_S)
        if default is None:
            problems = [endpoint.problem for endpoint in self._endpoints.values() if endpoint.problem is not None]
            names = ", ".join(self._endpoints)
            raise NoEndpoint(
                "; ".join(problem.message for problem in problems) or f"{names} did not answer in time",
                hint="check the endpoint's address and key, name its models in config.toml, or choose the demo model",
            )
        return default

    async def _demo_adapter(self) -> Provider:
        base_url = await self._demo.base_url()
        if self._demo_provider is None or self._demo_provider[0] != base_url:
            if self._demo_provider is not None:
                await self._demo_provider[1].aclose()
            self._demo_provider = (base_url, self._build(self._demo_config(base_url)))
        return self._demo_provider[1]
