"""Several processes and long readers at one file: nobody is told that the database is locked (spec trust.md R3)."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from openprogram.core.jsonio import encode
from openprogram.store.sqlite import SqliteStore
from tests.support.store_children import lines_of, start
from tests.support.store_dump import log_of
from tests.support.store_process import ROUNDS, SHARED, SWITCHES
from tests.support.store_values import delta, new_chat

PROCESSES = 8


@pytest.fixture
def other(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to the same file, as another program would have it."""
    with closing(sqlite3.connect(tmp_path / "openprogram.db", isolation_level=None)) as db:
        yield db


async def test_eight_processes_write_while_a_long_reader_reads(tmp_path: Path) -> None:  # R3
    path = tmp_path / "openprogram.db"
    names = [str(number) for number in range(PROCESSES)]
    children = [await start("share", path, name) for name in names]  # they also make the file, all at once
    store = await SqliteStore.open(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        count = "SELECT count(*) FROM events"
        before = reader.execute(count).fetchone()
        said = await asyncio.gather(*(lines_of(child) for child in children))
        assert reader.execute(count).fetchone() == before
        reader.execute("COMMIT")

    assert said == [[{"done": name}] for name in names]
    texts = Counter(encode(delta(f"{name} {number}")) for name in names for number in range(ROUNDS))
    log = await log_of(store, SHARED)
    assert [event.seq for event in log] == list(range(1, PROCESSES * ROUNDS + 1))
    assert Counter(event.payload for event in log) == texts
    for name in names:
        own = await log_of(store, f"s_{name}")
        assert [event.payload for event in own] == [encode(delta(f"{name} {number}")) for number in range(ROUNDS)]
    assert (await store.intent(SHARED)).revision == PROCESSES * SWITCHES
    await store.aclose()


async def test_reads_do_not_wait_for_a_writer(tmp_path: Path, other: sqlite3.Connection) -> None:
    store = await SqliteStore.open(tmp_path / "openprogram.db")
    await store.commit("s_1", [delta("a")], [new_chat()])
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.create_task(store.commit("s_1", [delta("b")]))
    await asyncio.sleep(0)  # it is queued
    reads = [len(await store.events("s_1", 0)) for _ in range(20)]
    assert not waiting.done()
    other.execute("COMMIT")
    await waiting
    await store.aclose()

    assert reads == [1] * 20


async def test_what_another_process_wrote_is_numbered_on_from(tmp_path: Path) -> None:  # P2
    path = tmp_path / "openprogram.db"
    one, two = await SqliteStore.open(path), await SqliteStore.open(path)
    await one.commit("s_1", [], [new_chat()])
    seqs = [(await store.commit("s_1", [delta()]))[0].seq for store in (one, one, two, one, two, two, one)]
    await one.aclose()
    await two.aclose()

    assert seqs == [1, 2, 3, 4, 5, 6, 7]
