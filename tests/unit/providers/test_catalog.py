"""The table of models, endpoints' own lists, and what an endpoint makes of both."""

from dataclasses import fields
from typing import Any

import pytest

from openprogram.core.usage import Price, Usage
from openprogram.providers.catalog import UNKNOWN, ModelFacts, facts_of
from openprogram.providers.config import EndpointConfig, ModelEntry
from openprogram.providers.listing import listed_models

ANTHROPIC = EndpointConfig("anthropic", "anthropic", "https://api.anthropic.com")
LOCAL = EndpointConfig("local", "openai-chat", "http://127.0.0.1:8081/v1")


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("claude-opus-5-5", Price(4, 20, 0.2, 5, 8)),  # reads at a twentieth
        ("claude-fable-5-1", Price(10, 50, 0.25, 12.5, 20)),  # reads at a fortieth
        ("claude-haiku-4-5", Price(1, 5, 0.1, 1.25, 2)),
        ("claude-haiku-4-5-20251001", Price(1, 5, 0.1, 1.25, 2)),
        ("gpt-6.2-sol", Price(2, 10, 0.1, 2.5, 2.5)),
        ("gpt-4.1", Price(2, 8, 0.5, 2, 2)),  # writes are not billed apart
    ],
)
def test_each_model_has_its_own_rates(model: str, price: Price) -> None:  # C17
    assert facts_of(model).price == price


def test_a_price_that_depends_on_the_prompts_length_is_unknown_rather_than_wrong() -> None:
    assert facts_of("claude-haiku-5-5").price is None
    assert facts_of("claude-haiku-5-5").context_window == 1_000_000


def test_an_unknown_model_is_unknown() -> None:
    assert facts_of("llama-9") == UNKNOWN


def test_the_tables_price_holds_at_the_vendor_only() -> None:
    gateway = EndpointConfig("gw", "anthropic", "https://gateway.example")
    assert ANTHROPIC.info("claude-opus-5").price == Price(5, 25, 0.5, 6.25, 10)
    assert gateway.info("claude-opus-5").price is None
    assert gateway.info("claude-opus-5").context_window == 1_000_000


def test_a_model_is_named_by_endpoint_and_model() -> None:
    info = ANTHROPIC.info("claude-opus-5")
    assert (info.id, info.title) == ("anthropic/claude-opus-5", "Claude Opus 5")
    assert LOCAL.info("llama-9").title == "llama-9"


def test_configuration_goes_before_the_endpoints_word_before_the_table() -> None:
    listed = ModelFacts(title="Listed", context_window=111, max_output_tokens=11, price=Price(1, 1, 1, 1, 1))
    assert LOCAL.info("m", listed).context_window == 111
    whole = EndpointConfig("e", "openai-chat", "http://h", context_window=222, price=Price(2, 2, 2, 2, 2))
    assert (whole.info("m", listed).context_window, whole.info("m", listed).price) == (222, Price(2, 2, 2, 2, 2))
    entry = ModelEntry("m", "Mine", 333, 33, Price(3, 3, 3, 3, 3))
    single = EndpointConfig("e", "openai-chat", "http://h", models=(entry,), context_window=222)
    info = single.info("m", listed)
    assert (info.title, info.context_window, info.max_output_tokens, info.price) == (
        "Mine",
        333,
        33,
        Price(3, 3, 3, 3, 3),
    )


@pytest.mark.parametrize(
    ("model", "configured", "listed", "images"),
    [
        ("claude-opus-5", None, None, True),
        ("deepseek-v4-pro", None, None, False),
        ("llama-9", None, None, None),
        ("llama-9", None, True, True),
        ("claude-opus-5", None, False, False),
        ("llama-9", True, False, True),
        ("gpt-5", False, True, False),
    ],
)
def test_whether_a_model_takes_pictures(
    model: str, configured: bool | None, listed: bool | None, images: bool | None
) -> None:
    endpoint = EndpointConfig("e", "openai-chat", "http://h", models=(ModelEntry(model, images=configured),))
    assert endpoint.facts(model, ModelFacts(images=listed)).images is images


def test_capability_is_of_the_endpoint() -> None:
    assert ANTHROPIC.info("claude-opus-5").capability.cache_ttl_s == 300
    assert ANTHROPIC.info("claude-opus-5").capability.supports_thinking
    frozen = EndpointConfig("e", "openai-chat", "http://h", strategy="frozen", cache_ttl_s=60)
    assert (frozen.info("m").capability.strategy, frozen.info("m").capability.cache_ttl_s) == ("frozen", 60)
    assert not frozen.info("m").capability.supports_thinking


