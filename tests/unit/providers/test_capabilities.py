"""What is known of endpoints: base URL, API and model together (cache.md section 1)."""

from typing import get_args

import pytest

from openprogram.core.prompt import Api
from openprogram.core.surface import Strategy
from openprogram.providers.capabilities import ROWS, SPOKEN, capability_of
from openprogram.surface.strategies import UNDER_DELTAS

ANTHROPIC = "https://api.anthropic.com"
OPENAI = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("base_url", "api", "model", "strategy"),
    [
        (ANTHROPIC, "anthropic", "claude-opus-5-5", "inline_changes"),
        (ANTHROPIC, "anthropic", "claude-opus-4-8-20260115", "inline_changes"),
        (ANTHROPIC, "anthropic", "claude-fable-5-2", "inline_changes"),
        (ANTHROPIC, "anthropic", "claude-sonnet-5-5", "inline_changes"),
        (ANTHROPIC, "anthropic", "claude-sonnet-5", "tool_reference"),
        (ANTHROPIC, "anthropic", "claude-haiku-4-5-20251001", "tool_reference"),
        (ANTHROPIC, "anthropic", "claude-opus-4-7", "tool_reference"),
        (ANTHROPIC, "anthropic", "claude-next-9", "append"),
        ("https://gateway.example", "anthropic", "claude-opus-5-5", "append"),
        ("http://127.0.0.1:8080", "anthropic", "claude-opus-5-5", "append"),
        ("https://api.anthropic.com.example.org", "anthropic", "claude-opus-5-5", "append"),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com",
            "anthropic",
            "us.anthropic.claude-opus-5-20260101-v1:0",
            "reference_changes",
        ),
        ("https://us-east5-aiplatform.googleapis.com", "anthropic", "claude-opus-5@20260101", "reference_changes"),
        (OPENAI, "openai-responses", "gpt-6.2-sol", "additional_tools"),
        (OPENAI, "openai-responses", "gpt-5.6-terra", "additional_tools"),
        (OPENAI, "openai-responses", "gpt-5.4-mini", "client_tool_search"),
        (OPENAI, "openai-responses", "gpt-5.2", "append"),
        (OPENAI, "openai-chat", "gpt-6.2-sol", "append"),
        ("http://127.0.0.1:11434/v1", "openai-chat", "qwen3:8b", "append"),
    ],
)
def test_the_strategy_is_of_the_endpoint_and_not_of_a_name(
    base_url: str, api: Api, model: str, strategy: Strategy
) -> None:
    assert capability_of(base_url, api, model).strategy == strategy


@pytest.mark.parametrize(
    ("model", "least", "binds"),
    [
        ("claude-opus-5-5", 512, True),
        ("claude-opus-5", 512, False),
        ("claude-sonnet-5-5", 0, True),
        ("claude-opus-4-8", 1024, False),
        ("claude-opus-4-7", 2048, False),
        ("claude-haiku-4-5-20251001", 4096, False),
        ("llama-4", 0, False),
    ],
)
def test_what_a_cache_needs_is_of_the_model(model: str, least: int, binds: bool) -> None:
    found = capability_of(ANTHROPIC, "anthropic", model)
    assert (found.min_cache_tokens, found.binds_thinking) == (least, binds)


def test_a_configuration_decides() -> None:
    found = capability_of(ANTHROPIC, "anthropic", "claude-opus-5-5", strategy="frozen", cache_ttl_s=60.0)
    assert (found.strategy, found.cache_ttl_s, found.binds_thinking) == ("frozen", 60.0, True)


def test_only_openai_itself_takes_a_list_of_allowed_tools() -> None:
    assert capability_of(OPENAI, "openai-chat", "gpt-5").allowed_tools
    assert not capability_of(OPENAI, "openai-chat", "gpt-4o").allowed_tools
    assert not capability_of("http://127.0.0.1:8080/v1", "openai-chat", "gpt-5").allowed_tools


def test_every_format_carries_what_its_endpoints_are_said_to_do() -> None:
    for api in get_args(Api):
        assert {row.strategy for row in ROWS if row.api == api} <= SPOKEN[api]
        assert UNDER_DELTAS in SPOKEN[api]
