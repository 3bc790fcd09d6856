"""Group commit: many commits in one transaction, each with the outcome it would have had alone."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.core.errors import Conflict, StorageError, UnknownSession
from openprogram.core.events import Event
from openprogram.core.intent import ToolIntent
from openprogram.core.messages import ToolUseBlock
from openprogram.core.storage import PutIntent, PutMessage, StoredEvent, Write
from openprogram.store.sqlite import SqliteStore
from openprogram.store.sqlite import writes as writing
from openprogram.store.sqlite.group import Commit, Groups, Job
from openprogram.store.sqlite.migrate import migrate
from openprogram.store.sqlite.schema import MIGRATIONS
from tests.support.store_dump import dump
from tests.support.store_places import SqlitePlace, opened
from tests.support.store_values import TIME, HandClock, delta, events, message, new_chat, writes

CHATS = ("s_1", "s_2")


@dataclass(frozen=True)
class Thread:
    """What the writer's thread has: a connection and the groups it runs over it."""

    db: sqlite3.Connection
    groups: Groups
    future: "asyncio.Future[tuple[StoredEvent, ...]]"

    def run(self, *commits: tuple[str, Sequence[bytes], Sequence[Write]]) -> list[object]:
        """The outcomes of one group."""
        return self.groups.run(self.db, [Commit(*commit, self.future) for commit in commits])

    def texts(self, session_id: str) -> list[bytes]:
        found = self.db.execute(
            "SELECT payload FROM events JOIN sessions ON n = chat WHERE id = ? ORDER BY seq", (session_id,)
        )
        return [payload for (payload,) in found]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database file with the tables in it."""
    path = tmp_path / "openprogram.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrate(db, path, MIGRATIONS, TIME)
    return path


@pytest.fixture
async def thread(path: Path) -> AsyncIterator[Thread]:
    """One with a chat `s_1`."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as db:
        db.execute("PRAGMA foreign_keys = ON")
        thread = Thread(db, Groups(path, HandClock()), asyncio.get_running_loop().create_future())
        thread.run(("s_1", (), (new_chat("s_1"),)))
        yield thread


def kinds(outcomes: Sequence[object]) -> list[type]:
    return [type(outcome) for outcome in outcomes]


# -- grouping ---------------------------------------------------------------------------------------------------


async def test_commits_that_wait_together_are_one_transaction(tmp_path: Path) -> None:
    async with opened(SqlitePlace(tmp_path / "openprogram.db")) as store:
        assert isinstance(store, SqliteStore)
        for session_id in CHATS:
            await store.commit(session_id, [], [new_chat(session_id)])
        before = store.transactions
        await asyncio.gather(
            *(store.commit(session_id, [delta()]) for session_id in CHATS for _ in range(40)),
            store.commit("s_1", [], [PutIntent(ToolIntent(), 0)]),
            store.put_setting("u_1", "theme", "dark"),
        )
        assert store.transactions == before + 1


async def test_what_comes_during_a_transaction_makes_up_the_next(tmp_path: Path) -> None:
    async with opened(SqlitePlace(tmp_path / "openprogram.db")) as store:
        assert isinstance(store, SqliteStore)
        await store.commit("s_1", [], [new_chat()])
        before = store.transactions
        first = asyncio.create_task(store.commit("s_1", [delta()]))
        await asyncio.sleep(0)  # it is queued
        await asyncio.sleep(0)  # it is under way
        later = [store.commit("s_1", [delta()]) for _ in range(40)]
        stored = await asyncio.gather(first, *later)

        assert [event.seq for events in stored for event in events] == list(range(1, 42))
        assert store.transactions == before + 2


@st.composite
def commits(draw: st.DrawFn) -> tuple[str, list[Event], list[Write]]:
    session_id = draw(st.sampled_from((*CHATS, "s_none")))
    return session_id, draw(st.lists(events, max_size=2)), draw(st.lists(writes, max_size=2))


@given(st.lists(commits(), max_size=10))
@settings(max_examples=40)
async def test_a_group_has_the_outcomes_of_its_commits_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, program: list[tuple[str, list[Event], list[Write]]]
) -> None:
    folder = tmp_path_factory.mktemp("group")
    async with (
        opened(SqlitePlace(folder / "together.db")) as together,
        opened(SqlitePlace(folder / "alone.db")) as alone,
    ):
        for store in (together, alone):
            for session_id in CHATS:
                await store.commit(session_id, [], [new_chat(session_id)])
        one_by_one = [(await asyncio.gather(alone.commit(*commit), return_exceptions=True))[0] for commit in program]
        in_a_group = await asyncio.gather(*(together.commit(*commit) for commit in program), return_exceptions=True)
        same = [str(outcome) for outcome in one_by_one]
        assert [str(outcome) for outcome in in_a_group] == same
        assert await dump(together, CHATS) == await dump(alone, CHATS)


# -- faults inside a group --------------------------------------------------------------------------------------


