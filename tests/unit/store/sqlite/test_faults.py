"""Disks, permissions and damage: a clear error, and nothing kept in memory only (spec trust.md R4)."""

import asyncio
import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from openprogram.core.errors import DatabaseCorrupt, StorageError
from openprogram.store.sqlite import SqliteStore
from openprogram.store.sqlite.faults import storage_error
from tests.support.store_children import lines_of, start
from tests.support.store_process import NOBODY
from tests.support.store_values import delta, new_chat
from tests.support.ws import WAIT_S


async def made(path: Path, events: int = 1) -> Path:
    """A database with a chat in it, closed."""
    store = await SqliteStore.open(path)
    await store.commit("s_1", [delta("x" * 100)] * events, [new_chat()])
    await store.aclose()
    return path


# -- what can be seen as any user -------------------------------------------------------------------------------


async def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="does not exist") as raised:
        await SqliteStore.open(tmp_path / "nowhere" / "openprogram.db")

    assert str(tmp_path / "nowhere") in raised.value.message
    assert raised.value.hint


async def test_a_directory_in_the_place_of_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "openprogram.db").mkdir()
    with pytest.raises(StorageError, match="is a directory"):
        await SqliteStore.open(tmp_path / "openprogram.db")


async def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "openprogram.db"
    path.write_bytes(b"Dear diary, " * 1000)
    with pytest.raises(DatabaseCorrupt, match="is not a database") as raised:
        await SqliteStore.open(path)

    assert str(path) in raised.value.message
    assert "*.bak" in (raised.value.hint or "")
    assert path.read_bytes() == b"Dear diary, " * 1000


@pytest.mark.parametrize("beginning", [b"Dear diary, ", b"SQLite format 3\0"])
def test_a_database_that_is_refused_leaves_no_thread_that_outlives_the_loop(tmp_path: Path, beginning: bytes) -> None:
    path = tmp_path / "openprogram.db"
    path.write_bytes(beginning * 1000)
    before = set(threading.enumerate())
    for _ in range(20):
        with pytest.raises(DatabaseCorrupt):
            asyncio.run(SqliteStore.open(path))  # a late thread would raise, and pytest fail the test for it
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=WAIT_S)

    assert set(threading.enumerate()) <= before


async def used(path: Path) -> None:
    """Open, write and read."""
    store = await SqliteStore.open(path)
    try:
        await store.commit("s_1", [delta()])
        await store.events("s_1", 0, limit=5000)
    finally:
        await store.aclose()


async def test_a_truncated_database_is_an_error_and_no_crash(tmp_path: Path) -> None:
    path = await made(tmp_path / "openprogram.db", events=500)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    with pytest.raises(DatabaseCorrupt, match="is damaged"):
        await used(path)


async def test_damage_in_the_middle_is_told_to_who_reads_it_and_the_rest_works(tmp_path: Path) -> None:
    path = await made(tmp_path / "openprogram.db", events=500)
    store = await SqliteStore.open(path)
    await store.commit("s_1", [delta("needle")])
    await store.commit("s_1", [delta("x" * 100)] * 500)
    await store.commit("s_2", [delta()], [new_chat("s_2")])
    await store.aclose()
    with closing(sqlite3.connect(path)) as db:
        (page_size,) = db.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek(path.read_bytes().index(b"needle") // page_size * page_size)
        file.write(b"\xff" * page_size)

    with pytest.raises(DatabaseCorrupt, match="is damaged"):
        await used(path)
    store = await SqliteStore.open(path)
    assert len(await store.events("s_2", 0)) == 1
    await store.aclose()


async def test_an_unreadable_row_is_an_error_never_a_default(tmp_path: Path) -> None:  # design law 6
    path = await made(tmp_path / "openprogram.db")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO session_config (session_id, disabled, revision) VALUES ('s_1', '{', 1)")
        db.execute("INSERT INTO messages (id, session_id, role, body) VALUES ('m_1', 's_1', 'user', '{}')")
        db.execute("INSERT INTO settings VALUES ('u_1', 'theme', 'dark')")
    store = await SqliteStore.open(path)
    for question, what in (
        (store.intent("s_1"), "the intent of chat s_1"),
        (store.messages("s_1", ["m_1"]), "message m_1"),
        (store.setting("u_1", "theme"), "setting theme"),
    ):
        with pytest.raises(DatabaseCorrupt, match=what):
            await question
    assert len(await store.events("s_1", 0)) == 1
    await store.aclose()


async def test_files_that_may_grow_no_further_refuse_the_commit_and_take_it_later(tmp_path: Path) -> None:
    path = tmp_path / "openprogram.db"
    full, again = await lines_of(await start("fill", path))

    assert "refused to read or write" in full["error"]
    assert str(path) in full["error"]
    assert "limit on file size" in full["hint"]
    assert full["seen"] == full["stored"] > 0
    assert again["seq"] == full["stored"] + 1
    store = await SqliteStore.open(path)
    assert [event.seq for event in await store.events("s_1", 0)] == list(range(1, again["seq"] + 1))
    await store.aclose()


def test_every_error_names_the_file_and_errors_of_ours_pass_through() -> None:
    path = Path("/data/openprogram.db")
    ours = StorageError("ours")

    assert storage_error(ours, path) is ours
    for error in (OSError(5, "Input/output error"), sqlite3.OperationalError("odd"), ValueError("no connection")):
        assert str(path) in storage_error(error, path).message


# -- permissions, as a user who has them ------------------------------------------------------------------------


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory that another user can reach; pytest's own cannot be."""
    folder = Path(tempfile.mkdtemp(prefix="openprogram-test-"))
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


def hand_over(*paths: Path) -> None:
    """Give files to the user that the child runs as, where that is not us."""
    if os.geteuid() == 0:
        for path in paths:
            os.chown(path, NOBODY, NOBODY)


async def attempted(path: Path) -> dict[str, Any]:
    (said,) = await lines_of(await start("attempt", path))
    return said


async def test_a_directory_of_ones_own_takes_the_database(folder: Path) -> None:
    assert (await attempted(folder / "openprogram.db"))["row"] is True


async def test_a_read_only_directory_takes_no_new_database(folder: Path) -> None:
    hand_over(folder)
    folder.chmod(0o555)
    said = await attempted(folder / "openprogram.db")

    assert said["kind"] == "StorageError"
    assert "cannot be written" in said["error"]
    assert str(folder / "openprogram.db") in said["error"]
    assert "the right to write" in said["hint"]


async def test_a_database_in_a_read_only_directory_is_refused(folder: Path) -> None:
    path = await made(folder / "openprogram.db")
    hand_over(folder, path)
    folder.chmod(0o555)
    said = await attempted(path)

    assert str(folder) in said["error"]
    assert "the right to write" in said["hint"]


@pytest.mark.parametrize("mode", [0o444, 0o000])
async def test_a_database_that_may_not_be_written_is_refused(folder: Path, mode: int) -> None:
    path = await made(folder / "openprogram.db")
    hand_over(path)
    path.chmod(mode)
    said = await attempted(path)

    assert f"{path} cannot be written" in said["error"]
    assert "the right to write" in said["hint"]
