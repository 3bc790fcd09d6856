"""Laws of the simulated caches for whole conversations in every wire format (C2, C10, C21)."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from openprogram.fakeapi.cache.segments import TOKEN_BYTES, Prompt
from openprogram.fakeapi.dialects.anthropic import AnthropicDialect
from openprogram.fakeapi.dialects.base import Dialect
from openprogram.fakeapi.dialects.chat import ChatDialect
from openprogram.fakeapi.dialects.responses import ResponsesDialect
from openprogram.fakeapi.exchange import prepare
from openprogram.fakeapi.log import RequestLog
from openprogram.fakeapi.play import Delivery
from openprogram.fakeapi.state import FakeState

HEADERS = {"authorization": "Bearer k", "anthropic-version": "2023-06-01", "anthropic-beta": "inline-tools-2026-09-15"}
SCHEMA = {"type": "object"}
RULES = "rule " * 1500
DIALECTS: dict[str, tuple[Dialect, str]] = {
    "anthropic": (AnthropicDialect(), "claude-opus-5-5"),
    "chat": (ChatDialect(), "gpt-5.5"),
    "chat with breakpoints": (ChatDialect(), "gpt-6"),
    "responses": (ResponsesDialect(), "gpt-6"),
    "older responses": (ResponsesDialect(), "gpt-5.5"),
}

_TEXTS = st.text(st.sampled_from("abc \n你"), min_size=1, max_size=30).filter(lambda text: bool(text.strip()))
_LONG = st.builds(lambda text, times: f"{text} " * times, _TEXTS, st.sampled_from([1, 1, 50]))
_TURNS = st.lists(st.tuples(_LONG, _LONG), min_size=1, max_size=4)
_FORMATS = st.sampled_from(sorted(DIALECTS))


def message(dialect: Dialect, role: str, text: str) -> dict[str, Any]:
    if dialect.api == "responses" and role == "assistant":
        return {"type": "message", "role": role, "content": [{"type": "output_text", "text": text}]}
    return {"role": role, "content": text}


def conversation(name: str, turns: list[tuple[str, str]], newest: str) -> dict[str, Any]:
    """A request whose history is `turns`; in Anthropic's format it marks its last block and the rules."""
    dialect, model = DIALECTS[name]
    history = []
    for asked, said in turns:
        history += [message(dialect, "user", asked), message(dialect, "assistant", said)]
    history.append(message(dialect, "user", newest))
    body: dict[str, Any] = {"model": model}
    match dialect.api:
        case "anthropic":
            mark = {"type": "ephemeral"}
            system = [{"type": "text", "text": RULES, "cache_control": mark}]
            body |= {"max_tokens": 99, "system": system, "cache_control": mark, "messages": history}
        case "chat":
            body["messages"] = [{"role": "system", "content": RULES}, *history]
        case "responses":
            body |= {"instructions": RULES, "input": history}
    return body


@dataclass
class Api:
    """One server with its caches; `send` lets each answer begin."""

    name: str

    def __post_init__(self) -> None:
        self.dialect = DIALECTS[self.name][0]
        self.state = FakeState()

    def prompt(self, body: dict[str, Any]) -> Prompt:
        return self.dialect.render(body, self.state.segments).prompt

    def send(self, body: dict[str, Any]) -> Any:
        raw = orjson.dumps(body)
        record = RequestLog().add(self.dialect.api, "/", HEADERS, raw)
        delivery = prepare(self.state, self.dialect, record, raw)
        assert isinstance(delivery, Delivery), delivery
        delivery.begun()
        return record.cache


def flat(prompt: Prompt) -> list[bytes]:
    whole = b"".join(segment.tokens for segment in prompt)
    return [whole[i : i + TOKEN_BYTES] for i in range(0, len(whole), TOKEN_BYTES)]


def common(left: Prompt, right: Prompt) -> int:
    pairs = zip(flat(left), flat(right), strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(flat(left)), len(flat(right))))


