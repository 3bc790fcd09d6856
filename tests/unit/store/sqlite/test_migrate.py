"""Making a database, bringing older ones up to date, refusing newer and foreign ones (spec trust.md R3)."""

import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from openprogram.core.errors import DatabaseTooNew, StorageError
from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.storage import PutIntent
from openprogram.store.sqlite import SqliteStore
from openprogram.store.sqlite.migrate import migrate
from openprogram.store.sqlite.schema import MIGRATIONS, Migration
from tests.support.store_values import TIME, delta, new_chat

SECOND = Migration("a note on each chat", ("ALTER TABLE sessions ADD COLUMN note TEXT",))
THIRD = Migration("notes", ("CREATE TABLE notes (text TEXT)", "INSERT INTO notes VALUES ('kept')"))


async def made(path: Path) -> Path:
    """A database with one chat in it, closed."""
    store = await SqliteStore.open(path)
    await store.commit("s_1", [delta("kept")], [new_chat(), PutIntent(ToolIntent(web_search=True), 0)])
    await store.aclose()
    return path


def upgrade(path: Path, migrations: Sequence[Migration]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrate(db, path, migrations, TIME)


def query(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(sql).fetchall()


def names_beside(path: Path) -> set[str]:
    return {file.name for file in path.parent.iterdir()} - {path.name, f"{path.name}-wal", f"{path.name}-shm"}


async def test_a_new_database_is_at_the_newest_schema_in_wal_and_only_its_owners(tmp_path: Path) -> None:
    path = await made(tmp_path / "openprogram.db")

    assert query(path, "SELECT number, name FROM migrations") == [
        (number, migration.name) for number, migration in enumerate(MIGRATIONS, 1)
    ]
    assert query(path, "PRAGMA journal_mode") == [("wal",)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names_beside(path) == set()


async def test_an_up_to_date_database_is_opened_without_a_copy(tmp_path: Path) -> None:
    path = await made(tmp_path / "openprogram.db")
    await made(path.with_name("other.db"))
    store = await SqliteStore.open(path)
    await store.aclose()

    assert names_beside(path) == {"other.db"}


async def test_a_copy_is_made_before_each_step(tmp_path: Path) -> None:
    path = await made(tmp_path / "openprogram.db")
    newest = len(MIGRATIONS)
    (tmp_path / f"openprogram.db.v{newest}.bak.tmp").write_bytes(b"left over from a crash")
    before = query(path, "SELECT * FROM sessions")
    upgrade(path, (*MIGRATIONS, SECOND, THIRD))

    assert query(path, "SELECT number, name, at FROM migrations")[newest:] == [
        (newest + 1, SECOND.name, TIME),
        (newest + 2, THIRD.name, TIME),
    ]
    assert query(path, "SELECT note FROM sessions") == [(None,)]
    assert query(path, "SELECT text FROM notes") == [("kept",)]
    assert names_beside(path) == {f"openprogram.db.v{newest}.bak", f"openprogram.db.v{newest + 1}.bak"}
    backup = path.with_name(f"openprogram.db.v{newest}.bak")
    assert query(backup, "SELECT * FROM sessions") == before
    assert query(backup, "SELECT max(number) FROM migrations") == [(newest,)]
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


async def test_the_copy_can_be_put_back(tmp_path: Path) -> None:
    path = await made(tmp_path / "openprogram.db")
    upgrade(path, (*MIGRATIONS, SECOND))
    path.with_name(f"openprogram.db.v{len(MIGRATIONS)}.bak").replace(path)
    store = await SqliteStore.open(path)

    assert await store.intent("s_1") == StoredIntent(ToolIntent(web_search=True), 1)
    assert len(await store.events("s_1", 0)) == 1
    await store.aclose()


async def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    path = await made(tmp_path / "openprogram.db")
    schema = query(path, "SELECT sql FROM sqlite_master")
    broken = Migration("broken", (*SECOND.statements, "CREATE TABLE sessions (id TEXT)"))
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        upgrade(path, (*MIGRATIONS, broken))

    assert query(path, "SELECT sql FROM sqlite_master") == schema
    assert query(path, "SELECT count(*) FROM migrations") == [(len(MIGRATIONS),)]


async def test_a_newer_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = await made(tmp_path / "openprogram.db")
    newest = len(MIGRATIONS)
    upgrade(path, (*MIGRATIONS, SECOND))
    before = path.read_bytes()
    with pytest.raises(DatabaseTooNew) as refusal:
        await SqliteStore.open(path)

    assert refusal.value.code == "storage_failed"
    assert str(path) in refusal.value.message
    assert f"its schema is {newest + 1}, this version knows {newest}" in refusal.value.message
    assert f"openprogram.db.v{newest}.bak" in (refusal.value.hint or "")
    assert path.read_bytes() == before


@pytest.mark.parametrize("statement", ["CREATE TABLE migrations (number)", "PRAGMA application_id = 1"])
async def test_another_programs_database_is_refused_and_not_touched(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "theirs.db"
    query(path, statement)
    before = path.read_bytes()
    with pytest.raises(StorageError, match="database of another program"):
        await SqliteStore.open(path)

    assert path.read_bytes() == before


async def test_an_empty_file_is_a_new_database(tmp_path: Path) -> None:
    path = tmp_path / "openprogram.db"
    path.touch()

    assert query(await made(path), "SELECT id FROM sessions") == [("s_1",)]
