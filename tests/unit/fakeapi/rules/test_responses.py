"""Every rule of OpenAI Responses by its number: what it refuses, in which words, and what it lets pass."""

from typing import Any

import orjson
import pytest

from openprogram.fakeapi.answer import encrypted
from openprogram.fakeapi.exchange import Accepted
from tests.support.responses_rules import (
    CALL,
    HEADERS,
    OLDER,
    OUTPUT,
    SAID,
    SEARCH,
    SEARCHED,
    THOUGHT,
    USER,
    Case,
    additional,
    allowed,
    body,
    check,
    found,
    judge,
    mark,
    named,
    text,
    tool,
)

TOO_SMALL = "integer below minimum value. Expected a value >= 16, but got 1 instead."
MISSING = "missing_required_parameter"
WEB: dict[str, Any] = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "x"},
}
CASES = [
    Case("R1", body(), "Missing bearer", status=401, headers={}),
    Case("R1", body(), "Incorrect API key", None, 401, "invalid_api_key", {"authorization": "Bearer bad"}),
    Case("R2", {"input": "hi"}, "Missing required parameter: 'model'.", "model", code="missing_required_parameter"),
    Case("R2", body(model=1), "Invalid type for 'model'", "model", code="invalid_type"),
    Case("R3", body(model="gpt-0"), "The model `gpt-0` does not exist", status=404, code="model_not_found"),
    Case("R4", body(messages=[]), "Unknown parameter: 'messages'.", "messages", code="unknown_parameter"),
    Case("R5", body(max_output_tokens=1), TOO_SMALL, "max_output_tokens", code="integer_below_min_value"),
    Case("R5", body(max_output_tokens="9"), "expected an integer", "max_output_tokens", code="invalid_type"),
    Case("R5", body(max_output_tokens=10**7), "supports at most 128000", "max_output_tokens", code="invalid_value"),
    Case("R6", body(stream_options={}), "only allowed when 'stream' is enabled", "stream_options"),
    Case(
        "R7",
        body(previous_response_id="resp_1"),
        "Previous response with id 'resp_1' not found.",
        "previous_response_id",
        code="previous_response_not_found",
    ),
    Case("R7", body(conversation="conv_1"), "Conversation not found", "conversation", 404),
    Case("R8", body(include=["everything"]), "Invalid value: 'everything'", "include[0]", code="invalid_value"),
    Case("R9", body(reasoning="high"), "Invalid type for 'reasoning'", "reasoning", code="invalid_type"),
    Case("R9", body(instructions=[]), "Invalid type for 'instructions'", "instructions", code="invalid_type"),
    Case("R9", body(store="no"), "expected a boolean", "store", code="invalid_type"),
    Case(
        "R10",
        body(reasoning={"effort": "huge"}),
        "'high', 'xhigh', and 'max'.",
        "reasoning.effort",
        code="invalid_value",
    ),
    Case(
        "R11", body(prompt_cache_key="k" * 65), "maximum length 64", "prompt_cache_key", code="string_above_max_length"
    ),
    Case(
        "R12",
        body(model=OLDER, prompt_cache_options={}),
        "'prompt_cache_options' is not supported with this model",
        "prompt_cache_options",
        code="unsupported_parameter",
    ),
    Case(
        "R13",
        body(prompt_cache_options={"ttl": "5m"}),
        "Invalid value: '5m'. Supported values are: '30m' and '12h'.",
        "prompt_cache_options.ttl",
        code="invalid_value",
    ),
    Case(
        "R14",
        body(prompt_cache_retention="1h"),
        "'in_memory' and '24h'",
        "prompt_cache_retention",
        code="invalid_value",
    ),
    Case(
        "R14",
        body(prompt_cache_retention="24h", prompt_cache_options={}),
        "cannot be used together",
        "prompt_cache_retention",
    ),
    Case("R20", body(tools={}), "expected an array of objects", "tools", code="invalid_type"),
    Case("R20", body(tools=[{"type": "magic"}]), "Invalid value: 'magic'", "tools[0].type", code="invalid_value"),
    Case(
        "R20", body(tools=[{"type": "function"}]), "'tools[0].name'", "tools[0].name", code="missing_required_parameter"
    ),
    Case("R20", body(USER, additional({"type": "magic"})), "'magic'", "input[1].tools[0].type", code="invalid_value"),
    Case("R21", body(tools=[tool(f"t{n}") for n in range(129)]), "length 129", "tools", code="array_above_max_length"),
    Case("R22", body(tools=[tool("a.b")]), "does not match pattern", "tools[0].name", code="invalid_value"),
    Case("R22", body(tools=[tool("x" * 65)]), "string too long", "tools[0].name", code="string_above_max_length"),
    Case("R23", body(tools=[tool(), tool()]), "Tool names must be unique.", "tools"),
    Case(
        "R24",
        body(tools=[tool(parameters={"type": "array"})]),
        "Invalid schema for function 'read'",
        "tools[0].parameters",
        code="invalid_function_parameters",
    ),
    Case("R25", body(model="gpt-4.1", tools=[SEARCH]), "'tool_search' is not supported with gpt-4.1", "tools"),
    Case("R26", body(tools=[tool(defer_loading=True)]), "Deferred tools require tools.tool_search.", "tools"),
    Case("R27", body(tools=[{"type": "tool_search"}]), "requires at least one deferred tool.", "tools"),
    Case(
        "R28",
        body(tools=[tool()], tool_choice="any"),
        "'none', 'auto', and 'required'",
        "tool_choice",
        code="invalid_value",
    ),
    Case("R28", body(tools=[tool()], tool_choice=named("x")), "Tool choice 'x' not found", "tool_choice"),
    Case("R28", body(tools=[tool()], tool_choice=allowed(named("x"))), "Tool choice 'x' not found", "tool_choice"),
    Case(
        "R28",
        body(tools=[tool()], tool_choice=allowed({"type": "web_search"})),
        "Tool choice 'web_search' not found",
        "tool_choice",
    ),
    Case("R29", body(USER, additional(tool()), tools=[tool()]), "already defined in 'tools'", "input[1].tools"),
    Case("R30", {"model": "gpt-6"}, "'input'", "input", code="missing_required_parameter"),
    Case("R30", body() | {"input": []}, "empty array", "input", code="empty_array"),
    Case("R30", body() | {"input": ["hi"]}, "string or array of input items", "input", code="invalid_type"),
    Case("R31", body({"type": "thought"}), "Invalid value: 'thought'", "input[0].type", code="invalid_value"),
    Case("R32", body({"role": "user"}), "'input[0].content'", "input[0].content", code="missing_required_parameter"),
    Case(
        "R32",
        body(USER, {**CALL, "arguments": {}}, OUTPUT),
        "expected a string",
        "input[1].arguments",
        code="invalid_type",
    ),
    Case("R33", body({"role": "tool", "content": "x"}), "Invalid value: 'tool'", "input[0].role", code="invalid_value"),
    Case(
        "R34",
        body(USER, {**SAID, "content": [{"type": "input_text", "text": "x"}]}, USER),
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
        "input[1].content[0]",
        code="invalid_value",
    ),
    Case(
        "R34",
        body({"role": "user", "content": [{"type": "text"}]}),
        "'input_text'",
        "input[0].content[0]",
        code="invalid_value",
    ),
    Case("R35", body(USER, CALL, USER), "No tool output found for function call call_1.", "input"),
    Case("R35", body(USER, SEARCHED, tools=[SEARCH]), "No tool output found for tool search call call_s.", "input"),
    Case("R36", body(USER, OUTPUT), "No tool call found for function call output with call_id call_1.", "input"),
    Case("R36", body(USER, OUTPUT, CALL), "No tool call found for function call output", "input"),
    Case("R37", body(USER, CALL, OUTPUT, OUTPUT), "Duplicate function_call_output", "input[3]"),
    Case("R38", body(USER, THOUGHT), "'rs_1' of type 'reasoning' was provided without its required following", "input"),
    Case("R38", body(USER, THOUGHT, USER), "without its required following item", "input"),
    Case(
        "R39",
        body(USER, {**THOUGHT, "encrypted_content": None}, SAID, USER),
        "Item with id 'rs_1' not found.",
        "input",
        404,
    ),
    Case(
        "R39",
        body(USER, {"type": "item_reference", "id": "msg_1"}),
        "Items are not persisted when `store`",
        "input",
        404,
    ),
    Case(
        "R40",
        body(USER, {**THOUGHT, "encrypted_content": encrypted("hm")[:-8]}, SAID, USER),
        "could not be verified",
        code="invalid_encrypted_content",
    ),
    Case(
        "R41",
        body(USER, {**CALL, "id": "call_1"}, OUTPUT),
        "an ID that begins with 'fc'",
        "input[1].id",
        code="invalid_value",
    ),
    Case(
        "R42", body(USER, additional(tool()), model=OLDER), "'additional_tools'", "input[1].type", code="invalid_value"
    ),
    Case(
        "R42",
        body(USER, additional(tool(), role="user")),
        "Invalid value: 'user'",
        "input[1].role",
        code="invalid_value",
    ),
    Case(
        "R43",
        body(text("x", **mark()), model=OLDER),
        "Unknown parameter",
        "input[0].content[0].prompt_cache_breakpoint",
        code="unknown_parameter",
    ),
    Case(
        "R43",
        body(USER, additional(tool(), **mark())),
        "Unknown parameter: 'input[1].prompt_cache_breakpoint'.",
        "input[1].prompt_cache_breakpoint",
        code="unknown_parameter",
    ),
    Case(
        "R43",
        body(text("x", **mark(ttl="5m"))),
        "Invalid value: '5m'",
        "input[0].content[0].prompt_cache_breakpoint.ttl",
        code="invalid_value",
    ),
    Case("R44", body(USER, {**WEB, "status": None}), "input[1].status", "input[1].status", code=MISSING),
    Case(
        "R44",
        body(USER, {**WEB, "action": {"type": "guess"}}),
        "Invalid value: 'guess'",
        "input[1].action.type",
        code="invalid_value",
    ),
    Case("R91", b"{", "We could not parse the JSON body"),
    Case(
        "R92",
        body(text("word " * 5000), model="demo-small"),
        "exceeds the context window",
        "input",
        code="context_length_exceeded",
    ),
]


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.number}-{n}") for n, case in enumerate(CASES)])
def test_what_the_real_api_refuses_is_refused_by_its_rule(case: Case) -> None:
    check(case)


