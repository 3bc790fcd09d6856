"""Chat Completions requests. The goldens hold whole bodies."""

from dataclasses import replace
from typing import Any

import orjson

from openprogram.core.jsonio import canonical
from openprogram.core.messages import Message, ReasoningBlock, TextBlock, ToolResultBlock
from openprogram.core.prompt import ModelParams, ProviderRequest
from openprogram.providers.catalog import UNKNOWN, ModelFacts
from openprogram.providers.chat_prompt import request_body
from openprogram.providers.hosts import Quirks, quirks_of
from tests.support.histories import TOOL, call, chain, message, result

PLAIN = Quirks()
DEFAULTS = ModelParams()
OPENAI = quirks_of("https://api.openai.com/v1")


def body_of(
    *messages: Message, quirks: Quirks = PLAIN, params: ModelParams = DEFAULTS, facts: ModelFacts = UNKNOWN
) -> dict[str, Any]:
    request = ProviderRequest("m", ("You help.", "Be brief."), (TOOL,), chain(*messages), params, cache_key="s_1" * 40)
    body: dict[str, Any] = orjson.loads(canonical(request_body(request, "e/m", facts, quirks)))
    return body


def test_system_blocks_are_one_message_at_the_head() -> None:
    assert body_of(message("user", "x"))["messages"][0] == {"role": "system", "content": "You help.\n\nBe brief."}
    assert body_of(message("user", "x"), quirks=OPENAI)["messages"][0]["role"] == "developer"


def test_user_texts_in_a_row_are_one_message_of_plain_text() -> None:
    sent = body_of(message("user", "x"), message("notice", "web search is on"), message("user", "y"))["messages"]
    assert sent[1:] == [{"role": "user", "content": "x\n\nweb search is on\n\ny"}]


def test_calls_and_results() -> None:
    failed = ToolResultBlock("c_2", "error", (TextBlock("boom"), TextBlock("twice")), display={"x": 1})
    sent = body_of(
        message("user", "x"),
        message("assistant", "I read.", call("c_1"), call("c_2")),
        message("tool", result("c_1"), failed),
    )["messages"]
    function = {"name": "read", "arguments": '{"path":"a.txt"}'}
    assert sent[2:] == [
        {
            "role": "assistant",
            "content": "I read.",
            "tool_calls": [
                {"id": "c_1", "type": "function", "function": function},
                {"id": "c_2", "type": "function", "function": function},
            ],
        },
        {"role": "tool", "tool_call_id": "c_1", "content": "content"},
        {"role": "tool", "tool_call_id": "c_2", "content": "boom\n\ntwice"},
    ]


def test_an_answer_of_calls_only_has_null_content() -> None:
    sent = body_of(message("user", "x"), message("assistant", call("c_1")), message("tool", result("c_1")))["messages"]
    assert sent[2]["content"] is None


def test_reasoning_is_not_sent_back_but_to_hosts_that_want_their_own() -> None:
    own = message("assistant", ReasoningBlock("hm"), "Hi", model="e/m")
    foreign = message("assistant", ReasoningBlock("hm"), "Hi", model="e/other")
    deepseek = quirks_of("https://api.deepseek.com")
    assert "reasoning_content" not in body_of(message("user", "x"), own)["messages"][2]
    assert body_of(message("user", "x"), own, quirks=deepseek)["messages"][2]["reasoning_content"] == "hm"
    assert body_of(message("user", "x"), foreign, quirks=deepseek)["messages"][2]["reasoning_content"] == ""


def test_the_cache_key_goes_to_openai_only_and_within_its_length() -> None:
    assert "prompt_cache_key" not in body_of(message("user", "x"))
    assert body_of(message("user", "x"), quirks=OPENAI)["prompt_cache_key"] == ("s_1" * 40)[:64]


def test_usage_is_asked_for_unless_the_endpoint_refuses_that() -> None:
    assert body_of(message("user", "x"))["stream_options"] == {"include_usage": True}
    assert "stream_options" not in body_of(message("user", "x"), quirks=Quirks(stream_usage=False))


def test_parameters_under_the_names_and_within_the_limits_of_the_host() -> None:
    params = ModelParams(max_output_tokens=9, temperature=0.5, effort="high")
    common = body_of(message("user", "x"), params=params)
    assert (common["max_tokens"], common["temperature"], common["reasoning_effort"]) == (9, 0.5, "high")
    assert body_of(message("user", "x"), params=params, quirks=OPENAI)["max_completion_tokens"] == 9
    assert "temperature" not in body_of(message("user", "x"), params=params, facts=ModelFacts(takes_temperature=False))
    assert "reasoning_effort" not in body_of(message("user", "x"), params=params, quirks=Quirks(effort=False))
    assert "max_tokens" not in body_of(message("user", "x"))


def test_ids_that_are_too_long_for_the_host_are_shortened_alike_in_call_and_result() -> None:
    long = "functions.a_tool_with_a_long_name:12345678901234567890"
    history = (message("user", "x"), message("assistant", call(long)), message("tool", result(long)))
    kept, cut = body_of(*history)["messages"], body_of(*history, quirks=OPENAI)["messages"]
    assert kept[2]["tool_calls"][0]["id"] == kept[3]["tool_call_id"] == long
    assert cut[2]["tool_calls"][0]["id"] == cut[3]["tool_call_id"]
    assert len(cut[3]["tool_call_id"]) <= 40


def test_a_mask_is_a_list_of_what_is_allowed_outside_the_prompt() -> None:
    request = ProviderRequest("m", (), (TOOL,), chain(message("user", "x")))
    plain, masked, nothing = (
        request_body(replace(request, allowed=allowed), "e/m", UNKNOWN, OPENAI) for allowed in (None, ("read",), ())
    )
    tools = [{"type": "function", "function": {"name": "read"}}]
    assert masked["tool_choice"] == {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools}}
    assert nothing["tool_choice"] == "none"
    assert "tool_choice" not in plain
    assert plain["tools"] == masked["tools"] == nothing["tools"]


def test_a_call_through_the_bridge_goes_back_as_it_was_made() -> None:
    bridged = replace(call("c_1"), bridged=True)
    sent = body_of(message("user", "x"), message("assistant", bridged), message("tool", result("c_1")))["messages"]
    function = {"name": "call_tool", "arguments": '{"arguments":{"path":"a.txt"},"name":"read"}'}
    assert sent[2]["tool_calls"] == [{"id": "c_1", "type": "function", "function": function}]
