"""What is known of models: a table of facts for current ones, `models.json`, and what an endpoint's own list tells.

Sources of the table: the vendors' documents as of September 2026 and the catalogue of the npm package
`@earendil-works/pi-ai` 1.6.0 (windows, limits, thinking, pictures, prices, smallest prompts that are cached). Prices
are US dollars per million tokens and hold at the vendor's own address only. `token_ratio` was measured on tool
declarations with an offline reconstruction of the vendor's tokenizer (PyPI `ctok` 1.3.0). What is not in the table is
unknown, never guessed.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

import orjson

from openprogram.core.usage import Price

Thinking = Literal["none", "budget", "adaptive"]
"""How a model is told to think: not at all, with a number of tokens, or as it sees fit."""

_SNAPSHOT: Final = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What an adapter has to know of a model. The defaults are what is assumed of an unknown one."""

    title: str | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    thinking: Thinking = "none"
    thinking_can_be_off: bool = True
    takes_temperature: bool = True
    images: bool | None = None
    """Whether it takes pictures; None: that is not known, and it is sent none."""
    price: Price | None = None
    token_ratio: float = 1.0
    """Tokens of this model for one of o200k, in tool declarations; 1 where it is not known."""
    tool_overhead: int = 0
    """Tokens that the vendor adds to a request with tools."""
    cache_minimum: int | None = None
    """Shorter prompts (tokens) are not cached."""
    vendor: str | None = None
    """Host name at which the price holds."""


UNKNOWN: Final = ModelFacts()


def facts_of(model: str) -> ModelFacts:
    """Facts about a model by the name that the endpoint knows it by; a dated snapshot has those of its model."""
    table = _table()
    found = table.get(model) or table.get(_SNAPSHOT.sub("", model))
    return found or UNKNOWN


@cache
def _table() -> dict[str, ModelFacts]:
    data: dict[str, Any] = orjson.loads(files("openprogram.providers").joinpath("models.json").read_bytes())
    return {
        model["id"]: ModelFacts(
            title=model["title"],
            context_window=model["context_window"],
            max_output_tokens=model["max_output_tokens"],
            thinking=model.get("thinking", "none"),
            thinking_can_be_off=model.get("thinking_can_be_off", True),
            takes_temperature=model.get("takes_temperature", True),
            images=model.get("images"),
            price=Price(**model["price"]) if "price" in model else None,
            token_ratio=model.get("token_ratio", 1.0),
            tool_overhead=model.get("tool_overhead", 0),
            cache_minimum=model.get("cache_minimum"),
            vendor=vendor,
        )
        for vendor, models in data.items()
        for model in models
    }
