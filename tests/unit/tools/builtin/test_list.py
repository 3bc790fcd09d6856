"""`list`: what a folder holds."""

import os

import pytest

from openprogram.tools.builtin.listing import list_folder
from tests.support.tool_calls import Caller, display_of, text_of


@pytest.fixture
def call(tmp_path):
    return Caller(tmp_path)


async def test_folders_first_then_files_by_name_with_sizes(call):
    (call.workspace / "b.txt").write_text("12345")
    (call.workspace / "a.txt").touch()
    (call.workspace / ".hidden").write_text("x")
    (call.workspace / "z").mkdir()
    (call.workspace / "link").symlink_to("/etc/passwd")
    os.mkfifo(call.workspace / "pipe")
    output = await call(list_folder)
    assert text_of(output).split("\n") == [
        "z/",
        ".hidden 1",
        "a.txt 0",
        "b.txt 5",
        "link -> /etc/passwd",
        "pipe (not a regular file)",
    ]
    assert display_of(output) == {"path": ".", "entries": 6}


async def test_a_long_folder_is_cut(call):
    for number in range(600):
        (call.workspace / f"{number:03}").touch()
    lines = text_of(await call(list_folder)).split("\n")
    assert (len(lines), lines[-2], lines[-1]) == (501, "499 0", "[500 of 600 entries]")


async def test_empty_missing_and_no_folder(call):
    (call.workspace / "empty").mkdir()
    (call.workspace / "file").touch()
    assert text_of(await call(list_folder, path="empty")) == "empty is empty."
    assert "does not exist" in await call.fails(list_folder, path="gone")
    assert "not a directory" in await call.fails(list_folder, path="file")
    assert "outside" in await call.fails(list_folder, path="..")


async def test_a_link_to_a_folder_inside_is_followed(call):
    (call.workspace / "real").mkdir()
    (call.workspace / "real" / "f").touch()
    (call.workspace / "link").symlink_to("real")
    assert text_of(await call(list_folder, path="link")) == "f 0"
