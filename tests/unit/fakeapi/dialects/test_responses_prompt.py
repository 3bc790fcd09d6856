"""What moves the cached prefix of a Responses request and what does not (`reference`: prefix-affecting)."""

from copy import deepcopy
from typing import Any

import pytest

from openprogram.fakeapi.cache.segments import SegmentTable
from openprogram.fakeapi.dialects import responses_prompt
from tests.support.responses_rules import CALL, OUTPUT, SAID, SEARCH, SEARCHED, THOUGHT, USER, additional, found, tool

TABLE = SegmentTable()
BODY: dict[str, Any] = {
    "model": "gpt-6",
    "instructions": "be kind",
    "tools": [tool(), tool("late", defer_loading=True), SEARCH],
    "input": [USER, THOUGHT, CALL, OUTPUT, SAID, USER],
}
ITEMS = BODY["input"]
TOOLS = BODY["tools"]


def changed(**more: Any) -> dict[str, Any]:
    return {**deepcopy(BODY), **more}


def kept(other: dict[str, Any]) -> bool:
    """Whether the other request begins with the whole of `BODY`."""
    before, after = responses_prompt.prompt(BODY, TABLE), responses_prompt.prompt(other, TABLE)
    return [s.digest for s in after[: len(before)]] == [s.digest for s in before]


BREAKING: dict[str, dict[str, Any]] = {
    "tool added": {"tools": [*TOOLS, tool("new")]},
    "tool removed": {"tools": TOOLS[1:]},
    "instructions": {"instructions": "be brief"},
    "effort": {"reasoning": {"effort": "low"}},
    "parallel calls": {"parallel_tool_calls": False},
    "format": {"text": {"format": {"type": "json_object"}}},
    "service tier": {"service_tier": "flex"},
    "an item edited": {"input": [{"role": "user", "content": "hello"}, *ITEMS[1:]]},
    "reasoning left out": {"input": [USER, *ITEMS[2:]]},
}
HARMLESS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "tool_choice": {"tool_choice": "none"},
    "deferred tool added": {"tools": [*TOOLS, tool("later", defer_loading=True)]},
    "items appended": {"input": [*ITEMS, SAID, USER]},
    "additional tools appended": {"input": [*ITEMS, additional(tool("new"))]},
    "search appended": {"input": [*ITEMS, SEARCHED, found(tool("late", defer_loading=True))]},
    "ids left out": {"input": [*ITEMS[:2], {k: v for k, v in CALL.items() if k != "id"}, *ITEMS[3:]]},
    "a type said aloud": {"input": [{"type": "message", **USER}, *ITEMS[1:]]},
    "metadata": {"metadata": {"user": "u"}, "stream": True, "max_output_tokens": 99},
}


@pytest.mark.parametrize("more", [pytest.param(value, id=name) for name, value in BREAKING.items()])
def test_what_belongs_to_the_prefix_breaks_it(more: dict[str, Any]) -> None:
    assert not kept(changed(**more))


@pytest.mark.parametrize("more", [pytest.param(value, id=name) for name, value in HARMLESS.items()])
def test_what_is_documented_as_harmless_keeps_the_prefix(more: dict[str, Any]) -> None:
    assert kept(changed(**more))


def test_added_and_found_tools_are_part_of_the_prompt_at_their_place() -> None:
    added, described = additional(tool("new")), additional(tool("new", description="longer " * 9))
    sizes = [responses_prompt.prompt(changed(input=[*ITEMS, item]), TABLE)[-1].size for item in (added, described)]
    assert sizes[0] < sizes[1]


def test_a_breakpoint_ends_at_what_the_client_sends_never_at_an_answer_or_a_tool() -> None:
    for items in (ITEMS, ITEMS[:5], [*ITEMS, additional(tool("new"))], ITEMS[:4]):
        prompt = responses_prompt.prompt(changed(input=items), TABLE)
        marked = [segment for segment in prompt if segment.breakpoint]
        assert len(marked) == 1
        assert marked[0].block
    older = responses_prompt.prompt(changed(model="gpt-5.5"), TABLE)
    assert not any(segment.breakpoint for segment in older)
