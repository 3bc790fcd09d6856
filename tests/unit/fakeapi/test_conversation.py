"""What the demo model sees of a request, whichever wire format it came in."""

from typing import Any

import pytest

from openprogram.context.notices import notice_text
from openprogram.core.news import News
from openprogram.core.surface import SurfacePlan
from openprogram.fakeapi.conversation import Call, Conversation, Result, UserTurn, spoken
from openprogram.fakeapi.dialects import anthropic_conversation, chat_prompt
from openprogram.providers.history import CONTINUE, OPENING
from tests.support.tools import spec

CALL = Call("c1", "read", {"path": "a"})


def anthropic(*messages: Any, **more: Any) -> Conversation:
    return anthropic_conversation.conversation({"messages": list(messages), **more})


def chat(*messages: Any, **more: Any) -> Conversation:
    return chat_prompt.conversation({"messages": list(messages), **more})


def both_loops(note: str) -> list[Conversation]:
    """A tool loop in both wire formats, with `note` behind the results."""
    use = {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}}
    results = [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "ok"}]}]
    if note:
        results.append({"type": "text", "text": note})
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
    tail = [{"role": "user", "content": note}] if note else []
    return [
        anthropic(
            {"role": "user", "content": "read a"},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": results},
        ),
        chat(
            {"role": "system", "content": "s"},
            {"role": "user", "content": "read a"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
            *tail,
        ),
    ]


PLAN = SurfacePlan(
    "keep", "unchanged", epoch=1, declared=(), withdrawn=("bash",), restored=("read",), added=("web_search",)
)
NEWS = [News("job_1", "ended with exit code 0 (make)")]
NOTICE = notice_text(PLAN, (), "2026-11-30", [spec("later")], news=NEWS, workspace="/work") or ""
"""Every line that there can be."""


@pytest.mark.parametrize("note", ["", "<reminder>the time is noon</reminder>", NOTICE, CONTINUE, OPENING])
def test_results_belong_to_the_persons_newest_task(note: str) -> None:
    for conversation in both_loops(note):
        assert conversation.task == "read a"
        [[(call, result)]] = conversation.steps
        assert call == CALL
        assert (result.call_id, result.text) == ("c1", "ok")


def test_a_new_message_of_the_person_starts_anew() -> None:
    for conversation in both_loops("now list the files"):
        assert conversation.task == "now list the files"
        assert conversation.steps == ()


def test_parallel_results_are_one_step() -> None:
    def call(name: str) -> dict[str, Any]:
        return {"id": name, "type": "function", "function": {"name": "read", "arguments": "{}"}}

    conversation = chat(
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "", "tool_calls": [call("c1"), call("c2")]},
        {"role": "tool", "tool_call_id": "c2", "content": "second"},
        {"role": "tool", "tool_call_id": "c1", "content": "first"},
    )
    [step] = conversation.steps
    assert [(made.id, result) for made, result in step] == [
        ("c1", Result("c1", "first", None)),
        ("c2", Result("c2", "second", None)),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hi <note>it is noon</note>", "hi"),
        ('<context kind="x">a\nb</context>\nhi', "hi"),
        ("<b>bold</b>", ""),
        (f"hi\n\n{NOTICE}", "hi"),
        (f"{OPENING}\n\nline one\n\nline two", "line one\n\nline two"),
        ("is 1 < 2 and 3 > 2?", "is 1 < 2 and 3 > 2?"),
    ],
)
def test_tagged_passages_are_not_the_persons_words(text: str, said: str) -> None:
    assert spoken(text) == said


TOOL = {"type": "function", "function": {"name": "read", "parameters": {}}}
OTHER = {"type": "function", "function": {"name": "write", "parameters": {}}}
USER = {"role": "user", "content": "x"}


@pytest.mark.parametrize(
    ("choice", "names", "forced"),
    [
        (None, ["read", "write"], None),
        ("none", [], None),
        ("required", ["read", "write"], "*"),
        ({"type": "function", "function": {"name": "read"}}, ["read", "write"], "read"),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [OTHER]}}, ["write"], None),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [OTHER]}}, ["write"], "*"),
    ],
)
def test_tool_choice_narrows_or_forces(choice: Any, names: list[str], forced: str | None) -> None:
    conversation = chat(USER, tools=[TOOL, OTHER], tool_choice=choice)
    assert [tool.name for tool in conversation.tools] == names
    assert conversation.forced == forced


def test_deferred_and_provider_tools_cannot_be_called() -> None:
    tools = [
        {"name": "a", "input_schema": {}},
        {"name": "b", "input_schema": {}, "defer_loading": True},
        {"type": "web_search_20250305", "name": "web_search"},
    ]
    assert [tool.name for tool in anthropic(USER, tools=tools).tools] == ["a"]
    assert anthropic(USER, tools=tools, tool_choice={"type": "none"}).tools == ()


def test_unreadable_arguments_in_the_history_stay_visible() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{oops"}}
    conversation = chat(
        USER,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "error"},
    )
    assert conversation.steps[0][0][0].arguments == {"unreadable": "{oops"}
    assert isinstance(conversation.turns[0], UserTurn)
