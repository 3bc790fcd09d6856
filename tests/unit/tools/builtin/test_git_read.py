"""`git_read`: history, differences and old versions, without changing anything."""

import os

import pytest

from openprogram.tools.builtin.git_read import git_read
from openprogram.tools.builtin.git_run import BUDGET
from tests.support.git import commit, git, repository
from tests.support.tool_calls import Caller, contents, text_of


@pytest.fixture
def call(tmp_path):
    """Two commits, a tag, then one change that is staged and one that is not."""
    root = repository(tmp_path / "ws", a="one\n", b="x\n")
    git(root, "tag", "-a", "v1", "-m", "Version one")
    (root / "a.txt").write_text("one\ntwo\n")
    commit(root, "Second\n\nWith a body.")
    (root / "b.txt").write_text("staged\n")
    git(root, "add", "b.txt")
    (root / "a.txt").write_text("one\n2\n")
    (root / "new.txt").write_text("new\n")
    return Caller(root)


async def said(call: Caller, command: str, **arguments: str | int | bool) -> str:
    return text_of(await call(git_read, command=command, **arguments))


async def test_status_shows_branch_index_and_files(call):
    assert await said(call, "status") == "## main\n M a.txt\nM  b.txt\n?? new.txt"
    assert await said(call, "status", path="b.txt") == "## main\nM  b.txt"


async def test_the_log_is_one_line_a_commit(call):
    lines = (await said(call, "log")).splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == [
        "2026-01-02 Ada: Second (HEAD -> main)",
        "2026-01-02 Ada: First (tag: v1)",
    ]
    assert len((await said(call, "log", limit=1)).splitlines()) == 1
    assert "First" not in await said(call, "log", revision="v1..main")
    assert "Second" not in await said(call, "log", path="b.txt")


async def test_show_is_a_commit_a_file_or_a_folder(call):
    shown = await said(call, "show", revision="main")
    assert "With a body." in shown
    assert "+two\n" in f"{shown}\n"
    assert "a.txt | 1 +" in shown
    assert await said(call, "show", revision="v1:a.txt") == "one"
    assert "a.txt" in await said(call, "show", revision="HEAD:")
    assert "Version one" in await said(call, "show", revision="v1")


async def test_diff_compares_files_index_and_commits(call):
    assert "-two\n+2" in await said(call, "diff")
    assert "b.txt" not in await said(call, "diff")
    assert "+staged" in await said(call, "diff", staged=True)
    assert "+two" in await said(call, "diff", revision="v1..HEAD")
    assert "+2" in await said(call, "diff", revision="v1", path="a.txt")
    assert await said(call, "diff", revision="main...main") == "No differences."


async def test_blame_names_the_commit_of_each_line(call):
    lines = (await said(call, "blame", path="a.txt", revision="HEAD")).splitlines()
    assert [("Ada" in line, line.endswith(text)) for line, text in zip(lines, ("one", "two"), strict=True)] == [
        (True, True),
        (True, True),
    ]
    assert (await said(call, "blame", path="a.txt", revision="HEAD", offset=2)).endswith("two")
    assert "needs the path" in await call.fails(git_read, command="blame")


async def test_branches_and_tags(call):
    git(call.workspace, "branch", "side", "v1")
    assert {line.split()[0] for line in (await said(call, "branches")).splitlines()} == {"main", "side", "v1"}


async def test_what_is_long_is_cut_and_goes_on_where_it_was_cut(call):
    (call.workspace / "big.txt").write_text("".join(f"line {n}\n" for n in range(10_000)))
    commit(call.workspace, "Big")
    lines: list[str] = []
    while True:
        text = await said(call, "show", revision="HEAD:big.txt", offset=len(lines) + 1)
        body, _, note = text.partition("\n[cut here; go on with offset ")
        assert len(body) <= BUDGET
        lines += body.splitlines()
        if not note:
            break
        assert note.startswith(f"{len(lines) + 1},")
    assert lines == [f"line {n}" for n in range(10_000)]
    assert await said(call, "show", revision="HEAD:big.txt", offset=20_000) == "Nothing from line 20000 on."


async def test_a_binary_file_is_not_shown(call):
    (call.workspace / "bin.txt").write_bytes(b"\0\1")
    commit(call.workspace, "Binary")
    assert "binary file" in await call.fails(git_read, command="show", revision="HEAD:bin.txt")


@pytest.mark.parametrize(
    "revision",
    [
        "--output=pwned",
        "-O/tmp/x",
        "--ext-diff",
        "--no-index",
        "--exec=touch pwned",
        "nonsense",
        "HEAD\npwned",
        "",
        "/etc/passwd",
        "../outside.txt",
        "HEAD --output=pwned",
        "HEAD..--output=pwned",
        ":(exclude)a",
        "x" * 400,
    ],
)
@pytest.mark.parametrize("command", ["log", "show", "diff", "blame"])
async def test_a_revision_is_never_an_option_or_a_file(call, command, revision):
    (call.workspace.parent / "outside.txt").write_text("secret")
    before = contents(call.workspace)
    if revision == "" and command in ("log", "show"):
        return  # the same as HEAD
    message = await call.fails(git_read, command=command, revision=revision, path="a.txt")
    assert "no revision" in message or "There is no" in message
    assert contents(call.workspace) == before


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/passwd", "link/passwd"])
@pytest.mark.parametrize("command", ["log", "show", "diff", "blame", "status"])
async def test_a_path_outside_is_refused(call, command, path):  # R15
    (call.workspace / "link").symlink_to("/etc")
    assert "outside of what may be used" in await call.fails(git_read, command=command, path=path)


async def test_names_that_look_like_options_or_patterns_are_names(call):
    for name in ("--output=x", "*.txt", ":(top)a"):
        (call.workspace / name).write_text("odd\n")
    commit(call.workspace, "Odd names")
    for name in ("--output=x", "*.txt", ":(top)a"):
        assert "Odd names" in await said(call, "log", path=name)
        assert "Second" not in await said(call, "log", path=name)
        assert "odd" in await said(call, "blame", path=name)
    assert not (call.workspace / "x").exists()


async def test_looking_writes_nothing_into_the_repository(call):
    before = contents(call.workspace)
    os.utime(call.workspace / "a.txt", (0, 0))  # git would refresh its index now
    for command in ("status", "log", "show", "diff", "branches"):
        await call(git_read, command=command)
    assert contents(call.workspace) == before


async def test_a_folder_of_the_workspace_may_be_the_repository(tmp_path):
    repository(tmp_path / "ws" / "lib", a="lib\n")
    call = Caller(tmp_path / "ws")
    assert "in no git repository" in await call.fails(git_read, command="status")
    assert await said(call, "show", revision="HEAD:a.txt", folder="lib") == "lib"
    (tmp_path / "ws" / "other.txt").write_text("x")
    message = await call.fails(git_read, command="log", folder="lib", path="other.txt")
    assert "is not in the repository" in message


async def test_an_empty_repository_says_so(tmp_path):
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    call = Caller(tmp_path)
    assert "There is no commit 'HEAD'" in await call.fails(git_read, command="log")
    assert await said(call, "status") == "## No commits yet on main"
    assert "offset starts at 1" in await call.fails(git_read, command="log", limit=0)
