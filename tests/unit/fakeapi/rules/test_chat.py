"""Every rule of OpenAI Chat Completions by its number: what it refuses, in which words, what it lets pass."""

from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from openprogram.fakeapi.dialects.chat import ChatDialect
from openprogram.fakeapi.exchange import Accepted, Refusal, examine
from openprogram.fakeapi.state import FakeState

HEADERS = {"authorization": "Bearer k"}
USER = {"role": "user", "content": "hi"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWER = {"role": "tool", "tool_call_id": "call_1", "content": "ok"}
SYSTEM = {"role": "system", "content": "s"}


def tool(name: str = "read", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}, **more}}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "demo", "messages": list(messages or [USER]), **more}


def marked(mode: str) -> dict[str, Any]:
    part = {"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": mode}}
    return {"role": "user", "content": [part]}


def lacking(name: str) -> dict[str, Any]:
    return {key: value for key, value in body().items() if key != name}


def judge(raw: bytes, headers: dict[str, str]) -> Accepted | Refusal:
    return examine(FakeState(), ChatDialect(), headers, raw)


@dataclass(frozen=True)
class Case:
    """A request that the rule `number` refuses, and part of the words in which it does."""

    number: str
    request: dict[str, Any] | bytes
    words: str
    status: int = 400
    param: str | None = None
    code: str | None = None
    headers: dict[str, str] = field(default_factory=lambda: HEADERS)