LISTS: list[tuple[dict[str, Any], ModelFacts]] = [
    (
        {"id": "claude-x", "type": "model", "display_name": "Claude X", "max_input_tokens": 1000, "max_tokens": 100},
        ModelFacts("Claude X", 1000, 100),
    ),
    ({"id": "llama", "object": "model", "owned_by": "vllm", "max_model_len": 4096}, ModelFacts(None, 4096)),
    ({"id": "gguf", "meta": {"n_ctx_train": 8192, "n_params": 1}}, ModelFacts(None, 8192)),
    (
        {
            "id": "a/b",
            "name": "A: B",
            "context_length": 200_000,
            "top_provider": {"max_completion_tokens": 64_000},
            "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003", "image": "0"},
        },
        ModelFacts("A: B", 200_000, 64_000, price=Price(3.0, 15.0, 0.3, 3.0, 3.0)),
    ),
    (
        {"id": "sees", "architecture": {"input_modalities": ["text", "image"]}},
        ModelFacts(images=True),
    ),
    ({"id": "blind", "architecture": {"input_modalities": ["text"]}}, ModelFacts(images=False)),
    ({"id": "mute", "architecture": {"input_modalities": "image"}}, ModelFacts()),
    ({"id": "auto", "pricing": {"prompt": "-1", "completion": "-1"}, "context_length": 0}, ModelFacts()),
    ({"id": "odd", "display_name": 5, "max_tokens": "many", "pricing": [], "meta": None}, ModelFacts()),
]


@pytest.mark.parametrize(("model", "facts"), LISTS, ids=[model["id"] for model, _ in LISTS])
def test_lists_are_read_in_every_dialect(model: dict[str, Any], facts: ModelFacts) -> None:
    assert list(listed_models({"data": [model]}, LOCAL.base_url)) == [(model["id"], facts)]


@pytest.mark.parametrize(
    "answer", [{}, {"data": None}, {"data": {"id": "x"}}, {"data": [None, "x", {"id": 5}, {"id": ""}]}]
)
def test_a_list_of_another_shape_is_empty(answer: dict[str, Any]) -> None:
    assert list(listed_models(answer, LOCAL.base_url)) == []


def test_openais_own_list_is_reduced_to_what_can_chat() -> None:
    names = [
        "gpt-6.2-sol",
        "text-embedding-3-large",
        "gpt-5-pro",
        "o3",
        "gpt-4o-audio-preview",
        "gpt-5-codex",
        "gpt-4.1",
    ]
    answer: dict[str, Any] = {"data": [{"id": name} for name in names]}
    assert [name for name, _ in listed_models(answer, "https://api.openai.com/v1")] == ["gpt-6.2-sol", "o3", "gpt-4.1"]
    assert len(list(listed_models(answer, LOCAL.base_url))) == len(names)


def test_no_rate_of_the_table_is_missing_or_absurd() -> None:
    usage = Usage(**{field.name: 1_000_000 for field in fields(Usage)})
    for model in ("claude-opus-5", "gpt-5", "deepseek-v4-pro", "kimi-k3"):
        price = facts_of(model).price
        assert price is not None
        assert price.cache_read < price.input <= price.cache_write_5m <= price.cache_write_1h
        cost = price.cost(usage)
        assert cost is not None
        assert 0 < cost < 1000


@pytest.mark.parametrize(
    ("models", "read", "write_5m", "write_1h"),
    [
        (("claude-opus-5", "claude-opus-4-8", "claude-sonnet-5", "claude-haiku-4-5", "claude-fable-5"), 0.1, 1.25, 2),
        (("claude-opus-5-5", "claude-sonnet-5-5"), 0.05, 1.25, 2),
        (("claude-fable-5-1", "claude-fable-5-2"), 0.025, 1.25, 2),
        (("gpt-5.6-sol", "gpt-6-sol"), 0.1, 1.25, 1.25),
        (("gpt-6.1-sol", "gpt-6.1-terra", "gpt-6.2-sol", "gpt-6.2-astra"), 0.05, 1.25, 1.25),
        (("gpt-5", "gpt-5.4"), 0.1, 1, 1),
    ],
)
def test_rates_are_those_of_the_vendors_pages(
    models: tuple[str, ...], read: float, write_5m: float, write_1h: float
) -> None:  # C17, reference/providers.md section 2 and 3
    for model in models:
        price = facts_of(model).price
        assert price is not None
        rates = (price.cache_read, price.cache_write_5m, price.cache_write_1h)
        assert rates == pytest.approx([price.input * part for part in (read, write_5m, write_1h)])


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        ("claude-opus-5-5", 512),
        ("claude-sonnet-5", 1024),
        ("claude-opus-4-7", 2048),
        ("claude-haiku-4-5", 4096),
        ("claude-sonnet-5-5", None),  # not documented
        ("gpt-6-sol", 1024),
        ("llama-9", None),
    ],
)
def test_the_smallest_prompt_that_is_cached_is_known_where_it_is_documented(model: str, minimum: int | None) -> None:
    assert ANTHROPIC.info(model).caching.minimum == minimum


def test_an_endpoint_tells_how_it_caches() -> None:
    assert ANTHROPIC.info("claude-opus-5").caching.granularity == 1
    assert (LOCAL.info("m").caching.granularity, LOCAL.info("m").caching.ttl_s) == (128, 3600)
    assert EndpointConfig("e", "anthropic", "http://h", cache_ttl_s=60).info("m").caching.ttl_s == 60
