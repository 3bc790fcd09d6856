"""Settings and blocks of a Messages request. The goldens hold whole bodies."""

from typing import Any

import orjson
import pytest

from openprogram.core.jsonio import JsonObject, canonical
from openprogram.core.messages import Message, ReasoningBlock, TextBlock, ToolResultBlock
from openprogram.core.prompt import ModelParams, ProviderRequest
from openprogram.providers.anthropic_prompt import (
    DEFAULT_MAX_TOKENS,
    NO_TOOL,
    USUAL_MAX_TOKENS,
    request_body,
    settings,
)
from openprogram.providers.catalog import UNKNOWN, ModelFacts, facts_of
from tests.support.histories import TOOL, call, chain, message, result


def body_of(*messages: Message, tools: int = 1) -> dict[str, Any]:
    request = ProviderRequest("m", ("You help.", " "), (TOOL,) * tools, chain(*messages))
    body: dict[str, Any] = orjson.loads(canonical(request_body(request, "e/m", UNKNOWN)))
    return body


@pytest.mark.parametrize(
    ("facts", "params", "expected"),
    [
        pytest.param(UNKNOWN, ModelParams(), {"max_tokens": DEFAULT_MAX_TOKENS}, id="unknown-model"),
        pytest.param(ModelFacts(max_output_tokens=4096), ModelParams(), {"max_tokens": 4096}, id="small-model"),
        pytest.param(
            ModelFacts(max_output_tokens=128_000), ModelParams(), {"max_tokens": USUAL_MAX_TOKENS}, id="large-model"
        ),
        pytest.param(UNKNOWN, ModelParams(max_output_tokens=99), {"max_tokens": 99}, id="asked-for"),
        pytest.param(UNKNOWN, ModelParams(temperature=0.5), {"max_tokens": 8192, "temperature": 0.5}, id="temperature"),
        pytest.param(UNKNOWN, ModelParams(thinking_budget=2000), {"max_tokens": 8192}, id="thinking-of-unknown-model"),
        pytest.param(
            ModelFacts(thinking="budget"),
            ModelParams(thinking_budget=100, temperature=0.5),
            {"max_tokens": 8192, "thinking": {"type": "enabled", "budget_tokens": 1024}},
            id="budget-has-a-minimum-and-excludes-temperature",
        ),
        pytest.param(
            ModelFacts(thinking="budget"),
            ModelParams(thinking_budget=10_000),
            {"max_tokens": 18_192, "thinking": {"type": "enabled", "budget_tokens": 10_000}},
            id="the-limit-is-above-the-budget",
        ),
        pytest.param(ModelFacts(thinking="budget"), ModelParams(), {"max_tokens": 8192}, id="budget-off"),
        pytest.param(
            ModelFacts(thinking="adaptive"),
            ModelParams(thinking_budget=1, effort="low"),
            {
                "max_tokens": 8192,
                "thinking": {"type": "adaptive", "display": "summarized"},
                "output_config": {"effort": "low"},
            },
            id="adaptive",
        ),
        pytest.param(
            ModelFacts(thinking="adaptive"),
            ModelParams(),
            {"max_tokens": 8192, "thinking": {"type": "disabled"}},
            id="adaptive-off",
        ),
        pytest.param(
            ModelFacts(thinking="adaptive", thinking_can_be_off=False),
            ModelParams(),
            {"max_tokens": 8192, "thinking": {"type": "adaptive", "display": "summarized"}},
            id="always-on",
        ),
        pytest.param(
            ModelFacts(takes_temperature=False), ModelParams(temperature=0.5), {"max_tokens": 8192}, id="no-temperature"
        ),
    ],
)
def test_settings_take_the_form_that_the_model_takes(
    facts: ModelFacts, params: ModelParams, expected: JsonObject
) -> None:
    assert settings(params, facts) == expected


def test_every_known_model_gets_settings_within_its_own_limits() -> None:
    for model in ("claude-opus-5-5", "claude-sonnet-5", "claude-haiku-4-5", "claude-opus-4-6"):
        facts = facts_of(model)
        assert facts.max_output_tokens is not None
        limit = settings(ModelParams(thinking_budget=4096), facts)["max_tokens"]
        assert isinstance(limit, int)
        assert 4096 < limit <= facts.max_output_tokens


def test_a_failed_call_is_marked_and_a_result_without_text_has_no_content() -> None:
    failed = ToolResultBlock("c_1", "error", (TextBlock(""), TextBlock("boom")), display={"x": 1})
    empty = ToolResultBlock("c_2", "ok", ())
    turn = body_of(message("user", "x"), message("assistant", call("c_1"), call("c_2")), message("tool", failed, empty))
    assert turn["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "c_1", "content": [{"type": "text", "text": "boom"}], "is_error": True},
        {"type": "tool_result", "tool_use_id": "c_2", "cache_control": {"type": "ephemeral"}},
    ]


def test_thinking_goes_back_byte_for_byte_and_is_never_marked() -> None:  # C14, C15
    answer = message(
        "assistant", ReasoningBlock("hm\n", "EqQB+/="), ReasoningBlock("", None, "opaque"), "Hi", model="e/m"
    )
    assert body_of(message("user", "x"), answer, message("user", "y"))["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "hm\n", "signature": "EqQB+/="},
        {"type": "redacted_thinking", "data": "opaque"},
        {"type": "text", "text": "Hi"},
    ]


def test_calls_in_the_history_without_any_tool_declare_a_placeholder() -> None:
    history = (message("user", "x"), message("assistant", call("c_1")), message("tool", result("c_1")))
    assert body_of(*history, tools=0)["tools"] == [{**NO_TOOL, "cache_control": {"type": "ephemeral"}}]
    assert "tools" not in body_of(message("user", "x"), tools=0)


def test_the_placeholder_itself_is_never_changed() -> None:
    history = (message("user", "x"), message("assistant", call("c_1")), message("tool", result("c_1")))
    assert body_of(*history, tools=0) == body_of(*history, tools=0)
    assert "cache_control" not in NO_TOOL


def test_ids_of_other_apis_are_sent_in_the_alphabet_of_this_one() -> None:
    foreign = "functions.read:0"
    sent = body_of(message("user", "x"), message("assistant", call(foreign)), message("tool", result(foreign)))
    called, answered = sent["messages"][1]["content"][0]["id"], sent["messages"][2]["content"][0]["tool_use_id"]
    assert called == answered
    assert called.replace("_", "").isalnum()
