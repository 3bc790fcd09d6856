"""Whatever a history holds, what is sent of it is valid, stays the same for ever, and only grows (C13, C15)."""

import re
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.jsonio import canonical
from openprogram.core.messages import Message, ToolResultBlock, ToolUseBlock
from openprogram.core.prompt import ProviderRequest
from openprogram.providers import anthropic_prompt, chat_prompt
from openprogram.providers.cache_policy import MAX_BREAKPOINTS
from openprogram.providers.catalog import UNKNOWN
from openprogram.providers.history import arrange, own_reasoning
from openprogram.providers.hosts import Quirks
from openprogram.providers.segments import segments
from tests.support.histories import TOOL, histories, orderly_histories

_PLAIN = Quirks()
_quirks = st.sampled_from([_PLAIN, Quirks(return_reasoning=True, developer_role=True, call_id_chars=40)])
_lengths = st.integers(0, 9)
_SENT_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SENT_ID = re.compile(r"[a-zA-Z0-9_-]+")


def anthropic_body(messages: tuple[Message, ...], previous: int = 0, tools: int = 1) -> dict[str, Any]:
    """The body as the endpoint reads it."""
    request = ProviderRequest("m", ("You help.",), (TOOL,) * tools, messages, previous_length=previous)
    body: dict[str, Any] = orjson.loads(canonical(anthropic_prompt.request_body(request, "e/m", UNKNOWN)))
    return body


def chat_body(messages: tuple[Message, ...], quirks: Quirks = _PLAIN) -> dict[str, Any]:
    """The body as the endpoint reads it."""
    request = ProviderRequest("m", ("You help.",), (TOOL,), messages)
    body: dict[str, Any] = orjson.loads(canonical(chat_prompt.request_body(request, "e/m", UNKNOWN, quirks)))
    return body


