"""Requests in the format of OpenAI Responses and what the fake API's rules make of them."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from openprogram.fakeapi.answer import encrypted
from openprogram.fakeapi.dialects.responses import ResponsesDialect
from openprogram.fakeapi.exchange import Accepted, Refusal, examine
from openprogram.fakeapi.state import FakeState

HEADERS = {"authorization": "Bearer k"}
OLDER = "gpt-5.5"
USER = {"role": "user", "content": "hi"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": encrypted("hm")}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]}
SEARCH = {"type": "tool_search", "execution": "client", "parameters": {"type": "object"}}
SEARCHED = {
    "type": "tool_search_call",
    "call_id": "call_s",
    "execution": "client",
    "arguments": {},
    "status": "completed",
}


def tool(name: str = "read", **more: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": {"type": "object"}, "strict": False, **more}


def found(*tools: Any) -> dict[str, Any]:
    return {"type": "tool_search_output", "call_id": "call_s", "execution": "client", "tools": list(tools)}


def additional(*tools: Any, **more: Any) -> dict[str, Any]:
    return {"type": "additional_tools", "role": "developer", "tools": list(tools), **more}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "input_text", "text": value, **more}]}


def body(*items: Any, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-6", "input": list(items or [USER]), "store": False, **more}


def mark(**more: Any) -> dict[str, Any]:
    return {"prompt_cache_breakpoint": {"mode": "explicit", **more}}


def allowed(*tools: Any, mode: str = "auto") -> dict[str, Any]:
    return {"type": "allowed_tools", "mode": mode, "tools": list(tools)}


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "name": name}


def judge(raw: bytes, headers: dict[str, str]) -> Accepted | Refusal:
    return examine(FakeState(), ResponsesDialect(), headers, raw)


@dataclass(frozen=True)
class Case:
    """A request that the rule `number` refuses, part of the words, and the parameter at fault."""

    number: str
    request: dict[str, Any] | bytes
    words: str
    param: str | None = None
    status: int = 400
    code: str | None = None
    headers: dict[str, str] = field(default_factory=lambda: HEADERS)


def check(case: Case) -> None:
    """The rule of the case refuses its request, in its words."""
    raw = case.request if isinstance(case.request, bytes) else orjson.dumps(case.request)
    verdict = judge(raw, case.headers)
    assert isinstance(verdict, Refusal)
    violation = verdict.violation
    assert (verdict.rule, violation.status, violation.param) == (case.number, case.status, case.param)
    assert violation.code == case.code
    assert case.words in violation.message