async def test_a_refused_commit_costs_the_group_no_second_transaction(thread: Thread) -> None:
    before = thread.groups.transactions
    outcomes = thread.run(
        ("s_1", (b"1",), ()), ("s_1", (b"no",), (PutIntent(ToolIntent(), 5),)), ("s_2", (), ()), ("s_1", (b"2",), ())
    )

    assert kinds(outcomes) == [tuple, Conflict, UnknownSession, tuple]
    assert thread.texts("s_1") == [b"1", b"2"]
    assert thread.groups.transactions == before + 1


async def test_a_sweep_in_the_middle_of_a_group_finds_what_was_committed_before_it(thread: Thread) -> None:
    before = thread.groups.transactions
    sweep = Job(partial(writing.sweep, drafts_before="9999", requests_before=TIME), thread.future, deletes_chats=True)
    commit = Commit("s_1", (b"1",), (), thread.future)
    outcomes = thread.groups.run(thread.db, [commit, sweep, commit])

    assert kinds(outcomes) == [tuple, int, UnknownSession]
    assert thread.texts("s_1") == []
    assert thread.groups.transactions == before + 1


async def test_a_value_that_the_database_cannot_hold_fails_alone(thread: Thread) -> None:
    thread.db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000)
    large = b"x" * 2000
    outcomes = thread.run(
        ("s_1", (b"1",), ()), ("s_1", (b"no", large), (PutIntent(ToolIntent(), 0),)), ("s_1", (b"2",), ())
    )

    assert kinds(outcomes) == [tuple, StorageError, tuple]
    assert "too large" in str(outcomes[1])
    assert thread.texts("s_1") == [b"1", b"2"]
    assert thread.db.execute("SELECT count(*) FROM session_config").fetchone() == (0,)


async def test_a_write_that_is_no_json_fails_alone(thread: Thread) -> None:
    broken = message("m_1")
    call = ToolUseBlock("c_1", "bash", {"command": object()})  # type: ignore[dict-item]
    object.__setattr__(broken, "blocks", (call,))
    outcomes = thread.run(("s_1", (b"1",), ()), ("s_1", (b"no",), (PutMessage(broken),)), ("s_1", (b"2",), ()))

    assert kinds(outcomes) == [tuple, StorageError, tuple]
    assert "cannot be stored" in str(outcomes[1])
    assert thread.texts("s_1") == [b"1", b"2"]


async def test_a_full_disk_fails_all_and_loses_nothing_that_was_kept(thread: Thread) -> None:  # R4
    thread.run(("s_1", (b"kept",), ()))
    (pages,) = thread.db.execute("PRAGMA page_count").fetchone()
    thread.db.execute(f"PRAGMA max_page_count = {pages}")
    large = b"x" * 100_000
    outcomes = thread.run(("s_1", (large,), ()), ("s_1", (large,), (PutMessage(message()),)))

    assert kinds(outcomes) == [StorageError, StorageError]
    assert all("is full" in str(outcome) for outcome in outcomes)
    assert thread.texts("s_1") == [b"kept"]
    thread.db.execute("PRAGMA max_page_count = 1000000")
    (stored,) = thread.run(("s_1", (large,), ()))
    assert isinstance(stored, tuple)
    assert stored[0].seq == 2


# -- other processes --------------------------------------------------------------------------------------------


@pytest.fixture
def other(path: Path) -> Iterator[sqlite3.Connection]:
    """Another process's connection."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys = ON")
        yield db


async def test_a_database_that_stays_locked_is_an_error_that_says_so(thread: Thread, other: sqlite3.Connection) -> None:
    other.execute("BEGIN IMMEDIATE")
    outcomes = thread.run(("s_1", (b"1",), ()), ("s_1", (b"2",), ()))
    assert kinds(outcomes) == [StorageError, StorageError]
    assert "locked" in str(outcomes[0])
    other.execute("ROLLBACK")

    assert kinds(thread.run(("s_1", (b"3",), ()))) == [tuple]
    assert thread.texts("s_1") == [b"3"]


async def test_a_chat_that_another_process_swept_is_unknown_at_once(thread: Thread, other: sqlite3.Connection) -> None:
    thread.run(("s_1", (b"1",), ()))
    other.execute("DELETE FROM sessions")

    assert kinds(thread.run(("s_1", (b"2",), ()))) == [UnknownSession]
    assert thread.texts("s_1") == []


async def test_a_log_that_another_process_joined_is_numbered_on_from_its_end(
    thread: Thread, other: sqlite3.Connection
) -> None:  # P2, P4
    thread.run(("s_1", (b"1", b"2"), ()))
    other.execute("DELETE FROM events WHERE seq = 1")
    other.execute("UPDATE events SET from_seq = 1, seq = 4, payload = '1234' WHERE seq = 2")
    (stored,) = thread.run(("s_1", (b"5",), ()))

    assert isinstance(stored, tuple)
    assert [(event.from_seq, event.seq) for event in stored] == [(5, 5)]
