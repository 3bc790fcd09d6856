"""How requests become segments: what moves the cached prefix and what does not (`reference`: what breaks the cache)."""

from copy import deepcopy
from typing import Any

import pytest

from openprogram.fakeapi.cache.segments import Prompt, SegmentTable
from openprogram.fakeapi.dialects import anthropic_prompt, chat_prompt

TABLE = SegmentTable()
MARK = {"type": "ephemeral"}
BODY: dict[str, Any] = {
    "model": "demo",
    "max_tokens": 10,
    "system": [{"type": "text", "text": "s1"}, {"type": "text", "text": "s2"}],
    "tools": [
        {"name": "a", "description": "d", "input_schema": {"type": "object"}},
        {"name": "b", "input_schema": {"type": "object"}},
    ],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "one"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "a", "input": {"x": 1, "y": 2}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "r"}]},
    ],
}


def changed(**more: Any) -> dict[str, Any]:
    return {**deepcopy(BODY), **more}


def kept(other: dict[str, Any]) -> str:
    """The section in which the other request's prefix first differs, or `all`."""
    before, after = anthropic_prompt.prompt(BODY, TABLE), anthropic_prompt.prompt(other, TABLE)
    for index, segment in enumerate(before):
        if index >= len(after) or after[index].digest != segment.digest:
            return segment.section
    return "all"


def digests(prompt: Prompt) -> list[bytes]:
    return [segment.digest for segment in prompt]


def test_tools_come_before_system_before_messages() -> None:
    sections = [segment.section for segment in anthropic_prompt.prompt(BODY, TABLE)]
    assert sections == sorted(sections, key=["tools", "system", "messages"].index)


TOOLS = BODY["tools"]
MESSAGES = BODY["messages"]


@pytest.mark.parametrize(
    ("more", "section"),
    [
        pytest.param({"tools": [*TOOLS, {"name": "c", "input_schema": {"type": "object"}}]}, "system", id="tool added"),
        pytest.param({"tools": TOOLS[1:]}, "tools", id="tool removed"),
        pytest.param({"tools": TOOLS[::-1]}, "tools", id="tools reordered"),
        pytest.param(
            {"tools": [{"description": "d", "name": "a", "input_schema": {"type": "object"}}, TOOLS[1]]},
            "tools",
            id="keys reordered",
        ),
        pytest.param({"system": "s1"}, "system", id="system changed"),
        pytest.param({"tools": [*TOOLS, {"type": "web_search_20250305", "name": "web_search"}]}, "system", id="search"),
        pytest.param({"tool_choice": {"type": "none"}}, "messages", id="tool_choice"),
        pytest.param({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "messages", id="thinking"),
        pytest.param({"output_config": {"effort": "low"}}, "messages", id="effort"),
        pytest.param({"messages": [{"role": "user", "content": "two"}]}, "messages", id="message edited"),
    ],
)
def test_a_change_breaks_the_prefix_from_its_section_on(more: dict[str, Any], section: str) -> None:
    assert kept(changed(**more)) == section


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"messages": [*MESSAGES, {"role": "system", "content": "off"}]}, id="system message appended"),
        pytest.param(
            {"tools": [*TOOLS, {"name": "z", "input_schema": {"type": "object"}, "defer_loading": True}]},
            id="deferred tool appended",
        ),
        pytest.param({"system": [BODY["system"][0], {**BODY["system"][1], "cache_control": MARK}]}, id="mark moved"),
        pytest.param({"max_tokens": 99, "stream": True, "metadata": {"user_id": "u"}}, id="parameters without effect"),
        pytest.param({"tool_choice": {"type": "auto"}}, id="tool_choice said aloud"),
        pytest.param({"messages": [{"role": "user", "content": "one"}, *MESSAGES[1:]]}, id="string for one block"),
    ],
)
def test_what_is_documented_as_harmless_keeps_the_prefix(more: dict[str, Any]) -> None:
    assert kept(changed(**more)) == "all"


