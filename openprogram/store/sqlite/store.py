"""The store over one SQLite file."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Final

from typing_extensions import override

from openprogram.core.asking import QuestionRow
from openprogram.core.clock import Clock, iso_time
from openprogram.core.errors import StorageError
from openprogram.core.events import Event, SessionInfo, StepFinished
from openprogram.core.intent import StoredIntent
from openprogram.core.jsonio import JsonValue, encode
from openprogram.core.messages import Message, QueuedMessage
from openprogram.core.ports import Store
from openprogram.core.sent import SentRecord, Spending
from openprogram.core.storage import (
    ApprovalRow,
    Backlog,
    Grant,
    Node,
    Opening,
    Remembered,
    RememberRequest,
    SessionRow,
    StoredEvent,
    UsageRow,
    Write,
)
from openprogram.store.sqlite import reads, sent, writes
from openprogram.store.sqlite.connection import Connection, Synchronous, connect
from openprogram.store.sqlite.faults import storage_error
from openprogram.store.sqlite.group import REMEMBERED_S, Commit, Job
from openprogram.store.sqlite.migrate import make_file, migrate
from openprogram.store.sqlite.readers import Readers
from openprogram.store.sqlite.schema import MIGRATIONS
from openprogram.store.sqlite.writer import Writer

_READERS: Final = 2


class SqliteStore(Store):
    """`core.ports.Store` in one file. Made by `open`; belongs to the event loop that opened it."""

    def __init__(self, path: Path, clock: Clock, writing: Connection, reading: Sequence[Connection]) -> None:
        self._path = path
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._connection = writing
        self._writer = Writer(writing, path, clock)
        self._readers = Readers(reading, path)

    @classmethod
    async def open(
        cls,
        path: str | PathLike[str],
        clock: Clock = time.time,
        synchronous: Synchronous = "NORMAL",
    ) -> "SqliteStore":
        """Open the database, or make it; an older one is brought up to date, after a copy was put beside it.

        `synchronous` FULL keeps every acknowledged commit even if the power fails, at some milliseconds each.
        Raises `StorageError`, `DatabaseTooNew`, `DatabaseCorrupt`; the directory must exist.
        """
        path = Path(path)
        make_file(path)
        async with AsyncExitStack() as opened:
            try:
                writing = await connect(path, role="writer", synchronous=synchronous)
                opened.push_async_callback(writing.close)
                await writing.run(migrate, path, MIGRATIONS, iso_time(clock()))
                reading = []
                for _ in range(_READERS):
                    reading.append(await connect(path, role="reader", synchronous=synchronous))
                    opened.push_async_callback(reading[-1].close)
            except (sqlite3.Error, OSError) as error:
                raise storage_error(error, path) from error
            opened.pop_all()
        return cls(path, clock, writing, reading)

    @property
    def transactions(self) -> int:
        """How many transactions were committed since the store was opened."""
        return self._writer.transactions

    @override
    async def commit(
        self, session_id: str, events: Sequence[Event], writes: Sequence[Write] = ()
    ) -> tuple[StoredEvent, ...]:
        done: asyncio.Future[tuple[StoredEvent, ...]] = self._loop.create_future()
        self._writer.submit(Commit(session_id, [_encoded(event) for event in events], writes, done))
        return await done

    @override
    async def session(self, session_id: str) -> SessionRow | None:
        return await self._readers.ask(reads.session, session_id)

    @override
    async def opening(self, session_id: str) -> Opening | None:
        return await self._readers.ask(reads.opening, session_id)

    @override
    async def sessions(
        self, user_id: str, *, limit: int = 200, before: tuple[str, str] | None = None, deleted: bool = False
    ) -> tuple[SessionInfo, ...]:
        return await self._readers.ask(reads.sessions, user_id, limit, before, deleted)

    @override
    async def intent(self, session_id: str) -> StoredIntent:
        return await self._readers.ask(reads.intent, session_id)

    @override
    async def nodes(self, session_id: str) -> tuple[Node, ...]:
        return await self._readers.ask(reads.nodes, session_id)

    @override
    async def messages(self, session_id: str, ids: Sequence[str]) -> tuple[Message, ...]:
        return await self._readers.ask(reads.messages, session_id, ids)

    @override
    async def events(self, session_id: str, after_seq: int, limit: int = 500) -> tuple[StoredEvent, ...]:
        return await self._readers.ask(reads.events, session_id, after_seq, limit)

    @override
    async def backlog(self, session_id: str, after_seq: int) -> Backlog:
        return await self._readers.ask(reads.backlog, session_id, after_seq)

    @override
    async def approvals(self, session_id: str, *, pending: bool = True) -> tuple[ApprovalRow, ...]:
        return await self._readers.ask(reads.approvals, session_id, pending)

    @override
    async def approval(self, approval_id: str) -> tuple[str, ApprovalRow] | None:
        return await self._readers.ask(reads.approval, approval_id)

    @override
    async def questions(self, session_id: str, *, pending: bool = True) -> tuple[QuestionRow, ...]:
        return await self._readers.ask(reads.questions, session_id, pending)

    @override
    async def grants(self, session_id: str) -> tuple[Grant, ...]:
        return await self._readers.ask(reads.grants, session_id)

    @override
    async def queue(self, session_id: str) -> tuple[QueuedMessage, ...]:
        return await self._readers.ask(reads.queue, session_id)

    @override
    async def usage(self, session_id: str) -> tuple[UsageRow, ...]:
        return await self._readers.ask(reads.usage, session_id)

    @override
    async def steps(self, session_id: str, message_ids: Collection[str]) -> tuple[StepFinished, ...]:
        return await self._readers.ask(reads.steps, session_id, message_ids)

    @override
    async def sent(self, session_id: str) -> tuple[SentRecord, ...]:
        return await self._readers.ask(sent.sent, session_id)

    @override
    async def segments(self, session_id: str, digests: Collection[str]) -> Mapping[str, bytes]:
        return await self._readers.ask(sent.segments, session_id, digests)

    @override
    async def spending(self, user_id: str) -> tuple[Spending, ...]:
        return await self._readers.ask(sent.spending, user_id)

    @override
    async def remembered(self, user_id: str, client_id: str) -> Remembered | None:
        since = iso_time(self._clock() - REMEMBERED_S)
        return await self._readers.ask(reads.remembered, user_id, client_id, since)

    @override
    async def unfinished(self) -> tuple[SessionRow, ...]:
        return await self._readers.ask(reads.unfinished)

    @override
    async def setting(self, user_id: str, key: str) -> JsonValue:
        return await self._readers.ask(reads.setting, user_id, key)

    @override
    async def put_setting(
        self, user_id: str, key: str, value: JsonValue, request: RememberRequest | None = None
    ) -> None:
        data = None if value is None else _encoded(value)
        now = self._clock()
        unit = writes.Unit("", iso_time(now), 0, iso_time(now - REMEMBERED_S))
        await self._do(partial(writes.put_setting, user_id=user_id, key=key, data=data, request=request, unit=unit))

    @override
    async def token_counts(self, digests: Collection[str]) -> Mapping[str, int]:
        return await self._readers.ask(reads.token_counts, digests)

    @override
    async def put_token_counts(self, counts: Mapping[str, int]) -> None:
        await self._do(partial(writes.put_token_counts, counts=counts))

    @override
    async def sweep(self, *, drafts_before: str, requests_before: str) -> int:
        change = partial(writes.sweep, drafts_before=drafts_before, requests_before=requests_before)
        return int(await self._do(change, deletes_chats=True))

    @override
    async def aclose(self) -> None:
        await self._writer.drain()
        await self._readers.aclose()
        await self._connection.close()  # the last one: closing it moves the log into the database

    async def _do(self, change: Callable[[sqlite3.Connection], Any], *, deletes_chats: bool = False) -> Any:
        done = self._loop.create_future()
        self._writer.submit(Job(change, done, deletes_chats))
        return await done


def _encoded(value: Any) -> bytes:
    try:
        return encode(value)
    except TypeError as error:
        raise StorageError(f"this cannot be stored: {error}") from error
