"""The models that the fake API knows, as data.

Real names are served with the real model's documented limits, so that adapters and tests meet the
rules of the model they will talk to. Whoever answers is the demo model all the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

Api: TypeAlias = Literal["anthropic", "chat", "responses"]

DEMO: Final = "demo"
BENCH_NAME: Final = re.compile(r"^bench-(\d{1,7})-(\d{1,6})$")


@dataclass(frozen=True, slots=True)
class Model:
    """One model's limits, in tokens.

    `min_cacheable` is Anthropic's minimum prefix size; `mid_system` says whether role `system` may
    stand among the messages, and change tools there; `prefill` whether the last message may be the
    assistant's. `keeps_thinking` is false where thinking of earlier turns is taken out of the prompt;
    `binds_thinking` true where it is valid behind the very prompt that it was made behind only.
    `writes_cache` names the APIs on which prompts are cached at breakpoints, for a price, as OpenAI's do
    since GPT-5.6; those models also take `additional_tools`. `tool_search` (since GPT-5.4) says whether tools
    may be deferred there. `system_first_only` is what many chat templates of local servers demand.
    """

    id: str
    apis: tuple[Api, ...]
    display_name: str
    context_window: int = 200_000
    max_output: int = 64_000
    min_cacheable: int = 1024
    mid_system: bool = True
    prefill: bool = True
    keeps_thinking: bool = True
    binds_thinking: bool = False
    writes_cache: tuple[Api, ...] = ()
    tool_search: bool = True
    system_first_only: bool = False


def _claude(id: str, name: str, minimum: int, *, binds: bool = False) -> Model:
    """A recent model: tools may change in mid-conversation, no prefill."""
    return Model(id, ("anthropic",), name, 1_000_000, 128_000, minimum, prefill=False, binds_thinking=binds)


def _older_claude(
    id: str, name: str, minimum: int, *, prefill: bool = False, window: int = 200_000, keeps_thinking: bool = True
) -> Model:
    """A model that takes no role `system` among the messages."""
    return Model(
        id,
        ("anthropic",),
        name,
        window,
        128_000,
        minimum,
        mid_system=False,
        prefill=prefill,
        keeps_thinking=keeps_thinking,
    )


_OPENAI: Final[tuple[Api, ...]] = ("chat", "responses")
_EVERY: Final[tuple[Api, ...]] = ("anthropic", *_OPENAI)


def _gpt(id: str, name: str, *, writes_cache: bool = True) -> Model:
    return Model(id, _OPENAI, name, 400_000, 128_000, writes_cache=_OPENAI if writes_cache else ())


# Minimum sizes and mid-conversation system messages: vendor documents of September 2026. For
# Sonnet 5.5, Haiku 5.5 and Fable 5.2 no minimum is published; 1,024 is an assumption.
_TABLE: Final = (
    Model(DEMO, _EVERY, "Demo model (scripted, no intelligence)", writes_cache=("responses",)),
    Model("demo-local", ("chat",), "Demo model, strict chat template", 32_768, 8_192, system_first_only=True),
    Model("demo-small", _EVERY, "Demo model, small context window", 4_096, 1_024, writes_cache=("responses",)),
    _claude("claude-opus-5-5", "Claude Opus 5.5", 512, binds=True),
    _claude("claude-opus-5", "Claude Opus 5", 512),
    _claude("claude-fable-5-2", "Claude Fable 5.2", 1024, binds=True),
    _claude("claude-fable-5-1", "Claude Fable 5.1", 512, binds=True),
    _claude("claude-fable-5", "Claude Fable 5", 512),
    _claude("claude-mythos-5-1", "Claude Mythos 5.1", 512, binds=True),
    _claude("claude-mythos-5", "Claude Mythos 5", 512),
    _claude("claude-sonnet-5-5", "Claude Sonnet 5.5", 1024, binds=True),
    _claude("claude-haiku-5-5", "Claude Haiku 5.5", 1024, binds=True),
    _claude("claude-opus-4-8", "Claude Opus 4.8", 1024),
    _older_claude("claude-sonnet-5", "Claude Sonnet 5", 1024, window=1_000_000),
    _older_claude("claude-opus-4-7", "Claude Opus 4.7", 2048, window=1_000_000),
    _older_claude("claude-opus-4-6", "Claude Opus 4.6", 4096),
    _older_claude("claude-sonnet-4-6", "Claude Sonnet 4.6", 1024),
    _older_claude("claude-opus-4-5", "Claude Opus 4.5", 4096, prefill=True),
    _older_claude("claude-sonnet-4-5", "Claude Sonnet 4.5", 1024, prefill=True, keeps_thinking=False),
    _older_claude("claude-haiku-4-5", "Claude Haiku 4.5", 4096, prefill=True, keeps_thinking=False),
    _gpt("gpt-6.2", "GPT-6.2"),
    _gpt("gpt-6.1", "GPT-6.1"),
    _gpt("gpt-6", "GPT-6"),
    _gpt("gpt-5.6", "GPT-5.6"),
    _gpt("gpt-5.5", "GPT-5.5", writes_cache=False),
    _gpt("gpt-5.4", "GPT-5.4", writes_cache=False),
    *(Model(id, _OPENAI, id, 400_000, 128_000, tool_search=False) for id in ("gpt-5.2", "gpt-5.1", "gpt-5")),
    *(Model(id, _OPENAI, id, 200_000, 100_000, tool_search=False) for id in ("o3", "o4-mini")),
    Model("gpt-4.1", _OPENAI, "GPT-4.1", 1_000_000, 128_000, tool_search=False),
    Model("gpt-4o", _OPENAI, "GPT-4o", 128_000, 16_384, tool_search=False),
)
_BY_ID: Final = {model.id: model for model in _TABLE}
_VARIANT: Final = re.compile(r"^(claude-.+?(?=-\d{8}$)|gpt-[\d.]+o?(?=-[a-z]+$))")


def find_model(name: str, api: Api) -> Model | None:
    """The model of that name, `demo-ANYTHING` and `bench-TOKENS-RATE` included; `None` if unknown. A dated name
    (`claude-haiku-4-5-20251001`) and a size of OpenAI's (`gpt-6-sol`) have the limits of their family."""
    model = _BY_ID.get(name)
    if model is None and (variant := _VARIANT.match(name)) and variant[1] in _BY_ID:
        model = replace(_BY_ID[variant[1]], id=name, display_name=name)
    if model is None and (name.startswith("demo-") or BENCH_NAME.match(name)):
        model = replace(_BY_ID[DEMO], id=name, max_output=10_000_000, display_name=f"Demo model ({name})")
    if model is None or api not in model.apis:
        return None
    return model


def bench_parameters(name: str) -> tuple[int, float] | None:
    """Number of deltas and deltas a second of a `bench-TOKENS-RATE` model, or `None`."""
    match = BENCH_NAME.match(name)
    return (int(match.group(1)), float(match.group(2))) if match else None
