"""Reading an endpoint's own list of models: `GET /models` in the dialects that are about. Pure."""

import re
from collections.abc import Iterator
from typing import Any, Final

from openprogram.core.jsonio import JsonObject
from openprogram.core.usage import Price
from openprogram.providers.catalog import ModelFacts
from openprogram.providers.hosts import host_of
from openprogram.providers.wire import count, object_in

# OpenAI lists everything it has; these cannot chat, or not by Chat Completions.
_NOT_CHAT: Final = re.compile(
    r"embedding|whisper|tts|dall-e|moderation|image|audio|realtime|transcribe|sora|davinci|babbage|codex|-pro\b"
    r"|deep-research|computer-use|search|instruct|-live"
)


def listed_models(answer: JsonObject, base_url: str) -> Iterator[tuple[str, ModelFacts]]:
    """`(name, what the list tells of it)`, in the list's order; entries without a name are left out."""
    official_openai = host_of(base_url) == "api.openai.com"
    data = answer.get("data")
    for model in data if isinstance(data, list) else ():
        name = model.get("id") if isinstance(model, dict) else None
        if isinstance(model, dict) and isinstance(name, str) and name:
            if official_openai and _NOT_CHAT.search(name):
                continue
            yield name, _facts(model)


def _facts(model: dict[str, Any]) -> ModelFacts:
    """Anthropic tells limits, OpenRouter limits, prices and pictures, vLLM and llama.cpp the window."""
    top = object_in(model, "top_provider")
    meta = object_in(model, "meta")
    windows = (
        model.get("max_input_tokens"),
        model.get("context_length"),
        model.get("max_model_len"),
        meta.get("n_ctx"),
        meta.get("n_ctx_train"),
    )
    limits = (model.get("max_tokens"), top.get("max_completion_tokens"))
    title = model.get("display_name") or model.get("name")
    return ModelFacts(
        title=title if isinstance(title, str) else None,
        context_window=_first_count(windows),
        max_output_tokens=_first_count(limits),
        images=_images(object_in(model, "architecture").get("input_modalities")),
        price=_price(object_in(model, "pricing")),
    )


def _images(modalities: object) -> bool | None:
    """OpenRouter names what goes in."""
    return "image" in modalities if isinstance(modalities, list) else None


def _price(pricing: dict[str, Any]) -> Price | None:
    """OpenRouter's prices are dollars per token, as text; a cache rate that is not listed is the plain one."""
    base, output = _rate(pricing.get("prompt")), _rate(pricing.get("completion"))
    if base is None or output is None:
        return None
    read = _rate(pricing.get("input_cache_read"))
    write = _rate(pricing.get("input_cache_write"))
    short = base if write is None else write
    return Price(base, output, base if read is None else read, short, short)


def _rate(value: object) -> float | None:
    """Dollars per million tokens; a negative price means that it varies."""
    try:
        rate = float(value) * 1_000_000 if isinstance(value, str | int | float) else -1.0
    except ValueError:
        return None
    return round(rate, 6) if 0 <= rate < 1e6 else None


def _first_count(values: tuple[object, ...]) -> int | None:
    return next((found for value in values if (found := count(value)) is not None and found > 0), None)
