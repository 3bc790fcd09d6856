"""Notes of the project: plain files, found by what they say, written at once or not at all."""

import os
import stat

import pytest

from openprogram.core.events import PermissionMode
from openprogram.permissions.decide import decide
from openprogram.tools.builtin.memory import memory_search, memory_write
from openprogram.tools.builtin.notes import FOLDER, MAX_NOTE
from tests.support.tool_calls import Caller, contents, display_of, text_of

DATABASE = """\
# Database

## Choice

SQLite with one writer; decided because backups are one file.

## Migrations

Numbered, each in a transaction.

```
# not a heading
```
"""


@pytest.fixture
def call(tmp_path):
    return Caller(tmp_path)


async def noted(call: Caller, note: str, text: str, **more: str) -> str:
    return text_of(await call(memory_write, note=note, text=text, **more))


async def test_what_is_noted_is_found_in_a_later_chat(call):
    assert await noted(call, "database", DATABASE) == f"Noted in {FOLDER}/database.md (+13 -0 lines)."
    await noted(call, "style", "Lines have 100 characters.")
    later = Caller(call.workspace, session_id="s_later")
    found = text_of(await later(memory_search, query="why did we decide for SQLite?", limit=1))
    assert found == (f"{FOLDER}/database.md:3 - Choice\nSQLite with one writer; decided because backups are one file.")
    assert "# not a heading" in text_of(await later(memory_search, query="migration transactions", limit=1))


async def test_names_and_headings_count_more_than_text(call):
    await noted(call, "deployment", "Use the script.")
    await noted(call, "diary", "Talked about deployment, and deployment again, over lunch.")
    found = text_of(await call(memory_search, query="deployment"))
    assert found.index("deployment.md") < found.index("diary.md")


async def test_without_a_query_or_a_match_the_notes_are_named(call):
    assert text_of(await call(memory_search)) == "There are no notes yet."
    await noted(call, "b", "x")
    await noted(call, "a", "y")
    assert text_of(await call(memory_search)) == "Notes: a, b"
    assert text_of(await call(memory_search, query="zebra")) == "No note says anything about that. Notes: a, b"


async def test_adding_keeps_what_was_there_and_replacing_does_not(call):
    await noted(call, "facts", "one\n\n")
    await noted(call, "facts", "two")
    path = call.workspace / FOLDER / "facts.md"
    assert path.read_text() == "one\n\ntwo\n"
    path.chmod(0o640)
    output = await call(memory_write, note="facts", text="three", mode="replace")
    assert path.read_text() == "three\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert "-one" in str(display_of(output)["diff"])


@pytest.mark.parametrize(
    "name", ["", "../up", "a/b", ".hidden", "-x", "a b", "a\nb", "con.txt", "x" * 61, "~root", "/etc/passwd", "a\0"]
)
async def test_a_name_is_never_a_path(call, name):  # R15
    assert "cannot name a note" in await call.fails(memory_write, note=name, text="x")
    assert contents(call.workspace) == {}


async def test_names_of_any_script_and_with_the_ending_are_fine_and_case_makes_no_second_note(call):
    await noted(call, "über-uns", "x")
    await noted(call, "笔记.md", "y")
    (call.workspace / FOLDER / "README.md").write_text("by hand\n")
    await noted(call, "readme", "more")
    assert sorted(os.listdir(call.workspace / FOLDER)) == ["README.md", "über-uns.md", "笔记.md"]
    assert (call.workspace / FOLDER / "README.md").read_text() == "by hand\n\nmore\n"


async def test_a_folder_that_leads_outside_is_refused(tmp_path):  # R15
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("secret zebra")
    (tmp_path / "ws" / ".openprogram").mkdir(parents=True)
    (tmp_path / "ws" / FOLDER).symlink_to(tmp_path / "outside")
    call = Caller(tmp_path / "ws")
    assert "outside" in await call.fails(memory_write, note="x", text="y")
    assert "outside" in await call.fails(memory_search, query="zebra")
    (tmp_path / "ws" / FOLDER).unlink()
    (tmp_path / "ws" / FOLDER).mkdir()
    (tmp_path / "ws" / FOLDER / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    assert "secret zebra" not in text_of(await call(memory_search, query="zebra"))
    assert "outside" in await call.fails(memory_write, note="link", text="y")


async def test_what_people_put_there_is_searched_and_never_an_error(call):
    folder = call.workspace / FOLDER
    folder.mkdir(parents=True)
    (folder / "with space.md").write_text("zebra crossing")
    (folder / "latin.md").write_bytes(b"caf\xe9 zebra")
    (folder / "folder.md").mkdir()
    (folder / "other.txt").write_text("zebra in no note")
    found = text_of(await call(memory_search, query="zebra"))
    assert "with space.md:1" in found
    assert "caf\ufffd zebra" in found
    assert "other.txt" not in found


async def test_notes_are_bounded(call):
    await noted(call, "big", "x" * (MAX_NOTE - 10))
    before = contents(call.workspace)
    assert "larger than 65,536 bytes" in await call.fails(memory_write, note="big", text="one more line")
    assert "empty" in await call.fails(memory_write, note="big", text=" \n")
    assert contents(call.workspace) == before
    await noted(call, "long", "\n\n".join(f"zebra {n} " + "y" * 3_000 for n in range(10)))
    assert len(text_of(await call(memory_search, query="zebra", limit=20))) < 20 * 2_000
    assert "limit is 1 to 20" in await call.fails(memory_search, query="x", limit=21)


async def test_the_preview_is_the_diff_and_does_nothing(call):
    await noted(call, "facts", "one")
    before = contents(call.workspace)
    preview = await call.preview(memory_write, note="facts", text="two")
    assert preview.kind == "diff"
    assert preview.text.endswith("@@ -1 +1,3 @@\n one\n+\n+two\n")
    assert contents(call.workspace) == before


def test_a_note_is_an_edit_of_the_workspace(tmp_path):  # R17
    def outcome(mode: PermissionMode, note: str) -> str:
        return decide(mode, (), memory_write, {"note": note, "text": "x"}, (tmp_path,), os.path.realpath).outcome

    assert (outcome("ask", "x"), outcome("accept_edits", "x"), outcome("accept_edits", "../x")) == (
        "ask",
        "allow",
        "ask",
    )


@pytest.mark.parametrize("asked", ["café", "cafe", "CAFE", "cafe\u0301"])
async def test_a_note_is_found_with_and_without_its_accents(call, asked):
    await call(memory_write, note="places", text="The team meets in the Café Élan.")
    assert "Café Élan" in text_of(await call(memory_search, query=asked))
