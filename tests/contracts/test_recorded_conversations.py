"""Every test's conversations at the fake API are checked for a prefix that moves (end of spec cache.md C22)."""

from typing import Any

import pytest

from tests.support.extension import broken
from tests.support.fake import FakeApi, ask, fake_api

TOOLS = [{"name": "bash", "input_schema": {"type": "object"}}, {"name": "read", "input_schema": {"type": "object"}}]
MARK = {"cache_control": {"type": "ephemeral"}}


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text, **more}]}


ASKED = said("What is here?")
ANSWER = {"role": "assistant", "content": [{"type": "text", "text": "Two files."}]}


def record(number: int, *messages: dict[str, Any], status: int = 200, **body: Any) -> dict[str, Any]:
    """A request as the fake API shows it."""
    full = {"model": "demo", "system": [{"type": "text", "text": "Be brief."}], "tools": TOOLS, "messages": messages}
    return {"number": number, "api": "anthropic", "status": status, "cache": {}, "body": full | body}


FIRST = record(1, ASKED)
NEXT = (ASKED, ANSWER, said("And now?"))


def test_what_only_grows_at_its_end_extends() -> None:
    grown = record(2, *NEXT, tools=[*TOOLS, {"name": "weather"}])
    assert broken([FIRST, grown, record(3, *NEXT, ANSWER, said("So?"), tools=[*TOOLS, {"name": "weather"}])]) == []


def test_marks_and_deferred_tools_are_no_part_of_the_prompt() -> None:
    deferred = {"name": "notes", "defer_loading": True}
    before = record(1, said("What is here?", **MARK), tools=[TOOLS[0], TOOLS[1] | MARK])
    assert broken([before, record(2, *NEXT, tools=[deferred, *TOOLS])]) == []


@pytest.mark.parametrize(
    ("moved", "place"),
    [
        (record(2, *NEXT, tools=TOOLS[:1]), "tools[1]"),
        (record(2, *NEXT, tools=TOOLS[::-1]), "tools[0]"),
        (record(2, *NEXT, system=[{"type": "text", "text": "Be brief. It is noon."}]), "system[0]"),
    ],
    ids=["a tool is gone", "another order", "another system prompt"],
)
def test_the_place_of_the_first_difference_is_told(moved: dict[str, Any], place: str) -> None:
    [told] = broken([FIRST, moved])
    assert told.startswith(f"request 2 does not extend request 1: {place}, character ")


def test_a_history_that_was_rewritten_is_told() -> None:
    last = record(3, ASKED, {"role": "assistant", "content": "Two  files."}, said("And now?"), ANSWER, said("So?"))
    [told] = broken([FIRST, record(2, *NEXT), last])
    assert "request 3 does not extend request 2: messages[1].content[0]" in told


def test_chats_beside_each_other_and_requests_that_were_refused_are_no_break() -> None:
    other = (said("hello"), ANSWER, said("And?"))
    refused = record(4, *NEXT, tools=TOOLS[:1], status=400) | {"cache": None}
    records = [FIRST, record(2, said("hello")), record(3, *other), refused, record(5, *NEXT), record(6, ASKED)]
    assert broken(records) == []


def test_where_a_key_tells_the_chat_its_first_turn_is_compared_too() -> None:
    def keyed(number: int, *items: dict[str, Any], **body: Any) -> dict[str, Any]:
        full = {"model": "demo", "input": list(items), "prompt_cache_key": "s_1", **body}
        return {"number": number, "api": "responses", "status": 200, "cache": {}, "body": full}

    asked, more = {"role": "user", "content": "hi"}, {"role": "developer", "content": "Off: bash."}
    assert broken([keyed(1, asked), keyed(2, asked, more)]) == []
    [told] = broken([keyed(1, asked, more), keyed(2, asked)])
    assert "messages[1]" in told


@pytest.mark.parametrize("moves", ["", "it means to"])
async def test_a_test_whose_requests_move_fails_unless_it_says_why(moves: str) -> None:
    async def two_turns(fake: FakeApi) -> None:
        async with ask(fake, "chat", text="hi", stream=False) as response:
            said = (await response.json())["choices"][0]["message"]
        for text in ("hi", "hello"):
            messages = [{"role": "user", "content": text}, said, {"role": "user", "content": "more"}]
            async with fake.http.post("/v1/chat/completions", json={"model": "demo", "messages": messages}) as answer:
                assert answer.status == 401  # without a key nothing is sent, and nothing is compared
        changed = {"role": "assistant", "content": "something else"}
        for reply in (said, changed):
            body = {
                "model": "demo",
                "messages": [{"role": "user", "content": "hi"}, reply, {"role": "user", "content": "so"}],
            }
            headers = {"authorization": "Bearer test"}
            async with fake.http.post("/v1/chat/completions", json=body, headers=headers) as answer:
                assert answer.status == 200

    async def tested() -> None:
        async with fake_api(moves=moves) as fake:
            await two_turns(fake)

    if moves:
        await tested()
        return
    with pytest.raises(AssertionError, match=r"request 5 does not extend request 4: messages\[1\]"):
        await tested()
