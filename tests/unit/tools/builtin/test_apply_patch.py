"""`apply_patch`: several files changed by one patch, all of it or nothing."""

import os
import stat

import pytest

from openprogram.core.storage import Grant
from openprogram.permissions.decide import decide
from openprogram.tools.builtin.apply_patch import MAX_FILES, apply_patch_tool
from tests.support.tool_calls import Caller, contents, display_of, text_of

apply_patch = apply_patch_tool(None)

GREET = "def greet():\n    return 'hi'\n\n\ndef leave():\n    return 'bye'\n"


@pytest.fixture
def call(tmp_path):
    (tmp_path / "app.py").write_text(GREET)
    (tmp_path / "old.txt").write_text("one\ntwo\n")
    return Caller(tmp_path)


def marked(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


EVERYTHING = marked(
    "*** Update File: app.py",
    "@@ def greet():",
    "-    return 'hi'",
    "+    return 'hello'",
    "*** Add File: new/deep/file.txt",
    "+first",
    "+",
    "+third",
    "*** Update File: old.txt",
    "*** Move to: moved.txt",
    "@@",
    " one",
    "-two",
    "+2",
    "*** Delete File: gone.txt",
)


async def test_one_patch_changes_adds_moves_and_deletes(call):
    (call.workspace / "gone.txt").write_text("x\n")
    output = await call(apply_patch, patch=EVERYTHING)
    assert {name: content for name, content in contents(call.workspace).items() if content != "folder"} == {
        "app.py": (GREET.replace("hi", "hello").encode(), (call.workspace / "app.py").stat().st_mode),
        "new/deep/file.txt": (b"first\n\nthird\n", (call.workspace / "new/deep/file.txt").stat().st_mode),
        "moved.txt": (b"one\n2\n", (call.workspace / "moved.txt").stat().st_mode),
    }
    assert text_of(output).splitlines() == [
        "Changed app.py (+1 -1 lines).",
        "Added new/deep/file.txt (+3 -0 lines).",
        "Moved old.txt to moved.txt (+1 -1 lines).",
        "Deleted gone.txt (+0 -1 lines).",
    ]
    display = display_of(output)
    assert (display["path"], display["added"], display["removed"]) == ("4 files", 5, 3)
    assert "--- a/old.txt\n+++ b/moved.txt\n" in str(display["diff"])
    assert "--- a/gone.txt\n+++ /dev/null\n" in str(display["diff"])


async def test_one_section_that_does_not_fit_leaves_every_file_alone(call):
    before = contents(call.workspace)
    message = await call.fails(apply_patch, patch=EVERYTHING)  # gone.txt is not there
    assert message == "gone.txt does not exist. Nothing was changed."
    assert contents(call.workspace) == before


async def test_the_preview_is_the_diff_and_does_nothing(call):
    (call.workspace / "gone.txt").write_text("x\n")
    before = contents(call.workspace)
    preview = await call.preview(apply_patch, patch=EVERYTHING)
    assert contents(call.workspace) == before
    assert preview.kind == "diff"
    assert preview.text == display_of(await call(apply_patch, patch=EVERYTHING))["diff"]


async def test_a_preview_that_is_cut_tells_how_much_and_is_of_all_of_it(call):
    def adding(last: str) -> str:
        files = [line for n in range(40) for line in (f"*** Add File: f{n}", *(f"+{n} {i:090}" for i in range(60)))]
        return marked(*files, "*** Add File: last", f"+{last}")

    one, other = [await call.preview(apply_patch, patch=adding(last)) for last in "ab"]
    assert len(one.text) <= 100_000
    assert one.text == other.text
    assert one.left_out == 41 * 3 + 40 * 60 + 1 - one.text.count("\n")
    assert one.digest != other.digest


async def test_a_hunk_that_does_not_match_is_named_with_what_is_there(call):
    patch = marked(
        "*** Update File: app.py",
        "@@ def greet():",
        "-    return 'hi'",
        "+    return 'hey'",
        "@@ def leave():",
        "-    return 'good bye'",
        "+    return 'ciao'",
    )
    assert await call.fails(apply_patch, patch=patch) == (
        "Hunk 2 of 2 for app.py (line 6 of the patch) does not match the file. Nothing was changed. Closest lines:\n"
        "2\t    return 'hi'\n6\t    return 'bye'"
    )
    patch = marked("*** Update File: app.py", " def leave():", "-    return 'bye!'", "+    return 'ciao'")
    assert await call.fails(apply_patch, patch=patch) == (
        "Hunk 1 of 1 for app.py (line 3 of the patch) does not match the file. Nothing was changed. Closest is line 5, "
        "but line 6 is\n    return 'bye'\nwhere the hunk has\n    return 'bye!'"
    )


async def test_a_hunk_with_several_places_is_refused_and_its_head_decides(call):
    (call.workspace / "twice.py").write_text("class A:\n    x = 1\nclass B:\n    x = 1\n")
    change = ("-    x = 1", "+    x = 2")
    message = await call.fails(apply_patch, patch=marked("*** Update File: twice.py", *change))
    assert "fits 2 places (lines 2, 4)" in message
    await call(apply_patch, patch=marked("*** Update File: twice.py", "@@ class B:", *change))
    assert (call.workspace / "twice.py").read_text() == "class A:\n    x = 1\nclass B:\n    x = 2\n"


async def test_heads_lead_to_each_other(call):
    text = "class A:\n    def run(self):\n        pass\nclass B:\n    def run(self):\n        pass\n"
    (call.workspace / "two.py").write_text(text)
    hunk = ("@@     def run(self):", "-        pass", "+        return 1")
    assert "fits 2 places" in await call.fails(apply_patch, patch=marked("*** Update File: two.py", *hunk))
    await call(apply_patch, patch=marked("*** Update File: two.py", "@@ class B:", *hunk))
    assert (call.workspace / "two.py").read_text() == text[::-1].replace("ssap", "1 nruter", 1)[::-1]
    message = await call.fails(apply_patch, patch=marked("*** Update File: two.py", "@@ class C:", *hunk))
    assert "no line of the file is `class C:`" in message


async def test_hunks_out_of_order_are_refused(call):
    patch = marked(
        "*** Update File: app.py",
        "-    return 'bye'",
        "+    return 'ciao'",
        "@@",
        "-    return 'hi'",
        "+    return 'hey'",
    )
    assert "stands at line 2" in await call.fails(apply_patch, patch=patch)


async def test_lines_that_are_only_added_need_a_place(call):
    bare = marked("*** Update File: app.py", "@@", "+import os")
    assert "only adds lines" in await call.fails(apply_patch, patch=bare)
    await call(apply_patch, patch=marked("*** Update File: app.py", "@@ def leave():", "+    print()"))
    await call(apply_patch, patch=marked("*** Update File: app.py", "@@", "+# the end", "*** End of File"))
    assert (call.workspace / "app.py").read_text() == (
        GREET.replace("def leave():\n", "def leave():\n    print()\n") + "# the end\n"
    )


async def test_the_end_of_the_file_decides_among_several_places(call):
    (call.workspace / "a.txt").write_text("x\ny\nx\n")
    await call(apply_patch, patch=marked("*** Update File: a.txt", "-x", "+z", "*** End of File"))
    assert (call.workspace / "a.txt").read_text() == "x\ny\nz\n"


async def test_line_ends_and_a_missing_last_one_stay(call):
    (call.workspace / "dos.txt").write_bytes(b"one\r\ntwo\r\nthree")
    await call(apply_patch, patch=marked("*** Update File: dos.txt", " one", "-two", "+2", "+2b"))
    assert (call.workspace / "dos.txt").read_bytes() == b"one\r\n2\r\n2b\r\nthree"
    patch = marked("*** Update File: dos.txt", "-three", "+3").replace("\n", "\r\n")
    await call(apply_patch, patch=patch)
    assert (call.workspace / "dos.txt").read_bytes() == b"one\r\n2\r\n2b\r\n3"


async def test_a_byte_order_mark_stays_and_no_hunk_has_to_know_of_it(call):
    file = call.workspace / "mark.txt"
    file.write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    await call(apply_patch, patch=marked("*** Update File: mark.txt", "-one", "+zero", "+1", " two"))
    assert file.read_bytes() == b"\xef\xbb\xbfzero\n1\ntwo\n"
    patch = "--- a/mark.txt\n+++ b/mark.txt\n@@ -1,2 +1,2 @@\n-\ufeffzero\n+\ufeff0\n 1\n"
    await call(apply_patch, patch=patch)
    assert file.read_bytes() == b"\xef\xbb\xbf0\n1\ntwo\n"


async def test_spaces_at_line_ends_and_typography_are_forgiven_and_indentation_is_not(call):
    (call.workspace / "t.md").write_text("don\u2019t \u2014 stop  \n\tindented\nlast\n")
    await call(apply_patch, patch=marked("*** Update File: t.md", " don't - stop", "-\tindented", "+\tmoved in"))
    assert (call.workspace / "t.md").read_text() == "don\u2019t \u2014 stop  \n\tmoved in\nlast\n"
    message = await call.fails(apply_patch, patch=marked("*** Update File: t.md", "-moved in", "+x"))
    assert "line 2 is\n\tmoved in\nwhere the hunk has\nmoved in" in message


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["*** Frob File: x"], "line 2: expected `*** Update File: `"),
        (["*** Update File: app.py"], "neither hunks nor a new name"),
        (["*** Update File: app.py", "return"], "line 3: a line begins with"),
        (["*** Add File: x", "text"], "line 3: each line of an added file begins with `+`"),
        (["*** Update File: app.py", "@@ def greet():", "*** Delete File: old.txt"], "line 3: a hunk has no lines"),
        ([], "names no file"),
        (["*** Add File: ../x", "+y"], "outside of what may be used"),
        (["*** Update File: app.py", "*** Move to: /etc/x"], "outside of what may be used"),
        (["*** Add File: app.py", "+y"], "exists already"),
        (["*** Update File: old.txt", "*** Move to: app.py"], "exists already"),
        (["*** Add File: sub", "+y"], "sub is a directory"),
        (["*** Delete File: old.txt", "*** Update File: old.txt", "-one", "+1"], "any more after an earlier section"),
        (["*** Delete File: sub"], "is a directory"),
        (["*** Delete File: link"], "is a link"),
        (["*** Update File: latin", "-x", "+y"], "not UTF-8"),
        (["*** Add File: old.txt/below", "+y"], "not a directory"),
        ([line for i in range(MAX_FILES + 1) for line in (f"*** Add File: f{i}", "+y")], "more than 200 files"),
    ],
)
async def test_what_cannot_be_done_is_said_and_nothing_is_touched(call, lines, said):
    (call.workspace / "sub").mkdir()
    (call.workspace / "link").symlink_to("app.py")
    (call.workspace / "latin").write_bytes(b"caf\xe9 x")
    before = contents(call.workspace)
    first = ("*** Add File: first.txt", "+y") if lines and "f0" not in lines[0] else ()
    assert said in await call.fails(apply_patch, patch=marked(*lines, *first))
    assert contents(call.workspace) == before


