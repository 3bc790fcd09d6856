"""No request, however wrong, makes the fake API fail: it is accepted or refused by a rule."""

from copy import deepcopy
from typing import Any, Final

import orjson
from hypothesis import given
from hypothesis import strategies as st

from openprogram.fakeapi.answer import encrypted, sign
from openprogram.fakeapi.dialects.anthropic import AnthropicDialect
from openprogram.fakeapi.dialects.base import Dialect
from openprogram.fakeapi.dialects.chat import ChatDialect
from openprogram.fakeapi.dialects.responses import ResponsesDialect
from openprogram.fakeapi.exchange import Accepted, Refusal, examine, prepare
from openprogram.fakeapi.log import RequestLog
from openprogram.fakeapi.state import FakeState

HEADERS = {
    "authorization": "Bearer k",
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "inline-tools-2026-09-15,thinking-binding-controls-2026-08-01",
}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
EXPLICIT = {"mode": "explicit", "ttl": "30m"}
MARK = {"type": "ephemeral", "ttl": "5m"}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}

ANTHROPIC: Final[dict[str, Any]] = {
    "model": "demo",
    "max_tokens": 2000,
    "stream": True,
    "temperature": 1,
    "system": [{"type": "text", "text": "be kind", "cache_control": MARK}],
    "thinking": {"type": "enabled", "budget_tokens": 1024, "display": "omitted", "block_binding": {}},
    "diagnostics": {"previous_message_id": None},
    "output_config": {"effort": "low"},
    "tool_choice": {"type": "auto", "name": "read"},
    "tools": [
        {"name": "read", "input_schema": SCHEMA, "cache_control": MARK},
        {"name": "late", "input_schema": SCHEMA, "defer_loading": True},
        {"type": "web_search_20250305", "name": "web_search"},
    ],
    "messages": [
        {"role": "user", "content": "read README.md"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": sign("hm")},
                {"type": "text", "text": "I read it."},
                {"type": "tool_use", "id": "id_1", "name": "read", "input": {"path": "README.md"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "id_1",
                    "is_error": False,
                    "content": [
                        {"type": "text", "text": "# Title"},
                        {"type": "tool_reference", "tool_name": "late"},
                    ],
                },
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
                {"type": "text", "text": "and now list the files", "cache_control": MARK},
            ],
        },
        {"role": "system", "content": "a note"},
        {
            "role": "system",
            "content": [
                {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "late"}, "cache_control": MARK},
                {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "read"}},
                {
                    "type": "tool_addition",
                    "tool": {"type": "tool_definition", "definition": {"name": "new", "input_schema": SCHEMA}},
                },
            ],
        },
    ],
}
CHAT: Final[dict[str, Any]] = {
    "model": "demo",
    "stream": True,
    "stream_options": {"include_usage": True},
    "max_completion_tokens": 2000,
    "parallel_tool_calls": True,
    "tool_choice": {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "read"}}]},
    },
    "tools": [{"type": "function", "function": {"name": "read", "description": "d", "parameters": SCHEMA}}],
    "messages": [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "read README.md"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "id_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "id_1", "content": "# Title"},
        {"role": "user", "content": "list the files"},
    ],
}

RESPONSES: Final[dict[str, Any]] = {
    "model": "gpt-6",
    "stream": True,
    "store": False,
    "instructions": "be kind",
    "max_output_tokens": 2000,
    "include": ["reasoning.encrypted_content"],
    "reasoning": {"effort": "low", "summary": "auto"},
    "prompt_cache_key": "k",
    "prompt_cache_options": {"mode": "implicit", "ttl": "12h", "comparison_response_id": "resp_1"},
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "read"}]},
    "tools": [
        {"type": "function", "name": "read", "description": "d", "parameters": SCHEMA, "strict": False},
        {"type": "namespace", "name": "n", "description": "d", "tools": [{"type": "function", "name": "x"}]},
        {"type": "tool_search", "execution": "client", "parameters": SCHEMA},
        {"type": "function", "name": "late", "parameters": SCHEMA, "strict": False, "defer_loading": True},
    ],
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "hi", "prompt_cache_breakpoint": EXPLICIT}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": encrypted("hm")},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "id": "fc_1", "call_id": "id_1", "name": "read", "arguments": "{}"},
        {"type": "tool_search_call", "call_id": "id_2", "execution": "client", "arguments": {"query": "late"}},
        {"type": "function_call_output", "call_id": "id_1", "output": "# Title"},
        {
            "type": "tool_search_output",
            "call_id": "id_2",
            "execution": "client",
            "tools": [{"type": "function", "name": "late", "parameters": SCHEMA, "defer_loading": True}],
        },
        {"type": "message", "role": "user", "content": "read README.md"},
        {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "new"}]},
    ],
}

_WORDS = st.sampled_from(
    [
        "text",
        "tool_use",
        "tool_result",
        "user",
        "assistant",
        "system",
        "tool",
        "auto",
        "none",
        "any",
        "required",
        "function",
        "object",
        "read",
        "id_1",
        "demo",
        "bench-3-0",
        "demo-small",
        "",
        " ",
        "{}",
        "[]",
        "5m",
        "1h",
    ]
)
_ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | _WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3),
    max_leaves=6,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside `value`."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in items for place in ((*path, key), *_places(inner, (*path, key)))]


@st.composite
def _spoiled(draw: st.DrawFn, valid: dict[str, Any]) -> dict[str, Any]:
    """A valid request in which one to three values are gone or replaced by anything."""
    body = deepcopy(valid)
    for _ in range(draw(st.integers(1, 3))):
        places = _places(body)
        if not places:
            break
        *path, key = draw(st.sampled_from(places))
        holder = body
        for step in path:
            holder = holder[step]
        if draw(st.booleans()):
            del holder[key]
        else:
            holder[key] = draw(_ANYTHING)
    return body


def judge(dialect: Dialect, body: dict[str, Any]) -> None:
    state, raw = FakeState(), orjson.dumps(body)
    record = RequestLog().add(dialect.api, "/", HEADERS, raw)
    prepared = prepare(state, dialect, record, raw)
    if isinstance(prepared, Refusal):
        assert prepared.rule is not None
        assert 400 <= prepared.violation.status < 500
        orjson.loads(dialect.error_body(prepared.violation, "req_1"))
    else:
        orjson.loads(dialect.whole(prepared.exchange))
        assert b"".join(frame.data for frame in dialect.frames(prepared.exchange)).endswith(b"\n\n")


def test_the_unspoiled_requests_are_accepted() -> None:
    for dialect, body in ((AnthropicDialect(), ANTHROPIC), (ChatDialect(), CHAT), (ResponsesDialect(), RESPONSES)):
        verdict = examine(FakeState(), dialect, HEADERS, orjson.dumps(body))
        assert isinstance(verdict, Accepted), verdict


@given(_spoiled(ANTHROPIC))
def test_any_messages_request_is_answered_or_refused(body: dict[str, Any]) -> None:
    judge(AnthropicDialect(), body)


@given(_spoiled(CHAT))
def test_any_completions_request_is_answered_or_refused(body: dict[str, Any]) -> None:
    judge(ChatDialect(), body)


@given(_spoiled(RESPONSES))
def test_any_responses_request_is_answered_or_refused(body: dict[str, Any]) -> None:
    judge(ResponsesDialect(), body)


@given(st.binary(max_size=40))
def test_any_bytes_are_judged(raw: bytes) -> None:
    for dialect in (AnthropicDialect(), ChatDialect(), ResponsesDialect()):
        assert isinstance(examine(FakeState(), dialect, HEADERS, raw), Refusal | Accepted)
