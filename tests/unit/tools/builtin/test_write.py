"""`write`: the whole content of a file, with a difference for people."""

import pytest

from openprogram.tools.builtin.files import MAX_EDITED
from openprogram.tools.builtin.write import write
from tests.support.tool_calls import Caller, display_of, text_of


@pytest.fixture
def call(tmp_path):
    return Caller(tmp_path)


async def test_a_new_file_is_made_with_its_folders(call):
    output = await call(write, path="a/b/c.txt", content="one\ntwo\n")
    assert (call.workspace / "a/b/c.txt").read_text() == "one\ntwo\n"
    assert text_of(output) == "Created a/b/c.txt (+2 -0 lines)."
    assert display_of(output) == {
        "path": "a/b/c.txt",
        "diff": "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
        "added": 2,
        "removed": 0,
    }


async def test_a_replaced_file_shows_what_changed(call):
    (call.workspace / "f").write_text("one\ntwo\nthree\n")
    output = await call(write, path="f", content="one\n2\nthree\n")
    assert text_of(output) == "Replaced f (+1 -1 lines)."
    assert "-two\n+2\n" in str(display_of(output)["diff"])


async def test_what_is_written_is_what_was_given_to_the_byte(call):
    content = "\ufeffa\r\nb\rc\n\n  é 中 😀"
    await call(write, path="f", content=content)
    assert (call.workspace / "f").read_bytes() == content.encode()


async def test_half_a_character_becomes_a_mark(call):
    await call(write, path="f", content="a\ud800b")
    assert (call.workspace / "f").read_text() == "a\ufffdb"


async def test_the_preview_is_the_difference_and_writes_nothing(call):
    (call.workspace / "f").write_text("old\n")
    preview = await call.preview(write, path="f", content="new\n")
    assert (preview.kind, preview.text) == ("diff", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n")
    assert (call.workspace / "f").read_text() == "old\n"
    fresh = await call.preview(write, path="x/y", content="new\n")
    assert fresh.text.startswith("--- /dev/null\n")
    assert not (call.workspace / "x").exists()


async def test_a_preview_without_change_says_so(call):
    (call.workspace / "f").write_text("same\n")
    assert (await call.preview(write, path="f", content="same\n")).text == "f stays as it is."


async def test_a_binary_file_can_be_replaced(call):
    (call.workspace / "f").write_bytes(b"\xff\0\xfe")
    await call(write, path="f", content="text\n")
    assert (call.workspace / "f").read_text() == "text\n"


async def test_refusals_write_nothing(call, tmp_path):
    (tmp_path / "folder").mkdir()
    assert "outside" in await call.fails(write, path="../x", content="")
    assert "is a directory" in await call.fails(write, path="folder", content="")
    assert "is a directory" in await call.fails(write, path=".", content="")
    assert "larger than" in await call.fails(write, path="big", content="x" * (MAX_EDITED + 1))
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


async def test_only_the_workspace_and_extra_directories_are_written(tmp_path):
    (tmp_path / "ws").mkdir()
    (tmp_path / "more").mkdir()
    call = Caller(tmp_path / "ws", (tmp_path / "more",))
    await call(write, path=str(tmp_path / "more" / "f"), content="x")
    assert (tmp_path / "more" / "f").read_text() == "x"
    assert "outside" in await call.fails(write, path=str(tmp_path / "f"), content="x")
