"""Requests of the Responses API. The goldens hold whole bodies."""

from dataclasses import replace
from typing import Any

import orjson

from openprogram.core.jsonio import canonical
from openprogram.core.messages import ImageBlock, Message, ReasoningBlock, TextBlock, ToolResultBlock
from openprogram.core.prompt import ModelParams, ProviderRequest
from openprogram.providers.catalog import UNKNOWN, ModelFacts, facts_of
from openprogram.providers.responses_prompt import request_body, signature_of
from tests.support.histories import TOOL, call, chain, message, result

REASONING = facts_of("gpt-5.5")
ITEM: dict[str, Any] = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Then."}],
    "encrypted_content": "gAAAAAB+/=",
    "status": "completed",
}
DEFAULTS = ModelParams()


def body_of(
    *messages: Message, facts: ModelFacts = UNKNOWN, params: ModelParams = DEFAULTS, model_id: str = "e/m"
) -> dict[str, Any]:
    request = ProviderRequest("m", ("You help.", "Be brief."), (TOOL,), chain(*messages), params, cache_key="s_1" * 40)
    body: dict[str, Any] = orjson.loads(canonical(request_body(request, model_id, facts)))
    return body


def test_nothing_is_stored_at_the_vendor_and_the_cache_key_is_within_its_length() -> None:
    body = body_of(message("user", "x"))
    assert (body["store"], body["stream"]) == (False, True)
    assert body["prompt_cache_key"] == ("s_1" * 40)[:64]
    assert body["instructions"] == "You help.\n\nBe brief."
    assert body["input"] == [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}]


def test_calls_and_results_are_items_of_their_own() -> None:
    sent = body_of(message("user", "x"), message("assistant", "I read.", call("c_1")), message("tool", result("c_1")))[
        "input"
    ]
    assert sent[1:] == [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I read.", "annotations": []}],
        },
        {"type": "function_call", "call_id": "c_1", "name": "read", "arguments": '{"path":"a.txt"}'},
        {"type": "function_call_output", "call_id": "c_1", "output": "content"},
    ]


def test_reasoning_goes_back_as_it_came_to_the_model_that_made_it_and_to_no_other() -> None:  # C14
    thought = ReasoningBlock("First.\n\nThen.", signature_of(ITEM))
    history = (message("user", "x"), message("assistant", thought, "Hi", model="e/m"))
    sent = body_of(*history)["input"][1]
    assert sent == {name: ITEM[name] for name in ("type", "id", "summary", "encrypted_content")}
    assert all(item["type"] != "reasoning" for item in body_of(*history, model_id="e/other")["input"])


def test_reasoning_that_proves_nothing_or_was_signed_by_another_api_stays_behind() -> None:
    assert signature_of({"type": "reasoning", "id": "rs_1", "summary": []}) is None
    foreign = (ReasoningBlock("hm", "EqQBCgIYAhIM+/="), ReasoningBlock("hm", "7"), ReasoningBlock("", None, "x=="))
    sent = body_of(message("user", "x"), message("assistant", *foreign, "Hi", model="e/m"))["input"]
    assert [item["type"] for item in sent] == ["message", "message", "message"]


def test_a_model_that_reasons_is_asked_for_what_proves_it() -> None:
    body = body_of(message("user", "x"), facts=REASONING, params=ModelParams(effort="low", temperature=0.3))
    assert body["reasoning"] == {"summary": "auto", "effort": "low"}
    assert body["include"] == ["reasoning.encrypted_content"]
    assert "temperature" not in body


def test_a_model_that_is_not_known_to_reason_is_asked_for_nothing_of_it() -> None:
    body = body_of(message("user", "x"), params=ModelParams(effort="low", temperature=0.3, max_output_tokens=9))
    assert not {"reasoning", "include"} & body.keys()
    assert (body["temperature"], body["max_output_tokens"]) == (0.3, 9)


def test_pictures_stand_in_the_result_where_the_model_takes_them() -> None:
    seen = ToolResultBlock("c_1", "ok", (TextBlock("a.png"), ImageBlock("image/png", "iVBO", 3, 2)))
    history = (message("user", "x"), message("assistant", call("c_1")), message("tool", seen))
    assert body_of(*history, facts=ModelFacts(images=True))["input"][2]["output"] == [
        {"type": "input_text", "text": "a.png"},
        {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBO"},
    ]
    assert body_of(*history)["input"][2]["output"].startswith("a.png\n\n[a picture of 3 x 2 pixels]")


def test_a_mask_is_a_list_of_what_is_allowed_outside_the_prompt() -> None:
    request = ProviderRequest("m", (), (TOOL,), chain(message("user", "x")))
    plain, masked, nothing = (
        request_body(replace(request, allowed=allowed), "e/m", UNKNOWN) for allowed in (None, ("read",), ())
    )
    allowed_tools = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "read"}]}
    assert (masked["tool_choice"], nothing["tool_choice"]) == (allowed_tools, "none")
    assert "tool_choice" not in plain
    assert plain["tools"] == masked["tools"] == nothing["tools"]


def test_a_call_through_the_bridge_goes_back_as_it_was_made() -> None:
    bridged = replace(call("c_1"), bridged=True)
    sent = body_of(message("user", "x"), message("assistant", bridged), message("tool", result("c_1")))["input"]
    assert (sent[1]["name"], sent[1]["arguments"]) == ("call_tool", '{"arguments":{"path":"a.txt"},"name":"read"}')