@given(_FORMATS, _TURNS, _LONG)
def test_a_warm_conversation_never_reads_less_than_its_previous_prompt(
    name: str, turns: list[tuple[str, str]], newest: str
) -> None:
    api = Api(name)
    before = 0
    for length in range(len(turns) + 1):
        asked = turns[length][0] if length < len(turns) else newest
        verdict = api.send(conversation(name, turns[:length], asked))
        # Without breakpoints entries come in steps of 128 tokens.
        step = 1 if name in ("anthropic", "responses", "chat with breakpoints") else 128
        assert verdict.read >= before - before % step
        assert verdict.read <= before or verdict.prompt == before
        before = verdict.prompt


@given(_FORMATS, _TURNS, _LONG, st.data())
def test_a_changed_character_is_never_read_past(
    name: str, turns: list[tuple[str, str]], newest: str, data: st.DataObject
) -> None:
    api = Api(name)
    first = conversation(name, turns, newest)
    api.send(first)
    edited = list(turns)
    place = data.draw(st.integers(0, len(turns) - 1))
    asked, said = edited[place]
    at = data.draw(st.integers(0, len(asked) - 1))
    edited[place] = (f"{asked[:at]}X{asked[at + 1 :]}", said)
    second = conversation(name, edited, newest)
    verdict = api.send(second)
    assert verdict.read <= common(api.prompt(first), api.prompt(second)) < verdict.prompt


@given(_FORMATS, _TURNS, _LONG, st.sampled_from([299.0, 301.0, 599.0, 601.0, 1799.0, 1801.0]))
def test_what_was_written_lives_as_long_as_its_api_says(
    name: str, turns: list[tuple[str, str]], newest: str, pause: float
) -> None:
    api = Api(name)
    body = conversation(name, turns, newest)
    first = api.send(body)
    api.state.clock.advance(pause)
    lifetime = {"anthropic": 300.0, "chat": 600.0, "older responses": 600.0}.get(name, 1800.0)
    again = api.send(body)
    assert (again.read > 0) == (pause < lifetime)
    if pause >= lifetime:
        assert again.written == first.written


TOOLS = ("late", "later", "read")


def tool_delta(api: str, kind: str, name: str) -> dict[str, Any]:
    """One delta in the format's own way."""
    if api == "responses":
        return {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": name + kind}]}
    tool: dict[str, Any] = {"type": "tool_reference", "name": name}
    if kind == "define":
        definition = {"name": f"new_{name}", "input_schema": SCHEMA}
        tool = {"type": "tool_definition", "definition": definition}
    block = {"type": "tool_removal" if kind == "remove" else "tool_addition", "tool": tool}
    return {"role": "system", "content": [block]}


_DELTAS = st.lists(st.tuples(st.sampled_from(["add", "remove", "define"]), st.sampled_from(TOOLS)), max_size=4)


@given(st.sampled_from(["anthropic", "responses"]), st.lists(st.tuples(_LONG, _DELTAS), min_size=2, max_size=4))
def test_any_appended_tool_changes_keep_every_earlier_token(
    name: str, turns: list[tuple[str, list[tuple[str, str]]]]
) -> None:
    """The placeholder is declared from the first request, as C8 demands."""
    api = Api(name)
    body = conversation(name, [], "hi")
    items: list[dict[str, Any]] = body["messages" if name == "anthropic" else "input"]
    if name == "anthropic":
        deferred = [{"name": n, "input_schema": SCHEMA, "defer_loading": True} for n in ("late", "later", "reserved")]
        body["tools"] = [{"name": "read", "input_schema": SCHEMA}, *deferred]
    before = api.prompt(deepcopy(body))
    last_read = api.send(body).prompt
    for text, deltas in turns:
        items += [message(api.dialect, "assistant", "ok"), message(api.dialect, "user", text)]
        items += [tool_delta(name, kind, tool) for kind, tool in deltas]
        after = api.prompt(deepcopy(body))
        assert flat(after)[: len(flat(before))] == flat(before)
        verdict = api.send(body)
        assert verdict.read >= last_read
        last_read = verdict.read + verdict.written
        before = after
