"""What the demo model recognises, in English and Chinese."""

import pytest

from openprogram.fakeapi.demo.intents import (
    Count,
    CreateFile,
    EditFile,
    Explore,
    FetchUrl,
    FindText,
    Greet,
    Intent,
    ListFiles,
    Plan,
    ReadFiles,
    RunCommand,
    SearchWeb,
    Showcase,
    Think,
    Unknown,
    UseTool,
)
from openprogram.fakeapi.demo.recognise import SEVERAL, TEST_COMMAND, is_chinese, recognise

CASES: list[tuple[str, Intent]] = [
    ("list the files here", ListFiles()),
    ("What files are in this folder?", ListFiles()),
    ("列出这里的文件", ListFiles()),
    ("目录里有什么？", ListFiles()),
    ("read README.md", ReadFiles(("README.md",))),
    ("Please read the file docs/fake-api.md.", ReadFiles(("docs/fake-api.md",))),
    ("show me pyproject.toml", ReadFiles(("pyproject.toml",))),
    ("read a.txt, b.txt and src/c.py", ReadFiles(("a.txt", "b.txt", "src/c.py"))),
    ("读取 README.md", ReadFiles(("README.md",))),
    ("读一下 a.txt 和 b.txt", ReadFiles(("a.txt", "b.txt"))),
    ("read several files", ReadFiles(SEVERAL)),
    ("读几个文件", ReadFiles(SEVERAL)),
    ("search the web for SQLite WAL mode", SearchWeb("SQLite WAL mode")),
    ("Search the internet about prompt caching.", SearchWeb("prompt caching.")),
    ("上网搜索 SQLite WAL", SearchWeb("SQLite WAL")),
    ("在网上搜一下提示词缓存", SearchWeb("提示词缓存")),
    ("run the tests", RunCommand(TEST_COMMAND)),
    ("运行测试", RunCommand(TEST_COMMAND)),
    ("run `ls -la`", RunCommand("ls -la")),
    ("execute git status", RunCommand("git status")),
    ("运行 `pwd`", RunCommand("pwd")),
    ("create a file hello.txt saying Hi there", CreateFile("hello.txt", "Hi there")),
    ('write a new file called notes/a.md with the content "# Title"', CreateFile("notes/a.md", "# Title")),
    ("创建文件 hello.txt 内容 你好", CreateFile("hello.txt", "你好")),
    ("replace Hi with Hello in hello.txt", EditFile("hello.txt", "Hi", "Hello")),
    ("edit hello.txt: change Hi to Hello", EditFile("hello.txt", "Hi", "Hello")),
    ("把 hello.txt 里的 你好 改成 再见", EditFile("hello.txt", "你好", "再见")),
    ("find TODO in the files", FindText("TODO")),
    ("search the code for def main", FindText("def main")),
    ("在文件中查找 TODO", FindText("TODO")),
    ("fetch https://example.com/a?b=1.", FetchUrl("https://example.com/a?b=1")),
    ("抓取 https://example.com", FetchUrl("https://example.com")),
    ("think hard about caching", Think("caching")),
    ("仔细想想缓存", Think("缓存")),
    ("write a long markdown answer", Showcase()),
    ("写一篇长的 markdown", Showcase()),
    ("make a plan for the release", Plan("the release")),
    ("制定发布计划", Plan("发布")),
    ("count to 20 slowly", Count(20)),
    ("count to 99999", Count(1000)),
    ("数到 5", Count(5)),
    ("explore this project", Explore()),
    ("了解这个项目", Explore()),
    ('call read {"path": "x"}', UseTool("read", {"path": "x"})),
    ('use the tool worktree_create with {"name": "x"}', UseTool("worktree_create", {"name": "x"})),
    ('调用工具 read {"path": "x"}', UseTool("read", {"path": "x"})),
    ("hello", Greet()),
    ("who are you?", Greet()),
    ("你好", Greet()),
    ("What is the meaning of life?", Unknown()),
    ("thanks", Unknown()),
    ("谢谢", Unknown()),
    ("", Unknown()),
]


@pytest.mark.parametrize(("text", "intent"), [pytest.param(*case, id=f"{n}") for n, case in enumerate(CASES)])
def test_a_request_is_recognised(text: str, intent: Intent) -> None:
    assert recognise(text) == intent


@pytest.mark.parametrize(("text", "chinese"), [("你好", True), ("hello", False), ("read 文件.txt", True), ("", False)])
def test_the_language_follows_the_script(text: str, chinese: bool) -> None:
    assert is_chinese(text) is chinese


@pytest.mark.parametrize("newest", ["list the files here", "what is this?", "asdf"])
def test_of_messages_in_a_row_only_the_newest_is_done(newest: str) -> None:
    assert recognise(f"run `rm -r build`\n\n{newest}") == recognise(newest)


def test_a_file_is_created_with_all_of_its_paragraphs() -> None:
    assert recognise("create a file a.txt saying One.\n\nTwo.") == CreateFile("a.txt", "One.\n\nTwo.")