async def test_a_patch_that_was_cut_off_is_refused(call):
    assert "cut off" in await call.fails(apply_patch, patch="*** Begin Patch\n*** Add File: x\n+a\n")
    assert "something follows" in await call.fails(apply_patch, patch=marked("*** Add File: x", "+a") + "\nmore")
    assert not (call.workspace / "x").exists()


async def test_blank_lines_between_sections_are_no_lines_of_theirs(call):
    await call(apply_patch, patch=marked("", "*** Update File: old.txt", "-two", "+2", "", "*** Add File: x", "+a", ""))
    assert (call.workspace / "old.txt").read_text() == "one\n2\n"
    assert (call.workspace / "x").read_text() == "a\n"


async def test_a_later_section_sees_what_an_earlier_one_did(call):
    patch = marked(
        "*** Update File: old.txt",
        "-two",
        "+2",
        "*** Update File: old.txt",
        "*** Move to: between.txt",
        "*** Update File: between.txt",
        "*** Move to: last.txt",
        "-2",
        "+II",
        "*** Add File: old.txt",
        "+again",
    )
    output = await call(apply_patch, patch=patch)
    assert sorted(contents(call.workspace)) == ["app.py", "last.txt", "old.txt"]
    assert (call.workspace / "last.txt").read_text() == "one\nII\n"
    assert (call.workspace / "old.txt").read_text() == "again\n"
    assert "Moved old.txt to last.txt (+1 -1 lines)." in text_of(output)


