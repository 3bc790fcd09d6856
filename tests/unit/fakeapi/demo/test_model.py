"""The demo model: it says what it is, really calls tools, and reports what they returned."""

from typing import Any

import orjson
import pytest

from openprogram.core.compaction import SUMMARISE
from openprogram.fakeapi.answer import Answer, TextBlock, ThinkingBlock, ToolUseBlock, joined
from openprogram.fakeapi.conversation import (
    AssistantTurn,
    Call,
    Conversation,
    Result,
    ResultsTurn,
    ThinkingMode,
    ToolDecl,
    UserTurn,
)
from openprogram.fakeapi.demo.model import demo_answer
from openprogram.fakeapi.demo.recognise import SEVERAL, TEST_COMMAND
from openprogram.fakeapi.demo.showcase import SHOWCASE


def declared(name: str, *parameters: str, required: tuple[str, ...] = ()) -> ToolDecl:
    properties = {parameter: {"type": "string"} for parameter in parameters}
    return ToolDecl(name, {"type": "object", "properties": properties, "required": list(required)})


TOOLS = (
    declared("list", "path"),
    declared("read", "path", "offset", "limit", required=("path",)),
    declared("write", "path", "content"),
    declared("edit", "path", "old", "new"),
    declared("grep", "pattern", "path", "glob"),
    declared("bash", "command", "background", "timeout", required=("command",)),
    declared("web_search", "query", "count"),
    declared("web_fetch", "url"),
)


def conversation(
    text: str,
    *turns: Any,
    tools: tuple[ToolDecl, ...] = TOOLS,
    thinking: ThinkingMode = "off",
    forced: str | None = None,
) -> Conversation:
    return Conversation((UserTurn(text), *turns), tools, forced, thinking)


def answer(text: str, *turns: Any, **more: Any) -> Answer:
    return demo_answer(conversation(text, *turns, **more), pace=0)


def said(reply: Answer) -> str:
    return "".join(joined(block.chunks) for block in reply.blocks if isinstance(block, TextBlock))


def calls(reply: Answer) -> list[tuple[str, dict[str, Any]]]:
    found = [block for block in reply.blocks if isinstance(block, ToolUseBlock)]
    return [(block.name, orjson.loads(joined(block.chunks))) for block in found]


def step(*pairs: tuple[str, dict[str, Any], str], is_error: bool | None = False) -> tuple[AssistantTurn, ResultsTurn]:
    """A step in the history: tool, arguments, result."""
    made = tuple(Call(f"c{n}", name, arguments) for n, (name, arguments, _) in enumerate(pairs))
    results = tuple(Result(f"c{n}", text, is_error) for n, (_, _, text) in enumerate(pairs))
    return AssistantTurn("", made), ResultsTurn(results)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("list the files here", [("list", {})]),
        ("read README.md", [("read", {"path": "README.md"})]),
        ("read several files", [("read", {"path": path}) for path in SEVERAL]),
        ("search the web for tides", [("web_search", {"query": "tides"})]),
        ("run the tests", [("bash", {"command": TEST_COMMAND})]),
        ("create a file hello.txt saying Hi", [("write", {"path": "hello.txt", "content": "Hi"})]),
        ("replace Hi with Yo in hello.txt", [("edit", {"path": "hello.txt", "old": "Hi", "new": "Yo"})]),
        ("find TODO in the files", [("grep", {"pattern": "TODO"})]),
        ("fetch https://example.com", [("web_fetch", {"url": "https://example.com"})]),
        ('call grep {"pattern": "x"}', [("grep", {"pattern": "x"})]),
        ("explore this project", [("list", {})]),
    ],
)
def test_a_request_becomes_real_calls(text: str, expected: list[tuple[str, dict[str, Any]]]) -> None:
    reply = answer(text)
    assert calls(reply) == expected
    assert reply.stop == "tool_use"


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ((declared("glob", "pattern"),), ("glob", {"pattern": "*"})),
        ((declared("bash", "command"),), ("bash", {"command": "ls -la"})),
    ],
)
def test_files_are_listed_with_what_there_is(tools: tuple[ToolDecl, ...], expected: tuple[str, Any]) -> None:
    assert calls(answer("list the files", tools=tools)) == [expected]


def test_arguments_take_the_names_of_the_declared_schema() -> None:
    tool = ToolDecl(
        "edit_file",
        {
            "properties": {
                "file_path": {"type": "string"},
                "old_string": {"type": "string"},
                "new_string": {"type": "string"},
                "mode": {"type": "string", "enum": ["first", "all"]},
                "times": {"type": "integer", "default": 1},
            },
            "required": ["file_path", "old_string", "new_string", "mode", "times"],
        },
    )
    [(name, arguments)] = calls(answer("replace a with b in x.txt", tools=(tool,)))
    assert name == "edit_file"
    assert arguments == {"file_path": "x.txt", "old_string": "a", "new_string": "b", "mode": "first", "times": 1}


def test_without_the_search_tool_it_says_that_the_chip_is_off() -> None:
    reply = answer("search the web for tides", tools=())
    assert calls(reply) == []
    assert "Web search is off" in said(reply)
    assert "web-search chip" in said(reply)


def test_without_a_needed_tool_it_names_the_tool() -> None:
    assert "`bash`" in said(answer("run `ls`", tools=()))


@pytest.mark.parametrize("text", ["hello", "what is 17 times 3?"])
def test_it_says_what_it_is(text: str) -> None:
    assert "built-in demo model: scripted, no intelligence" in said(answer(text))