BREAKPOINT = "messages[0].content[0].prompt_cache_breakpoint"
CASES = [
    Case("O1", body(), "You didn't provide an API key", 401, headers={}),
    Case(
        "O1",
        body(),
        "Incorrect API key provided",
        401,
        code="invalid_api_key",
        headers={"authorization": "Bearer bad-key"},
    ),
    Case("O2", lacking("model"), "you must provide a model parameter"),
    Case("O3", body(model="gpt-none"), "The model `gpt-none` does not exist", 404, code="model_not_found"),
    Case("O4", body(top_k=3), "Unrecognized request argument supplied: top_k"),
    Case("O5", body(max_tokens=5, max_completion_tokens=5), "at the same time is not supported"),
    Case("O5", body(max_tokens="5"), "expected an integer", param="max_tokens", code="invalid_type"),
    Case("O5", body(max_tokens=0), "integer below minimum value", param="max_tokens", code="integer_below_min_value"),
    Case("O5", body(max_tokens=64_001), "max_tokens is too large", param="max_tokens", code="invalid_value"),
    Case("O6", body(stream_options={"include_usage": True}), "only allowed when 'stream'", param="stream_options"),
    Case("O6", body(stream=True, stream_options=[1]), "expected an object", param="stream_options"),
    Case("O7", body(tools={}), "Invalid type for 'tools'", param="tools", code="invalid_type"),
    Case("O7", body(tools=[]), "Invalid 'tools': empty array", param="tools", code="empty_array"),
    Case(
        "O7",
        body(tools=[tool(f"t{n}") for n in range(129)]),
        "maximum length 128",
        param="tools",
        code="array_above_max_length",
    ),
    Case(
        "O7",
        body(tools=[{"type": "function"}]),
        "Missing required parameter: 'tools[0].function.name'",
        param="tools[0].function.name",
        code="missing_required_parameter",
    ),
    Case(
        "O8",
        body(tools=[tool("a.b")]),
        "string does not match pattern",
        param="tools[0].function.name",
        code="invalid_value",
    ),
    Case(
        "O9",
        body(tools=[tool("x" * 65)]),
        "a string with length 65 instead",
        param="tools[0].function.name",
        code="string_above_max_length",
    ),
    Case("O10", body(tools=[tool(), tool()]), "Tool names must be unique", param="tools"),
    Case(
        "O11",
        body(tools=[tool(parameters={"type": "string"})]),
        "Invalid schema for function 'read'",
        param="tools[0].function.parameters",
        code="invalid_function_parameters",
    ),
    Case("O12", body(tool_choice="auto"), "'tool_choice' is only allowed when 'tools'", param="tool_choice"),
    Case("O12", body(parallel_tool_calls=False), "only allowed when 'tools'", param="parallel_tool_calls"),
    Case("O13", body(tools=[tool()], tool_choice="maybe"), "'none', 'auto'", param="tool_choice", code="invalid_value"),
    Case(
        "O13",
        body(tools=[tool()], tool_choice={"type": "function", "function": {"name": "x"}}),
        "Tool choice 'x' not found",
        param="tool_choice",
    ),
    Case(
        "O30",
        lacking("messages"),
        "Missing required parameter: 'messages'",
        param="messages",
        code="missing_required_parameter",
    ),
    Case(
        "O14",
        body(prompt_cache_key="k" * 65),
        "maximum length 64",
        param="prompt_cache_key",
        code="string_above_max_length",
    ),
    Case(
        "O15",
        body(model="gpt-5.5", prompt_cache_options={}),
        "not supported with this model",
        param="prompt_cache_options",
        code="unsupported_parameter",
    ),
    Case(
        "O16",
        body(model="gpt-6", prompt_cache_options={"ttl": "1h"}),
        "'30m' and '12h'",
        param="prompt_cache_options.ttl",
        code="invalid_value",
    ),
    Case(
        "O17",
        body(prompt_cache_retention="1h"),
        "'in_memory' and '24h'",
        param="prompt_cache_retention",
        code="invalid_value",
    ),
    Case("O18", body(marked("explicit")), "Unknown parameter", param=BREAKPOINT, code="unknown_parameter"),
    Case(
        "O18",
        body(marked("implicit"), model="gpt-6"),
        "Supported values are: 'explicit'",
        param=f"{BREAKPOINT}.mode",
        code="invalid_value",
    ),
    Case("O30", {**body(), "messages": []}, "empty array", param="messages", code="empty_array"),
    Case("O30", {**body(), "messages": ["x"]}, "array of objects", param="messages", code="invalid_type"),
    Case(
        "O31",
        body({"role": "robot", "content": "x"}),
        "Invalid value: 'robot'",
        param="messages[0].role",
        code="invalid_value",
    ),
    Case("O32", body({"role": "user", "content": None}), "expected a string, got null", param="messages.[0].content"),
    Case(
        "O32",
        body({"role": "user", "content": 5}),
        "one of a string or array",
        param="messages[0].content",
        code="invalid_type",
    ),
    Case(
        "O33",
        body({"role": "user", "content": [{"type": "tool_result"}]}),
        "Invalid value: 'tool_result'",
        param="messages[0].content[0].type",
        code="invalid_value",
    ),
    Case(
        "O34",
        body(USER, {**CALLING, "content": "x", "tool_calls": []}),
        "expected a non-empty array",
        param="messages[1].tool_calls",
        code="invalid_value",
    ),
    Case(
        "O34",
        body(USER, {**CALLING, "tool_calls": [{"function": {"name": "x", "arguments": ""}}]}),
        "Missing required parameter: 'messages[1].tool_calls[0].id'",
        param="messages[1].tool_calls[0].id",
        code="missing_required_parameter",
    ),
    Case(
        "O34",
        body(USER, {**CALLING, "tool_calls": [{"id": "c", "function": {"name": "x", "arguments": {}}}]}),
        "expected a string, but got an object",
        param="messages[1].tool_calls[0].function.arguments",
        code="invalid_type",
    ),
    Case("O35", body(USER, CALLING, USER), "did not have response messages: call_1", param="messages.[2].role"),
    Case("O35", body(USER, CALLING), "must be followed by tool messages", param="messages.[2].role"),
    Case("O36", body(USER, ANSWER), "must be a response to a preceeding message", param="messages.[1].role"),
    Case(
        "O36",
        body(USER, CALLING, ANSWER, {**ANSWER, "tool_call_id": "call_9"}),
        "not found in 'tool_calls'",
        param="messages.[3].tool_call_id",
    ),
    Case(
        "O36",
        body(USER, CALLING, ANSWER, {"role": "tool", "content": "x"}),
        "must have a 'tool_call_id'",
        param="messages.[3].tool_call_id",
    ),
    Case("O37", body(SYSTEM, USER, SYSTEM, model="demo-local"), "must be at the beginning", code="template_error"),
    Case("O91", b"{'", "We could not parse the JSON body"),
    Case("O91", b"[]", "expected an object"),
    Case(
        "O92",
        body({"role": "user", "content": "word " * 5000}, model="demo-small"),
        "maximum context length is 4096 tokens",
        param="messages",
        code="context_length_exceeded",
    ),
]


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.number}-{n}") for n, case in enumerate(CASES)])
def test_what_the_real_api_refuses_is_refused_by_its_rule(case: Case) -> None:
    raw = case.request if isinstance(case.request, bytes) else orjson.dumps(case.request)
    verdict = judge(raw, case.headers)
    assert isinstance(verdict, Refusal)
    violation = verdict.violation
    assert (verdict.rule, violation.status, violation.param, violation.code) == (
        case.number,
        case.status,
        case.param,
        case.code,
    )
    assert case.words in violation.message


ALLOWED = {"mode": "auto", "tools": [{"type": "function", "function": {"name": "read"}}]}
ACCEPTED = {
    "plain": body(),
    "system and developer anywhere": body(SYSTEM, USER, {"role": "developer", "content": "d"}, USER),
    "tool loop": body(USER, CALLING, ANSWER),
    "tool loop and a user message": body(USER, CALLING, ANSWER, USER),
    "allowed tools": body(tools=[tool()], tool_choice={"type": "allowed_tools", "allowed_tools": ALLOWED}),
    "usage in the stream": body(stream=True, stream_options={"include_usage": True}),
    "function without parameters": body(tools=[{"type": "function", "function": {"name": "x"}}]),
    "parts": body({"role": "user", "content": [{"type": "text", "text": "x"}]}),
    "system first for a strict template": body(SYSTEM, USER, model="demo-local"),
}


@pytest.mark.parametrize("request_body", [pytest.param(value, id=name) for name, value in ACCEPTED.items()])
def test_what_the_real_api_takes_is_accepted(request_body: dict[str, Any]) -> None:
    assert isinstance(judge(orjson.dumps(request_body), HEADERS), Accepted)


def test_a_local_server_takes_no_key() -> None:
    assert isinstance(judge(orjson.dumps(body(model="demo-local")), {}), Accepted)
