"""What was sent, in two tables: segments once by their digest, records in the order of sending."""

import sqlite3
import zlib
from collections.abc import Collection, Mapping
from typing import Final

from openprogram.core.errors import DatabaseCorrupt
from openprogram.core.jsonio import encode
from openprogram.core.sent import PutSent, SentRecord, Spending
from openprogram.core.usage import Usage
from openprogram.store.sqlite import rows

_LEVEL: Final = 1
"""Segments are JSON and text: the fastest compression takes two thirds away."""

_SPENDING: Final = """
SELECT u.session_id, s.title, u.model, substr(u.at, 1, 10) AS day, ifnull(u.kind, 'step') AS kind, count(*) AS requests,
    sum(u.uncached) AS uncached, sum(u.cache_read) AS cache_read, sum(u.cache_write_5m) AS cache_write_5m,
    sum(u.cache_write_1h) AS cache_write_1h, sum(u.output) AS output, sum(u.reasoning) AS reasoning,
    sum(u.searches) AS searches,
    sum(u.cost) AS cost, sum(u.uncached IS NULL OR u.output IS NULL) AS unknown, sum(u.cost IS NULL) AS unpriced
FROM usage u JOIN sessions s ON s.id = u.session_id
WHERE s.user_id = ?
GROUP BY u.session_id, u.model, day, ifnull(u.kind, 'step')
ORDER BY day DESC, u.session_id, u.model, kind
"""


def put_sent(db: sqlite3.Connection, write: PutSent, session_id: str) -> None:
    """Keep a request; a segment that is there already stays."""
    db.executemany(
        "INSERT INTO segments (session_id, digest, data) VALUES (?, ?, ?) ON CONFLICT (session_id, digest) DO NOTHING",
        [(session_id, segment.digest, zlib.compress(segment.data, _LEVEL)) for segment in write.segments],
    )
    db.execute("INSERT INTO sent (session_id, record) VALUES (?, ?)", (session_id, encode(write.record)))


def sent(db: sqlite3.Connection, session_id: str) -> tuple[SentRecord, ...]:
    """Every record of the chat, oldest first."""
    found = db.execute("SELECT record FROM sent WHERE session_id = ? ORDER BY n", (session_id,))
    what = f"a request of chat {session_id}"
    return tuple(rows.typed(SentRecord, row["record"], what) for row in found)


def segments(db: sqlite3.Connection, session_id: str, digests: Collection[str]) -> Mapping[str, bytes]:
    """The bytes of those segments, by digest."""
    found = db.execute(
        "SELECT digest, data FROM segments WHERE session_id = ? AND digest IN (SELECT value FROM json_each(?))",
        (session_id, encode(list(digests)).decode()),
    )
    return {row["digest"]: _inflated(row["data"], row["digest"]) for row in found}


def spending(db: sqlite3.Connection, user_id: str) -> tuple[Spending, ...]:
    """What the user's chats used, by chat, model, day and kind."""
    return tuple(_spending(row) for row in db.execute(_SPENDING, (user_id,)))


def _spending(row: sqlite3.Row) -> Spending:
    return Spending(
        session_id=row["session_id"],
        title=row["title"],
        model=row["model"],
        day=row["day"],
        kind=row["kind"],
        requests=row["requests"],
        usage=Usage(
            row["uncached"],
            row["cache_read"],
            row["cache_write_5m"],
            row["cache_write_1h"],
            row["output"],
            row["reasoning"],
            row["searches"],
        ),
        cost=row["cost"],
        unknown=row["unknown"],
        unpriced=row["unpriced"],
    )


def _inflated(data: bytes, digest: str) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error as error:
        raise DatabaseCorrupt(
            f"segment {digest} of a request cannot be read: {error}",
            hint="The row was damaged or changed by hand. Restore a backup.",
        ) from error
