"""One model endpoint as configured: base URL, API, key, models and what is known of them."""

import re
from dataclasses import dataclass, field, replace
from typing import Final

from openprogram.core.prompt import Api, Counting, ModelInfo
from openprogram.core.surface import Capability, Strategy
from openprogram.core.usage import CacheRules, Price
from openprogram.providers.capabilities import capability_of
from openprogram.providers.catalog import UNKNOWN, ModelFacts, facts_of
from openprogram.providers.hosts import Quirks, cache_granularity_of, cache_ttl_of, host_of, quirks_of

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""Names of endpoints: they are the first half of every model id, `endpoint/model`."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model as configured; what is None is taken from the endpoint's settings, the table or its own list."""

    model: str
    title: str | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    price: Price | None = None
    images: bool | None = None


BUILT_IN: Final = "built-in"
"""The source of the demo's endpoint, whose address is another one after each start."""


@dataclass(frozen=True, slots=True)
class EndpointConfig:
    """Everything an adapter is told about its endpoint. The key is in no `repr`."""

    name: str
    api: Api
    base_url: str
    key: str | None = field(default=None, repr=False)
    models: tuple[ModelEntry, ...] = ()
    """Empty: the endpoint is asked."""
    strategy: Strategy | None = None
    """None: what is known of the endpoint."""
    context_window: int | None = None
    max_output_tokens: int | None = None
    price: Price | None = None
    cache_ttl_s: float | None = None
    stall_timeout_s: float = 300.0
    """So long may the endpoint send nothing at all, before the first byte (a local model reading a long prompt) or
    within an answer, until it is given up."""
    hosted_search: bool = False
    """Whether the chip's searches are made by the provider itself."""
    cache_diagnosis: bool | None = None
    """Whether the endpoint is asked why it did not read from its cache. None: what is known of it."""
    quirks: Quirks | None = None
    """None: what is known of the host."""
    source: str = "config"
    """`config`, the environment variable that made it an endpoint, or `BUILT_IN`."""

    @property
    def effective_quirks(self) -> Quirks:
        """The configured quirks, or the host's."""
        return self.quirks or quirks_of(self.base_url)

    def model_id(self, model: str) -> str:
        """`endpoint/model`."""
        return f"{self.name}/{model}"

    def entry(self, model: str) -> ModelEntry:
        """What is configured for that model, even if it is nothing."""
        return next((entry for entry in self.models if entry.model == model), ModelEntry(model))

    def facts(self, model: str, listed: ModelFacts = UNKNOWN) -> ModelFacts:
        """What is known of a model here: the configuration before the endpoint's own word before the table.

        The table's price holds at the vendor's own address only.
        """
        entry = self.entry(model)
        known = facts_of(model)
        at_vendor = known.vendor == host_of(self.base_url)
        return replace(
            known,
            title=entry.title or known.title or listed.title,
            context_window=(
                entry.context_window or self.context_window or listed.context_window or known.context_window
            ),
            max_output_tokens=(self.output_limit(model) or listed.max_output_tokens or known.max_output_tokens),
            images=next((told for told in (entry.images, listed.images, known.images) if told is not None), None),
            price=entry.price or self.price or listed.price or (known.price if at_vendor else None),
        )

    def output_limit(self, model: str) -> int | None:
        """The output limit that the configuration sets, if it does."""
        return self.entry(model).max_output_tokens or self.max_output_tokens

    def _capability(self, model: str, facts: ModelFacts) -> Capability:
        known = capability_of(
            self.base_url,
            self.api,
            model,
            strategy=self.strategy,
            cache_ttl_s=self.cache_ttl_s,
            diagnosis=self.cache_diagnosis,
            hosted_search=self.hosted_search,
            supports_thinking=facts.thinking != "none",
        )
        return replace(known, endpoint="") if self.source == BUILT_IN else known

    def info(self, model: str, listed: ModelFacts = UNKNOWN) -> ModelInfo:
        """A model as offered to the user."""
        facts = self.facts(model, listed)
        ttl_s = self.cache_ttl_s or cache_ttl_of(self.base_url, self.api)
        return ModelInfo(
            id=self.model_id(model),
            endpoint=self.name,
            model=model,
            title=facts.title or model,
            context_window=facts.context_window,
            max_output_tokens=facts.max_output_tokens,
            price=facts.price,
            capability=self._capability(model, facts),
            counting=Counting(self.api, facts.token_ratio, facts.tool_overhead),
            caching=CacheRules(ttl_s, facts.cache_minimum, cache_granularity_of(self.api)),
        )
