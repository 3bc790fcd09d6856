"""Thinking is bound to the prompt before it, on the models that do so (A47; C14)."""

from collections.abc import Callable
from typing import Any, TypeAlias

import orjson
import pytest

from openprogram.fakeapi.dialects.anthropic import AnthropicDialect
from openprogram.fakeapi.exchange import Refusal, prepare
from openprogram.fakeapi.log import RequestLog
from openprogram.fakeapi.play import Delivery
from openprogram.fakeapi.rules.betas import BINDING_CONTROLS
from openprogram.fakeapi.scripts import Script
from openprogram.fakeapi.state import FakeState
from openprogram.fakeapi.tool_changes import BY_VALUE
from tests.support.anthropic_rules import EPHEMERAL, HEADERS, tool

BOUND = "claude-opus-5-5"
FREE = "claude-opus-5"
ALLOWED = {**HEADERS, "anthropic-beta": f"{BINDING_CONTROLS},{BY_VALUE}"}
THOUGHT = {"blocks": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "answer"}], "times": 9}


class Chat:
    """A conversation that appends each answer as it came."""

    def __init__(self, model: str = BOUND) -> None:
        self.dialect = AnthropicDialect()
        self.state = FakeState()
        self.state.scripts.add(Script.model_validate(THOUGHT))
        self.body: dict[str, Any] = {
            "model": model,
            "max_tokens": 100,
            "system": "be kind",
            "thinking": {"type": "adaptive"},
            "tools": [tool(), tool("late", defer_loading=True)],
            "messages": [],
        }

    def send(self) -> dict[str, Any] | Refusal:
        raw = orjson.dumps(self.body)
        record = RequestLog().add("anthropic", "/", ALLOWED, raw)
        prepared = prepare(self.state, self.dialect, record, raw)
        if isinstance(prepared, Delivery):
            message: dict[str, Any] = orjson.loads(self.dialect.whole(prepared.exchange))
            return message
        return prepared

    def ask(self, text: str = "hi") -> dict[str, Any]:
        self.body["messages"].append({"role": "user", "content": text})
        answer = self.send()
        assert isinstance(answer, dict), answer
        self.body["messages"].append({"role": "assistant", "content": answer["content"]})
        return answer


Body: TypeAlias = dict[str, Any]
INLINE = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": tool("new")}}


def without_thinking(body: Body, *places: int) -> None:
    for place in places:
        body["messages"][place]["content"] = body["messages"][place]["content"][1:]


BREAKING: dict[str, Callable[[Body], object]] = {
    "system": lambda body: body.update(system="be brief"),
    "tool added": lambda body: body["tools"].append(tool("new")),
    "tool described": lambda body: body["tools"][0].update(description="d"),
    "message": lambda body: body["messages"][0].update(content="hello"),
    "system message inserted": lambda body: body["messages"].insert(1, {"role": "system", "content": "note"}),
    "earlier thinking left out": lambda body: without_thinking(body, 1),
}
HARMLESS: dict[str, Callable[[Body], object]] = {
    "nothing": lambda body: None,
    "deferred tool added": lambda body: body["tools"].append(tool("later", defer_loading=True)),
    "tool_choice": lambda body: body.update(tool_choice={"type": "none"}),
    "effort": lambda body: body.update(output_config={"effort": "low"}),
    "mark": lambda body: body.update(system=[{"type": "text", "text": "be kind", "cache_control": EPHEMERAL}]),
    "tool change appended": lambda body: body["messages"].append({"role": "system", "content": [INLINE]}),
    "all thinking left out": lambda body: without_thinking(body, 1, 3),
}
EDITS = {**BREAKING, **HARMLESS}


def edited_chat(edit: str, model: str = BOUND) -> Chat:
    chat = Chat(model)
    chat.ask()
    chat.ask("more")
    chat.body["messages"].append({"role": "user", "content": "and now"})
    EDITS[edit](chat.body)
    return chat


@pytest.mark.parametrize("edit", BREAKING)
def test_a_changed_prefix_before_a_thinking_block_is_refused(edit: str) -> None:
    refusal = edited_chat(edit).send()
    assert isinstance(refusal, Refusal)
    assert (refusal.rule, refusal.violation.status) == ("A47", 400)
    at = 3 if edit == "earlier thinking left out" else 2 if edit == "system message inserted" else 1
    assert refusal.violation.message.startswith(
        f"messages.{at}.content.0: Invalid `signature` in `thinking` block. The block is bound to a different"
    )


@pytest.mark.parametrize("edit", HARMLESS)
def test_what_may_change_before_a_thinking_block_may_change(edit: str) -> None:
    assert isinstance(edited_chat(edit).send(), dict)


@pytest.mark.parametrize("edit", BREAKING)
def test_models_that_do_not_bind_thinking_take_a_changed_prefix(edit: str) -> None:
    assert isinstance(edited_chat(edit, FREE).send(), dict)


def test_drop_block_leaves_misbound_thinking_out_and_says_where() -> None:
    chat = edited_chat("system")
    chat.body["thinking"] = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    answer = chat.send()
    assert isinstance(answer, dict)
    assert answer["input_transformations"] == [
        {"type": "thinking_dropped", "path": f"messages.{at}.content.0", "reason": "prefix_binding_mismatch"}
        for at in (1, 3)
    ]
    chat.body["messages"].append({"role": "assistant", "content": answer["content"]})
    again = chat.ask("once more")
    assert [entry["path"] for entry in again["input_transformations"]] == [
        "messages.1.content.0",
        "messages.3.content.0",
    ]


def test_the_same_thought_behind_another_prompt_has_another_signature() -> None:
    one, two = Chat(), Chat()
    first, second = one.ask("a"), two.ask("b")
    assert first["content"][0]["thinking"] == second["content"][0]["thinking"]
    assert first["content"][0]["signature"] != second["content"][0]["signature"]


def test_thinking_of_earlier_turns_is_no_input_where_the_model_does_not_keep_it() -> None:
    def size(model: str) -> int:
        chat = Chat(model)
        chat.ask()
        chat.body["messages"].append({"role": "user", "content": "more"})
        return chat.dialect.render(chat.body, chat.state.segments).size

    table = FakeState().segments
    kept, left_out = [["assistant:\nhm", "answer"], ["assistant:\nanswer"]]
    sizes = [sum(table.segment(text, "messages").size for text in texts) for texts in (kept, left_out)]
    assert size("claude-opus-5") - size("claude-sonnet-4-5") == sizes[0] - sizes[1] > 0
