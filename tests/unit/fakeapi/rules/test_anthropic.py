"""Every rule of Anthropic Messages by its number: what it refuses, in which words, and what it lets pass."""

from typing import Any

import orjson
import pytest

from openprogram.fakeapi.exchange import Accepted
from openprogram.fakeapi.rules.anthropic_request import MAX_BODY
from tests.support.anthropic_rules import (
    CALL,
    EPHEMERAL,
    HEADERS,
    HOUR,
    RESULT,
    THOUGHT,
    USER,
    Case,
    assistant,
    body,
    check,
    judge,
    lacking,
    system,
    text,
    tool,
    user,
)

CASES = [
    Case("A1", body(), "x-api-key header is required", 401, {"anthropic-version": "2023-06-01"}),
    Case("A1", body(), "invalid x-api-key", 401, {**HEADERS, "x-api-key": "bad-key"}),
    Case("A2", body(), "anthropic-version: header is required", 400, {"x-api-key": "k"}),
    Case("A3", lacking("model"), "model: Field required"),
    Case("A3", body(model=7), "model: Input should be a valid string"),
    Case("A4", body(model="claude-nobody"), "model: claude-nobody", 404),
    Case("A5", lacking("max_tokens"), "max_tokens: Field required"),
    Case("A5", body(max_tokens="9"), "max_tokens: Input should be a valid integer"),
    Case("A5", body(max_tokens=-1), "greater than or equal to 0"),
    Case("A5", body(max_tokens=64_001), "maximum allowed number of output tokens"),
    Case("A6", body(tool_config={}), "tool_config: Extra inputs are not permitted"),
    Case("A7", body(max_tokens=0, stream=True), "max_tokens: 0"),
    Case("A8", body(system=[{"type": "image"}]), "system.0.type: Input should be 'text'"),
    Case("A8", body(system=[{"type": "text"}]), "system.0.text: Field required"),
    Case("A8", body(system=5), "system: Input should be a valid list"),
    Case("A9", body(system=[text("")]), "system: text content blocks must be non-empty"),
    Case("A10", body(thinking={"type": "on"}), "does not match any of the expected tags"),
    Case("A10", body(thinking={"type": "enabled"}), "thinking.enabled.budget_tokens: Field required"),
    Case("A10", body(thinking={"type": "enabled", "budget_tokens": 9}), "greater than or equal to 1024"),
    Case("A10", body(max_tokens=2000, thinking={"type": "enabled", "budget_tokens": 2000}), "must be greater than"),
    Case(
        "A11",
        body(max_tokens=2000, temperature=0.5, thinking={"type": "enabled", "budget_tokens": 1024}),
        "`temperature` may only be set to 1",
    ),
    Case("A12", body(tool_choice={"type": "required"}), "expected tags: 'any', 'auto', 'none', 'tool'"),
    Case("A12", body(tools=[tool()], tool_choice={"type": "tool", "name": "x"}), "Tool 'x' not found"),
    Case("A14", body(metadata=[1]), "metadata: Input should be a valid dictionary"),
    Case("A13", body(tools=[tool()], tool_choice={"type": "any"}, thinking={"type": "adaptive"}), "forces tool use"),
    Case("A20", body(tools={}), "tools: Input should be a valid list"),
    Case("A20", body(tools=[{"input_schema": {}}]), "tools.0.custom.name: Field required"),
    Case("A21", body(tools=[tool(), tool("a.b")]), "tools.1.custom.name: String should match pattern"),
    Case("A21", body(tools=[tool("x" * 65)]), "String should match pattern"),
    Case("A22", body(tools=[tool(), tool()]), "tools: Tool names must be unique."),
    Case("A23", body(tools=[{"name": "x"}]), "tools.0.custom.input_schema: Field required"),
    Case("A23", body(tools=[tool(input_schema={"type": "array"})]), "Input should be 'object'"),
    Case("A24", body(tools=[tool(input_schema={"type": "object", "anyOf": []})]), "at the top level"),
    Case("A25", body(tools=[tool(defer_loading=True)]), "All tools have defer_loading set."),
    Case(
        "A26", body(tools=[tool(), tool("b", defer_loading=True, cache_control=EPHEMERAL)]), "Tool 'b' cannot have both"
    ),
    Case(
        "A27",
        body(
            USER,
            assistant(CALL),
            user({**RESULT, "content": [{"type": "tool_reference", "tool_name": "gone"}]}),
            tools=[tool()],
        ),
        "Tool reference 'gone' has no corresponding tool definition",
    ),
    Case("A30", lacking("messages"), "messages: Field required"),
    Case("A30", {**body(), "messages": []}, "messages: at least one message is required"),
    Case("A30", {**body(), "messages": ["hi"]}, "messages: Input should be a valid list"),
    Case("A31", body({"role": "tool", "content": "x"}), "messages.0.role: Input should be"),
    Case("A31", body({"content": "x"}), "messages.0.role: Field required"),
    Case("A32", body({"role": "user"}), "messages.0.content: Field required"),
    Case("A32", body({"role": "user", "content": [1]}), "messages.0.content: Input should be a valid list"),
    Case("A33", body(user({"type": "tool_use"})), "Input tag 'tool_use' found"),
    Case("A33", body(user({"type": "text"})), "messages.0.content.0.text.text: Field required"),
    Case("A33", body(USER, assistant({**CALL, "input": "{}"}), user(RESULT)), "Input should be a valid dictionary"),
    Case("A34", body(USER, system(), model="claude-sonnet-4-5"), "role 'system' is not supported on this model"),
    Case("A35", body(system(), USER), "messages.0: role 'system' cannot be the first message"),
    Case("A35", body(USER, assistant(text("x")), system(), USER), "must immediately follow a 'user' message"),
    Case("A35", body(USER, assistant(CALL), system(), user(RESULT)), "must immediately follow a 'user' message"),
    Case("A35", body(USER, system(), USER), "must be the last message or be followed by"),
    Case("A36", body(assistant(text("x")), USER), 'first message must use the "user" role'),
    Case("A37", body(USER, assistant(), USER), "messages.1: all messages must have non-empty content"),
    Case("A38", body(user(text(""))), "messages: text content blocks must be non-empty"),
    Case("A38", body({"role": "user", "content": "  "}), "must contain non-whitespace text"),
    Case("A38", body(USER, assistant(CALL), user({**RESULT, "content": [text("")]})), "must be non-empty"),
    Case("A39", body(USER, assistant(CALL), USER), "messages.2: `tool_use` ids were found without `tool_result`"),
    Case("A39", body(USER, assistant(CALL)), "toolu_1. Each `tool_use` block must have"),
    Case("A40", body(user(RESULT)), "messages.0.content.0: unexpected `tool_use_id` found"),
    Case("A41", body(USER, assistant(CALL), user(RESULT, RESULT)), "each tool_use must have a single result"),
    Case(
        "A41", body(USER, assistant(CALL), user(RESULT), assistant(CALL), user(RESULT)), "`tool_use` ids must be unique"
    ),
    Case("A42", body(USER, assistant(CALL), user(text("x"), RESULT)), "`tool_result` blocks must come first"),
    Case("A43", body(USER, assistant(text("x")), model="claude-opus-5"), "does not support assistant message prefill"),
    Case("A44", body(USER, assistant(text("x "))), "cannot end with trailing whitespace"),
    Case(
        "A45",
        body(USER, assistant({**THOUGHT, "thinking": "hm!"}, text("x")), USER),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    Case(
        "A46",
        body(USER, assistant(CALL), user(RESULT), max_tokens=2000, thinking={"type": "enabled", "budget_tokens": 1024}),
        "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    ),
    Case("A50", body(system=[text("x", cache_control={"type": "forever"})]), "Input should be 'ephemeral'"),
    Case("A50", body(cache_control={"type": "ephemeral", "ttl": "2h"}), "Input should be '5m' or '1h'"),
    Case(
        "A51",
        body(user(*(text(f"{n}", cache_control=EPHEMERAL) for n in range(5)))),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    Case(
        "A51",
        body(user(*(text(f"{n}", cache_control=EPHEMERAL) for n in range(4))), cache_control=EPHEMERAL),
        "Found 5.",
    ),
    Case(
        "A52",
        body(USER, assistant({**THOUGHT, "cache_control": EPHEMERAL}, text("x")), USER),
        "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
    ),
    Case(
        "A53",
        body(user(text("x"), text("", cache_control=EPHEMERAL))),
        "messages.0.content.1.text: cache_control cannot be set for empty text blocks",
    ),
    Case(
        "A54",
        body(user(text("x", cache_control=HOUR)), tools=[tool(cache_control=EPHEMERAL)]),
        "must not come after a ttl='5m'",
    ),
    Case("A90", b" " * (MAX_BODY + 1), "Request exceeds the maximum size", 413),
    Case("A91", b"{", "The request body is not valid JSON"),
    Case("A91", b"[]", "expected an object"),
    Case("A92", body({"role": "user", "content": "word " * 5000}, model="demo-small"), "tokens > 4096 maximum"),
]


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.number}-{n}") for n, case in enumerate(CASES)])
def test_what_the_real_api_refuses_is_refused_by_its_rule(case: Case) -> None:
    check(case)


PAIR = (assistant(CALL), user(RESULT))
ACCEPTED = {
    "plain": body(),
    "system blocks": body(system=[text("a", cache_control=EPHEMERAL)]),
    "tool loop with text after the results": body(USER, assistant(CALL), user(RESULT, text("and now"))),
    "parallel calls": body(
        USER, assistant(CALL, {**CALL, "id": "toolu_2"}), user(RESULT, {**RESULT, "tool_use_id": "toolu_2"})
    ),
    "consecutive user messages": body(USER, USER),
    "thinking kept": body(
        USER,
        assistant(THOUGHT, CALL),
        user(RESULT),
        max_tokens=2000,
        thinking={"type": "enabled", "budget_tokens": 1024},
    ),
    "four marks, one hour first": body(
        user(text("x", cache_control=EPHEMERAL), text("y", cache_control=EPHEMERAL)),
        system=[text("s", cache_control=HOUR)],
        tools=[tool(cache_control=HOUR)],
    ),
    "deferred tools beside a resident one": body(tools=[tool(), tool("b", defer_loading=True)]),
    "provider's tool": body(tools=[{"type": "web_search_20250305", "name": "web_search"}]),
    "system after the results": body(USER, *PAIR, system()),
    "system between user and assistant": body(USER, system(), assistant(text("x")), USER),
    "prefill": body(USER, assistant(text("The answer is"))),
    "prewarm": body(max_tokens=0),
    "empty final assistant message": body(USER, {"role": "assistant", "content": ""}),
    "history with a call of a tool that is gone": body(USER, *PAIR, tools=[tool("other")]),
}


@pytest.mark.parametrize("request_body", [pytest.param(value, id=name) for name, value in ACCEPTED.items()])
def test_what_the_real_api_takes_is_accepted(request_body: dict[str, Any]) -> None:
    assert isinstance(judge(orjson.dumps(request_body), HEADERS), Accepted)


def test_a_call_that_was_given_out_without_thinking_needs_none_back() -> None:
    request = body(
        USER, assistant(CALL), user(RESULT), max_tokens=2000, thinking={"type": "enabled", "budget_tokens": 1024}
    )
    assert isinstance(judge(orjson.dumps(request), HEADERS, thought=False), Accepted)


def test_a_bearer_key_is_a_key() -> None:
    headers = {"authorization": "Bearer k", "anthropic-version": "2023-06-01"}
    assert isinstance(judge(orjson.dumps(body()), headers), Accepted)