@given(histories)
def test_sides_take_turns_and_every_call_is_answered_once_in_order(messages: tuple[Message, ...]) -> None:
    turns = arrange(messages, own_reasoning("e/m"))
    assert [turn.role for turn in turns] == ["user", "assistant"] * (len(turns) // 2) + ["user"]
    assert all(turn.items for turn in turns)
    seen: list[str] = []
    for before, turn in zip((None, *turns), turns, strict=False):
        called = [item.block.call_id for item in before.items if isinstance(item.block, ToolUseBlock)] if before else []
        answered = [item.block.call_id for item in turn.items if isinstance(item.block, ToolResultBlock)]
        assert answered == called
        head = [item.block for item in turn.items[: len(answered)]]
        assert all(isinstance(block, ToolResultBlock) for block in head)
        seen += called
    assert len(set(seen)) == len(seen)


@given(histories)
def test_no_call_of_an_answer_is_lost(messages: tuple[Message, ...]) -> None:
    calls = sum(len(message.calls) for message in messages if message.role == "assistant")
    turns = arrange(messages, own_reasoning("e/m"))
    assert sum(isinstance(item.block, ToolUseBlock) for turn in turns for item in turn.items) == calls


@given(histories, _lengths, st.integers(0, 2))
def test_anthropic_request_keeps_the_rules_of_the_api(messages: tuple[Message, ...], previous: int, tools: int) -> None:
    body = anthropic_body(messages, previous, tools)
    blocks = [block for message in body["messages"] for block in message["content"]]
    for block in blocks:
        if block["type"] == "text":
            assert block["text"].strip()
        elif block["type"] == "tool_use":
            assert _SENT_NAME.fullmatch(block["name"])
            assert _SENT_ID.fullmatch(block["id"])
    for message in body["messages"]:
        kinds = [block["type"] for block in message["content"]]
        assert kinds
        assert kinds[-1] not in ("thinking", "redacted_thinking")
        results = kinds.count("tool_result")
        assert kinds[:results] == ["tool_result"] * results
    ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert ids == [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    assert len(set(ids)) == len(ids)
    assert body.get("tools") or not ids


@given(histories, _lengths)
def test_anthropic_request_has_at_most_four_breakpoints_and_the_newest_is_on_the_last_block(  # C15
    messages: tuple[Message, ...], previous: int
) -> None:
    body = anthropic_body(messages, previous)
    blocks = [block for message in body["messages"] for block in message["content"]]
    marked = [block for block in [*body["tools"], *body["system"], *blocks] if "cache_control" in block]
    assert len(marked) <= MAX_BREAKPOINTS
    assert not [block for block in marked if block.get("type") in ("thinking", "redacted_thinking")]
    assert "cache_control" in body["tools"][-1]
    assert "cache_control" in body["system"][-1]
    assert "cache_control" in body["messages"][-1]["content"][-1]


@given(histories, _quirks)
def test_chat_request_keeps_the_rules_of_the_api(messages: tuple[Message, ...], quirks: Quirks) -> None:
    sent = chat_body(messages, quirks)["messages"]
    assert sent[0]["role"] == ("developer" if quirks.developer_role else "system")
    assert sent[-1]["role"] in ("user", "tool")
    waiting: list[str] = []
    before = None
    for message in sent[1:]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert waiting == []
            assert message["role"] != before or message["role"] == "tool"
        if message["role"] == "assistant":
            calls = message.get("tool_calls", [])
            waiting = [call["id"] for call in calls]
            assert message["content"] or calls
            assert all(_SENT_NAME.fullmatch(call["function"]["name"]) for call in calls)
            assert all(type(orjson.loads(call["function"]["arguments"])) is dict for call in calls)
        before = message["role"]
    assert waiting == []


def _without_marks(body: dict[str, Any]) -> list[Any]:
    """One entry per content block, without the breakpoints, which move and are no part of the prefix."""
    return [
        (message["role"], {name: value for name, value in block.items() if name != "cache_control"})
        for message in body["messages"]
        for block in message["content"]
    ]


@given(orderly_histories(), st.data())
def test_a_later_request_extends_an_earlier_one(messages: tuple[Message, ...], data: st.DataObject) -> None:  # C13
    answers = [index for index, message in enumerate(messages) if message.role == "assistant"]
    cut = data.draw(st.sampled_from(answers))  # every answer was a request of what stands before it
    earlier, later = _without_marks(anthropic_body(messages[:cut])), _without_marks(anthropic_body(messages))
    assert later[: len(earlier)] == earlier
    old, new = segments(_request(messages[:cut])), segments(_request(messages))
    assert new[: len(old)] == old


@given(orderly_histories(), st.data())
def test_a_breakpoint_stands_where_the_previous_request_had_its_newest(  # C15
    messages: tuple[Message, ...], data: st.DataObject
) -> None:
    answers = [index for index, message in enumerate(messages) if message.role == "assistant"]
    previous = data.draw(st.sampled_from(answers))
    before = anthropic_body(messages[:previous])
    after = anthropic_body(messages, previous=previous)
    place = len(_without_marks(before)) - 1
    blocks = [block for message in after["messages"] for block in message["content"]]
    assert "cache_control" in blocks[place]


@given(orderly_histories())
def test_without_a_known_previous_request_the_newest_answer_tells_where_it_ended(messages: tuple[Message, ...]) -> None:
    newest_answer = max(index for index, message in enumerate(messages) if message.role == "assistant")
    assert anthropic_body(messages, previous=0) == anthropic_body(messages, previous=newest_answer)


def _request(messages: tuple[Message, ...]) -> ProviderRequest:
    return ProviderRequest("m", ("You help.",), (TOOL,), messages)


@given(histories)
def test_rendering_is_the_same_for_ever(messages: tuple[Message, ...]) -> None:  # C13
    assert canonical(anthropic_body(messages)) == canonical(anthropic_body(messages))
    assert segments(_request(messages)) == segments(_request(messages))
