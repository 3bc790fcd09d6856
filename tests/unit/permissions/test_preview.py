from openprogram.core.tooling import CallPreview
from openprogram.permissions.preview import default_preview
from tests.support.tools import BASH, READ


def test_a_command_is_shown_exactly() -> None:
    assert default_preview(BASH, {"command": "echo  'a'\nrm x"}) == CallPreview("command", "echo  'a'\nrm x")


def test_whatever_comes_with_a_command_is_shown_too() -> None:
    shown = default_preview(BASH, {"command": "ls", "cwd": "/é"})

    assert shown == CallPreview("call", '{\n  "command": "ls",\n  "cwd": "/é"\n}')


def test_any_other_call_is_shown_by_its_arguments() -> None:
    assert default_preview(READ, {"command": "ls"}).kind == "call"