def test_it_answers_chinese_in_chinese() -> None:
    assert "演示模型" in said(answer("你好"))
    assert "联网搜索没有打开" in said(answer("上网搜索 潮汐", tools=()))


def test_it_reports_the_real_result() -> None:
    reply = answer("list the files here", *step(("list", {}, "a.txt\nb.txt")))
    assert calls(reply) == []
    assert "`list`" in said(reply)
    assert "returned 2 lines" in said(reply)
    assert "a.txt\nb.txt" in said(reply)


def test_it_reports_each_of_several_results() -> None:
    results = step(("read", {"path": "a"}, "alpha"), ("read", {"path": "b"}, "beta"))
    text = said(answer("read a.txt, b.txt", *results))
    assert "alpha" in text
    assert "beta" in text


@pytest.mark.parametrize(
    ("note", "flag", "words"),
    [
        ("The user denied this: not on my machine", True, "was not allowed"),
        ("The user did not allow this call and says: not on my machine", None, "was not allowed"),
        ("The user has switched bash off. not on my machine", None, "was not allowed"),
        ("Error: denied by the user. Note: not on my machine", None, "was not allowed"),
        ("Error: exit code 2, not on my machine", None, "failed"),
        ("no such file, not on my machine", True, "failed"),
    ],
)
def test_errors_and_denials_are_told_with_their_note(note: str, flag: bool | None, words: str) -> None:
    text = said(answer("run `rm x`", *step(("bash", {"command": "rm x"}, note), is_error=flag)))
    assert words in text
    assert "not on my machine" in text


def test_a_long_result_is_shortened_and_a_fence_in_it_stays_inside() -> None:
    result = "```\ncode\n```\n" + "\n".join(f"line {n}" for n in range(500))
    text = said(answer("read README.md", *step(("read", {"path": "README.md"}, result))))
    assert "````text" in text
    assert "line 499" not in text


def test_of_a_commands_output_the_end_is_shown() -> None:
    output = "\n".join(f"line {n}" for n in range(500))
    text = said(answer("run the tests", *step(("bash", {"command": "x"}, output))))
    assert "line 499" in text
    assert "line 3\n" not in text


def test_exploring_takes_two_steps() -> None:
    first = step(("list", {}, "README.md\nsrc"))
    assert calls(answer("explore this project", *first)) == [("read", {"path": "README.md"})]
    second = step(("read", {"path": "README.md"}, "# Title"))
    reply = answer("explore this project", *first, *second)
    assert calls(reply) == []
    assert "# Title" in said(reply)


def test_a_tool_that_is_not_loaded_is_discovered_first() -> None:
    search = declared("tool_search", "query")
    text = 'call worktree_create {"name": "x"}'
    assert calls(answer(text, tools=(search,))) == [("tool_search", {"query": "select:worktree_create"})]
    found = step(("tool_search", {"query": "select:worktree_create"}, "loaded"))
    reply = answer(text, *found, tools=(search, declared("worktree_create", "name")))
    assert calls(reply) == [("worktree_create", {"name": "x"})]
    assert "does not offer" in said(answer(text, *found, tools=(search,)))


@pytest.mark.parametrize(("forced", "name"), [("*", "list"), ("bash", "bash")])
def test_a_forced_tool_is_called(forced: str, name: str) -> None:
    [(called, arguments)] = calls(answer("hello", forced=forced))
    assert called == name
    assert arguments == ({"command": ""} if name == "bash" else {})


def test_thinking_follows_the_request() -> None:
    def thoughts(text: str, thinking: ThinkingMode) -> list[int]:
        blocks = answer(text, thinking=thinking).blocks
        return [len(joined(block.chunks)) for block in blocks if isinstance(block, ThinkingBlock)]

    assert thoughts("hello", "off") == thoughts("hello", "free") == []
    [short] = thoughts("hello", "always")
    [long] = thoughts("think hard about tides", "free")
    assert long > 3 * short
    assert "Thinking is switched off" in said(answer("think hard about tides"))


def test_the_long_answer_has_all_that_the_interface_must_show() -> None:
    text = said(answer("write a long markdown answer"))
    assert text == SHOWCASE
    for part in ("# ", "|:---|", "   - ", "```python", "```typescript", "```sql", "$$", "](https://", "> ", "- [x]"):
        assert part in text
    assert len(text.splitlines()) > 200


def test_counting_is_slow_whatever_the_pace() -> None:
    reply = demo_answer(conversation("count to 12"), pace=60)
    assert said(reply).split() == [str(n) for n in range(1, 13)]
    assert reply.rate == 4
    assert demo_answer(conversation("count to 12"), pace=0).rate == 0
    assert demo_answer(conversation("hello"), pace=60).rate == 60


@pytest.mark.parametrize(
    ("said", "told"), [("list the files here", "Results of tools: 1."), ("列出文件", "工具结果数：1。")]
)
def test_asked_for_a_summary_it_counts_and_calls_nothing(said: str, told: str) -> None:
    results = ResultsTurn((Result("c_1", "a.txt", is_error=None),))
    turns = (UserTurn("hello"), AssistantTurn("", (Call("c_1", "list", {}),)), results)
    answer = demo_answer(Conversation((*turns, UserTurn(f"{said}\n\n{SUMMARISE}")), TOOLS, None, "off"), 0)
    (block,) = answer.blocks
    assert isinstance(block, TextBlock)
    text = joined(block.chunks)
    assert said in text
    assert told in text
