"""Requests in Anthropic's format and what the fake API's rules make of them."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from openprogram.fakeapi.answer import sign
from openprogram.fakeapi.dialects.anthropic import AnthropicDialect
from openprogram.fakeapi.exchange import Accepted, Refusal, examine
from openprogram.fakeapi.state import FakeState

HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
EPHEMERAL = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
USER = {"role": "user", "content": "hi"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": sign("hm")}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def tool(name: str = "read", **more: Any) -> dict[str, Any]:
    return {"name": name, "input_schema": {"type": "object"}, **more}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def system(value: str = "note") -> dict[str, Any]:
    return {"role": "system", "content": value}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "demo", "max_tokens": 100, "messages": list(messages or [USER]), **more}


def lacking(name: str) -> dict[str, Any]:
    return {key: value for key, value in body().items() if key != name}


def judge(raw: bytes, headers: dict[str, str], thought: bool = True) -> Accepted | Refusal:
    state = FakeState()
    if thought:
        state.thoughts.add("toolu_1")
    return examine(state, AnthropicDialect(), headers, raw)


@dataclass(frozen=True)
class Case:
    """A request that the rule `number` refuses, and part of the words in which it does."""

    number: str
    request: dict[str, Any] | bytes
    words: str
    status: int = 400
    headers: dict[str, str] = field(default_factory=lambda: HEADERS)


def check(case: Case) -> None:
    """The rule of the case refuses its request, in its words."""
    raw = case.request if isinstance(case.request, bytes) else orjson.dumps(case.request)
    verdict = judge(raw, case.headers)
    assert isinstance(verdict, Refusal)
    assert (verdict.rule, verdict.violation.status) == (case.number, case.status)
    assert case.words in verdict.violation.message
