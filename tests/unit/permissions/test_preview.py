import pytest

from openprogram.core.tooling import CallPreview
from openprogram.permissions.preview import default_preview, unified_diff
from tests.support.tools import BASH, READ


def test_a_command_is_shown_exactly() -> None:
    assert default_preview(BASH, {"command": "echo  'a'\nrm x"}) == CallPreview("command", "echo  'a'\nrm x")


def test_whatever_comes_with_a_command_is_shown_too() -> None:
    shown = default_preview(BASH, {"command": "ls", "cwd": "/é"})

    assert shown == CallPreview("call", '{\n  "command": "ls",\n  "cwd": "/é"\n}')


def test_any_other_call_is_shown_by_its_arguments() -> None:
    assert default_preview(READ, {"command": "ls"}).kind == "call"


def test_a_change_is_a_unified_diff() -> None:
    assert unified_diff("a.py", "one\ntwo\nthree\n", "one\n2\nthree\n") == (
        "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    )


def test_a_new_file_comes_from_nothing() -> None:
    assert unified_diff("a", None, "x\n") == "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"


def test_a_missing_last_line_end_is_said() -> None:
    assert unified_diff("a", "x", "x\n") == ("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n")


@pytest.mark.parametrize(
    ("changed", "lines"),
    [("a\r\nb\n", "-a\n+a\r\n b\n"), ("a\x0cb\n", "-a\n-b\n+a\x0cb\n"), ("a\u2028b\n", "-a\n-b\n+a\u2028b\n")],
)
def test_only_line_feeds_end_lines(changed: str, lines: str) -> None:
    assert unified_diff("a", "a\nb\n", changed).partition("@@\n")[2] == lines


def test_no_change_is_no_diff() -> None:
    assert unified_diff("a", "x\n", "x\n") == ""
    assert unified_diff("a", "", "") == ""