async def test_a_moved_file_keeps_its_mode_and_binary_ones_move_and_go(call):
    (call.workspace / "run.sh").write_bytes(b"\0\xff")
    (call.workspace / "run.sh").chmod(0o750)
    output = await call(apply_patch, patch=marked("*** Update File: run.sh", "*** Move to: bin/run.sh"))
    assert stat.S_IMODE((call.workspace / "bin/run.sh").stat().st_mode) == 0o750
    assert "binary file run.sh becomes bin/run.sh" in str(display_of(output)["diff"])
    output = await call(apply_patch, patch=marked("*** Delete File: bin/run.sh"))
    assert display_of(output)["diff"] == "deleted binary file bin/run.sh\n"


async def test_a_patch_that_changes_nothing_says_so(call):
    output = await call(apply_patch, patch=marked("*** Update File: old.txt", "-two", "+two"))
    assert text_of(output) == "The files are like that already; nothing changed."


def test_permissions_know_every_path_of_a_patch(tmp_path):  # R17
    def outcome(patch: str, *grants: Grant) -> str:
        return decide("accept_edits", grants, apply_patch, {"patch": patch}, (tmp_path,), os.path.realpath).outcome

    assert outcome(EVERYTHING) == "allow"
    for line in ("*** Add File: ../x", "*** Delete File: /etc/passwd"):
        assert outcome(marked("*** Add File: in", "+x", line)) == "ask"
    assert outcome(marked("*** Update File: app.py", "*** Move to: ../x")) == "ask"
    assert outcome("--- a/x\n+++ b/../../y\n@@ -1 +1 @@\n-a\n+b\n") == "ask"
    assert outcome("no patch", *(Grant("apply_patch", pattern, str(tmp_path)) for pattern in ("*", "**"))) == "ask"
