"""What tools that come and go in mid-conversation do to the rendered prompt (C2, C8, C10)."""

from copy import deepcopy
from typing import Any

import pytest

from openprogram.fakeapi.cache.segments import Prompt, SegmentTable
from openprogram.fakeapi.dialects import anthropic_conversation, anthropic_prompt

TABLE = SegmentTable()
SCHEMA = {"type": "object"}
READ: dict[str, Any] = {"name": "read", "input_schema": SCHEMA}
LATE: dict[str, Any] = {"name": "late", "description": "comes later", "input_schema": SCHEMA, "defer_loading": True}
PLACEHOLDER: dict[str, Any] = {"name": "reserved", "input_schema": SCHEMA, "defer_loading": True}
NEW: dict[str, Any] = {"name": "new", "description": "given by value", "input_schema": SCHEMA}
USER: dict[str, Any] = {"role": "user", "content": "hi"}
CALL: dict[str, Any] = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t", "name": "tool_search", "input": {}}],
}


def body(*messages: dict[str, Any], tools: Any = (READ, LATE, PLACEHOLDER)) -> dict[str, Any]:
    return {"model": "demo", "max_tokens": 9, "system": "s", "tools": list(tools), "messages": list(deepcopy(messages))}


def change(kind: str, name: str) -> dict[str, Any]:
    return {"role": "system", "content": [{"type": kind, "tool": {"type": "tool_reference", "name": name}}]}


def defined(definition: dict[str, Any]) -> dict[str, Any]:
    tool = {"type": "tool_definition", "definition": definition}
    return {"role": "system", "content": [{"type": "tool_addition", "tool": tool}]}


def found(*names: str) -> dict[str, Any]:
    content = [{"type": "tool_reference", "tool_name": name} for name in names]
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": content}]}


def prompt(request: dict[str, Any]) -> Prompt:
    return anthropic_prompt.prompt(request, TABLE)


def extends(longer: dict[str, Any], shorter: dict[str, Any]) -> bool:
    before, after = prompt(shorter), prompt(longer)
    return [s.digest for s in after[: len(before)]] == [s.digest for s in before]


def callable_tools(request: dict[str, Any]) -> list[str]:
    return [tool.name for tool in anthropic_conversation.conversation(request).tools]


DELTAS = {
    "removal": (change("tool_removal", "read"), []),
    "addition of a deferred tool": (change("tool_addition", "late"), ["read", "late"]),
    "addition by value": (defined(NEW), ["read", "new"]),
}


@pytest.mark.parametrize(("delta", "tools"), [pytest.param(*value, id=name) for name, value in DELTAS.items()])
def test_a_change_is_appended_and_decides_what_may_be_called(delta: dict[str, Any], tools: list[str]) -> None:
    assert extends(body(USER, delta), body(USER))
    assert callable_tools(body(USER, delta)) == tools


def test_deferred_tools_are_no_part_of_the_prompt() -> None:
    assert prompt(body(USER)) == prompt(body(USER, tools=[READ]))
    assert callable_tools(body(USER)) == ["read"]


def test_an_addition_by_reference_renders_the_whole_tool_at_its_place() -> None:
    added = prompt(body(USER, change("tool_addition", "late")))[-1]
    named = prompt(body(USER, change("tool_removal", "late")))[-1]
    assert added.size > named.size
    described = {**LATE, "description": "something else, and longer than before"}
    again = prompt(body(USER, change("tool_addition", "late"), tools=[READ, described, PLACEHOLDER]))[-1]
    assert again.digest != added.digest


def test_a_tool_that_was_there_from_the_start_is_only_named_when_it_returns() -> None:
    returned = prompt(body(USER, change("tool_removal", "read"), change("tool_addition", "read")))
    assert returned[-1].size < prompt(body(USER, defined({**READ, "description": "d"})))[-1].size
    assert callable_tools(body(USER, change("tool_removal", "read"), change("tool_addition", "read"))) == ["read"]


def test_a_definition_given_again_adds_nothing() -> None:
    twice = prompt(body(USER, defined(NEW), defined(NEW)))
    assert twice[-1].size < twice[-2].size
    other = prompt(body(USER, defined(NEW), defined({**NEW, "description": "another"})))
    assert other[-1].size > twice[-1].size


def test_a_tool_found_by_search_is_rendered_in_the_result() -> None:
    request = body(USER, CALL, found("late"))
    assert callable_tools(request) == ["read", "late"]
    described = body(USER, CALL, found("late"), tools=[READ, {**LATE, "description": "other"}, PLACEHOLDER])
    assert prompt(described)[-1].digest != prompt(request)[-1].digest
    assert [s.digest for s in prompt(described)[:-1]] == [s.digest for s in prompt(request)[:-1]]


def test_a_change_keeps_its_bytes_whatever_follows() -> None:  # C10
    history = [USER, defined(NEW), {"role": "assistant", "content": "ok"}, USER]
    assert extends(body(*history, change("tool_removal", "new")), body(*history))
    assert extends(body(*history, change("tool_removal", "new")), body(*history[:2]))


def test_the_first_change_costs_everything_unless_a_deferred_tool_stays_in_reserve() -> None:  # C8
    bare = [READ]
    assert not extends(body(USER, defined(NEW), tools=bare), body(USER, tools=bare))
    assert extends(body(USER, defined(NEW), tools=[READ, PLACEHOLDER]), body(USER, tools=[READ, PLACEHOLDER]))
    activated = change("tool_addition", "late")
    assert not extends(body(USER, activated, tools=[READ, LATE]), body(USER, tools=[READ, LATE]))


def test_a_turn_scoped_note_is_gone_once_the_next_person_speaks() -> None:
    note = {"role": "system", "clear_at": "next_user_message", "content": "only now"}
    answer = {"role": "assistant", "content": "ok"}
    assert len(prompt(body(USER, note))) == len(prompt(body(USER))) + 1
    assert prompt(body(USER, note, answer, USER)) == prompt(body(USER, answer, USER))


def test_a_mark_on_a_change_or_in_its_definition_stands_there() -> None:
    mark = {"type": "ephemeral", "ttl": "1h"}
    inside = defined({**NEW, "cache_control": mark})
    outside = defined(NEW)
    outside["content"][0]["cache_control"] = mark
    for delta in (inside, outside):
        assert [segment.breakpoint for segment in prompt(body(USER, delta)) if segment.breakpoint] == ["1h"]
    assert prompt(body(USER, inside))[-1] == prompt(body(USER, outside))[-1]