HOSTED: dict[str, Any] = {"type": "tool_search_call", "execution": "server", "arguments": {}, "call_id": None}
HOSTED_OUTPUT = {"type": "tool_search_output", "execution": "server", "tools": [tool("late")], "call_id": None}
NAMESPACE = {"type": "namespace", "name": "files", "description": "d", "tools": [tool("late", defer_loading=True)]}
ACCEPTED = {
    "a string": {"model": "gpt-6", "input": "hi"},
    "tool loop with reasoning": body(USER, THOUGHT, CALL, OUTPUT, tools=[tool()]),
    "reasoning before a message": body(USER, THOUGHT, SAID, USER),
    "parallel calls": body(USER, CALL, {**CALL, "call_id": "b"}, {**OUTPUT, "call_id": "b"}, OUTPUT),
    "an output not right after its call": body(USER, CALL, SAID, OUTPUT),
    "additional tools": body(USER, additional(tool("new")), tools=[tool()]),
    "additional tools, one of them again": body(USER, additional(tool("new")), SAID, USER, additional(tool("new"))),
    "a search by the client": body(
        USER, SEARCHED, found(tool("late", defer_loading=True)), tools=[SEARCH], model=OLDER
    ),
    "a search by the provider": body(
        USER, HOSTED, HOSTED_OUTPUT, SAID, USER, tools=[{"type": "tool_search"}, NAMESPACE]
    ),
    "a search of the web by the provider": body(USER, WEB, SAID, USER),
    "a mask": body(tools=[tool(), tool("b")], tool_choice=allowed(named("b"))),
    "a mask over an added tool": body(USER, additional(tool("new")), tool_choice=allowed(named("new"))),
    "breakpoints": body(text("x", **mark(ttl="12h")), text("y", **mark())),
    "cache options": body(prompt_cache_options={"mode": "explicit", "ttl": "12h", "comparison_response_id": "resp_1"}),
    "an older model's retention": body(model=OLDER, prompt_cache_retention="24h"),
    "hosted web search": body(tools=[{"type": "web_search"}], tool_choice={"type": "web_search"}),
    "developer messages anywhere": body(USER, {"role": "developer", "content": "note"}),
    "another effort from here on": body(USER, {"type": "configuration_update", "reasoning": {"effort": "low"}}),
}


@pytest.mark.parametrize("request_body", [pytest.param(value, id=name) for name, value in ACCEPTED.items()])
def test_what_the_real_api_takes_is_accepted(request_body: dict[str, Any]) -> None:
    verdict = judge(orjson.dumps(request_body), HEADERS)
    assert isinstance(verdict, Accepted), verdict
