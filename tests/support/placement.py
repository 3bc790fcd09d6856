"""The placement and pairing rules of Messages requests that hold changes of the tools (cache.md C7), as a check.

Written from the documented rules and not from the adapter; the strict fake API knows more of them.
"""

from typing import Any

MOST_MARKS = 4


def assert_placed(body: dict[str, Any]) -> None:
    """Raise `AssertionError` where the API would refuse this body."""
    tools, messages = body.get("tools", []), body["messages"]
    plain = {tool["name"] for tool in tools if not tool.get("defer_loading")}
    deferred = {tool["name"] for tool in tools if tool.get("defer_loading")}
    assert len(plain) + len(deferred) == len(tools), "a name is declared twice"
    assert plain or not deferred, "all tools have defer_loading set"
    assert not any("cache_control" in tool for tool in tools if tool.get("defer_loading"))
    assert str(body).count("'cache_control'") <= MOST_MARKS
    assert messages[0]["role"] == "user"
    known = plain | deferred
    for number, message in enumerate(messages):
        before = messages[number - 1]["role"] if number else None
        after = messages[number + 1]["role"] if number + 1 < len(messages) else None
        match message["role"]:
            case "system":
                assert before == "user", "a system message follows a user turn"
                assert after in (None, "assistant"), "a system message is last or followed by an answer"
                known |= _changed(message["content"], known)
            case "user":
                assert before in (None, "assistant")
                _assert_found(message["content"], deferred)
            case role:
                assert (role, after) in (("assistant", "user"), ("assistant", None))
        _assert_paired(messages, number)


def _changed(content: list[dict[str, Any]], known: set[str]) -> set[str]:
    defined: set[str] = set()
    assert content, "a message has content"
    for block in content:
        if block["type"] == "text":
            assert block["text"].strip()
            continue
        assert block["type"] in ("tool_addition", "tool_removal")
        tool = block["tool"]
        if tool["type"] == "tool_definition":
            assert block["type"] == "tool_addition"
            defined.add(tool["definition"]["name"])
        else:
            assert tool["name"] in known, f"unresolved reference to {tool['name']}"
    return defined


def _assert_found(content: list[dict[str, Any]], deferred: set[str]) -> None:
    for block in content:
        for part in block.get("content", []) if block["type"] == "tool_result" else []:
            if part["type"] == "tool_reference":
                assert part["tool_name"] in deferred, f"tool reference {part['tool_name']} has no definition"


def _assert_paired(messages: list[dict[str, Any]], number: int) -> None:
    calls = [block["id"] for block in messages[number]["content"] if block["type"] == "tool_use"]
    if calls:
        results = [block["tool_use_id"] for block in messages[number + 1]["content"] if block["type"] == "tool_result"]
        assert results[: len(calls)] == calls