def test_marks_stand_where_cache_control_stands() -> None:
    body = changed(
        tools=[TOOLS[0], {**TOOLS[1], "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        messages=[*MESSAGES[:2], {"role": "user", "content": [{**MESSAGES[2]["content"][0], "cache_control": MARK}]}],
    )
    marks = [segment.breakpoint for segment in anthropic_prompt.prompt(body, TABLE)]
    assert [mark for mark in marks if mark] == ["1h", "5m"]
    assert marks[1] == "1h"
    assert marks[-1] == "5m"


def test_a_mark_inside_a_tool_result_counts_for_the_result() -> None:
    inner = {"type": "text", "text": "r", "cache_control": MARK}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [inner]}
    body = changed(messages=[*MESSAGES[:2], {"role": "user", "content": [result]}])
    assert anthropic_prompt.prompt(body, TABLE)[-1].breakpoint == "5m"


def test_the_requests_own_cache_control_marks_its_last_block() -> None:
    prompt = anthropic_prompt.prompt(changed(cache_control={"type": "ephemeral", "ttl": "1h"}), TABLE)
    assert [segment.breakpoint for segment in prompt if segment.breakpoint] == ["1h"]
    assert prompt[-1].breakpoint == "1h"


def test_another_signature_is_another_prefix_of_the_same_size() -> None:
    def with_signature(signature: str) -> Prompt:
        block = {"type": "thinking", "thinking": "hm", "signature": signature}
        return anthropic_prompt.prompt(changed(messages=[{"role": "assistant", "content": [block]}]), TABLE)

    one, two = with_signature("a"), with_signature("b")
    assert one[-1].digest != two[-1].digest
    assert one[-1].tokens == two[-1].tokens


def chat(*messages: dict[str, Any], **more: Any) -> Prompt:
    return chat_prompt.prompt({"model": "demo", "messages": list(messages), **more}, TABLE)


CHAT = ({"role": "system", "content": "s"}, {"role": "user", "content": "hi"})
CHAT_TOOL = {"type": "function", "function": {"name": "a"}}


def test_chat_tools_stand_first_so_that_changing_one_moves_everything() -> None:
    with_tool, without = chat(*CHAT, tools=[CHAT_TOOL]), chat(*CHAT)
    assert with_tool[0].section == "tools"
    assert digests(with_tool)[1:] == digests(without)


def test_appending_a_chat_message_keeps_the_prefix() -> None:
    before, after = chat(*CHAT), chat(*CHAT, {"role": "assistant", "content": "yes"})
    assert digests(after)[: len(before)] == digests(before)


def test_masking_by_tool_choice_keeps_the_chat_prefix() -> None:
    assert chat(*CHAT, tools=[CHAT_TOOL], tool_choice="none") == chat(*CHAT, tools=[CHAT_TOOL])


@pytest.mark.parametrize("more", [{"reasoning_effort": "low"}, {"parallel_tool_calls": False}, {"verbosity": "low"}])
def test_parameters_that_belong_to_the_prefix_break_it_on_models_with_breakpoints(more: dict[str, Any]) -> None:
    for model, breaks in (("gpt-6", True), ("gpt-5.5", False)):
        before, after = chat(*CHAT, model=model), chat(*CHAT, model=model, **more)
        assert (before[0].digest != after[0].digest) == breaks


def breakpoints(*contents: list[str | None], **more: Any) -> list[str | None]:
    """The lifetimes written for messages whose parts have these breakpoints."""
    messages = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "x"}
                if ttl is None
                else {"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": ttl}}
                for ttl in content
            ],
        }
        for content in contents
    ]
    return [segment.breakpoint for segment in chat(*messages, model="gpt-6", **more)[1:]]


def test_the_newest_content_gets_a_breakpoint_unless_only_explicit_ones_are_wanted() -> None:
    assert breakpoints([None], ["12h"], [None]) == [None, "12h", "30m"]
    assert breakpoints([None], [None], prompt_cache_options={"ttl": "12h"}) == [None, "12h"]
    explicit = {"mode": "explicit"}
    assert breakpoints([None], ["12h"], [None], prompt_cache_options=explicit) == [None, "12h", None]
    assert breakpoints([None], [None], prompt_cache_options=explicit) == [None, None]


def test_a_request_writes_at_most_four_breakpoints_the_newest() -> None:
    marked: list[list[str | None]] = [["30m"]] * 5
    assert breakpoints(*marked, [None]) == [None, None, "30m", "30m", "30m", "30m"]
    explicit = {"mode": "explicit"}
    written = breakpoints(*marked, [None], prompt_cache_options=explicit)
    assert written == [None, "30m", "30m", "30m", "30m", None]
