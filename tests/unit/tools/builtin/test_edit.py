"""`edit`: one exact replacement, or a failure that says what is there instead."""

import pytest

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.edit import edit
from openprogram.tools.builtin.editing import replaced
from tests.support.tool_calls import Caller, display_of, text_of

SOURCE = "def first():\n    return 1\n\n\ndef second():\n    return 2\n"
SAME = " The same text with other indentation or trailing spaces starts at"


@pytest.fixture
def call(tmp_path):
    (tmp_path / "a.py").write_text(SOURCE)
    return Caller(tmp_path)


async def test_a_unique_text_is_replaced_and_the_rest_stays(call):
    output = await call(edit, path="a.py", old="return 2", new="return 3")
    assert (call.workspace / "a.py").read_text() == SOURCE.replace("return 2", "return 3")
    assert text_of(output) == "Changed a.py (+1 -1 lines)."
    display = display_of(output)
    assert (display["path"], display["added"], display["removed"]) == ("a.py", 1, 1)
    assert "-    return 2\n+    return 3\n" in str(display["diff"])


async def test_several_places_are_refused_with_their_lines(call):
    message = await call.fails(edit, path="a.py", old="    return", new="x")
    assert "occurs 2 times (lines 2, 6)" in message
    assert (call.workspace / "a.py").read_text() == SOURCE


async def test_all_places_are_replaced_when_asked(call):
    await call(edit, path="a.py", old="    return", new="    yield", replace_all=True)
    assert (call.workspace / "a.py").read_text() == SOURCE.replace("return", "yield")


async def test_the_preview_shows_what_would_happen_and_does_nothing(call):
    preview = await call.preview(edit, path="a.py", old="return", new="yield", replace_all="true")
    assert preview.kind == "diff"
    assert preview.text.count("\n+") == 3
    assert (call.workspace / "a.py").read_text() == SOURCE
    with pytest.raises(ToolFailure, match="not in the file"):
        await call.preview(edit, path="a.py", old="nothing of it", new="")


@pytest.mark.parametrize(
    ("old", "hint"),
    [
        ("return 1 ", f"{SAME} line 2:\n2\t    return 1"),
        ("def first():\n\treturn 1", f"{SAME} line 1:\n1\tdef first():\n2\t    return 1"),
        ("def seconds():", " Closest lines:\n1\tdef first():\n5\tdef second():"),
    ],
)
def test_what_comes_closest_is_shown(old, hint):
    with pytest.raises(ToolFailure) as caught:
        replaced(SOURCE, old, "x", every=False)
    assert caught.value.message == f"The text to be replaced is not in the file.{hint}"


def test_nothing_close_is_said_plainly():
    with pytest.raises(ToolFailure) as caught:
        replaced(SOURCE, "zzzzzzzzzzzzzzzzz", "x", every=False)
    assert caught.value.message == "The text to be replaced is not in the file."


def test_a_replacement_that_changes_nothing_is_refused():
    with pytest.raises(ToolFailure, match="the same"):
        replaced("a", "a", "a", every=False)
    with pytest.raises(ToolFailure, match="empty"):
        replaced("a", "", "b", every=False)


def test_line_ends_of_the_file_are_kept():
    text = "one\r\ntwo\r\nthree\r\n"
    assert replaced(text, "one\ntwo", "1\n2", every=False) == "1\r\n2\r\nthree\r\n"
    assert replaced(text, "two", "2", every=False) == "one\r\n2\r\nthree\r\n"
    assert replaced(text, "one\r\ntwo", "1", every=False) == "1\r\nthree\r\n"


async def test_what_is_no_text_is_not_edited(call):
    (call.workspace / "latin").write_bytes(b"caf\xe9 x")
    assert "not UTF-8" in await call.fails(edit, path="latin", old="x", new="y")
    assert "does not exist" in await call.fails(edit, path="gone", old="x", new="y")
    assert "outside" in await call.fails(edit, path="../a", old="x", new="y")
