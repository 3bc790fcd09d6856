"""One function per question, each a single statement or in one transaction: it sees one moment, and soon lets go."""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from openprogram.core.asking import QuestionRow
from openprogram.core.events import SessionInfo, StepFinished
from openprogram.core.intent import StoredIntent
from openprogram.core.jsonio import JsonValue, encode
from openprogram.core.messages import Message, QueuedMessage
from openprogram.core.storage import (
    ApprovalRow,
    Backlog,
    Grant,
    Node,
    Opening,
    Remembered,
    SessionRow,
    StoredEvent,
    UsageRow,
)
from openprogram.store.sqlite import rows

_BRANCH: Final = """
WITH RECURSIVE up (n, parent_id, distance) AS (
    SELECT n, parent_id, 0 FROM messages WHERE id = ?1 AND session_id = ?2
    UNION ALL
    SELECT m.n, m.parent_id, distance + 1 FROM up JOIN messages m ON m.id = up.parent_id AND m.session_id = ?2
)
SELECT id, body FROM up JOIN messages USING (n) ORDER BY distance DESC
"""
_OF_CHAT: Final = "chat = (SELECT n FROM sessions WHERE id = ?)"


def session(db: sqlite3.Connection, session_id: str) -> SessionRow | None:
    """The chat, deleted or not."""
    found = db.execute(f"{rows.SESSION} WHERE s.id = ?", (session_id,)).fetchone()
    return None if found is None else rows.session_row(found)


def opening(db: sqlite3.Connection, session_id: str) -> Opening | None:
    """The chat with what its next turn begins from."""
    db.execute("BEGIN")
    try:
        row = session(db, session_id)
        if row is None:
            return None
        branch = tuple(map(rows.message, db.execute(_BRANCH, (row.info.leaf_id, session_id))))
        return Opening(row, intent(db, session_id), queue(db, session_id), grants(db, session_id), branch)
    finally:
        db.rollback()  # nothing was written


def sessions(
    db: sqlite3.Connection, user_id: str, limit: int, before: tuple[str, str] | None, deleted: bool
) -> tuple[SessionInfo, ...]:
    """A page of the user's visible chats, newest first; those that are deleted, or those that are not."""
    found = db.execute(
        f"{rows.SESSION} WHERE s.user_id = ?1 AND s.visible = 1 AND s.deleted = ?2"
        " AND (?3 IS NULL OR (s.updated_at, s.id) < (?3, ?4)) ORDER BY s.updated_at DESC, s.id DESC LIMIT ?5",
        (user_id, int(deleted), *(before or (None, None)), limit),
    )
    return tuple(map(rows.session_info, found))


def unfinished(db: sqlite3.Connection) -> tuple[SessionRow, ...]:
    """Chats with an unfinished turn."""
    found = db.execute(f"{rows.SESSION} WHERE s.turn_id IS NOT NULL ORDER BY s.id")
    return tuple(map(rows.session_row, found))


def intent(db: sqlite3.Connection, session_id: str) -> StoredIntent:
    """The chat's intent."""
    found = db.execute("SELECT * FROM session_config WHERE session_id = ?", (session_id,)).fetchone()
    return StoredIntent() if found is None else rows.stored_intent(found)


def nodes(db: sqlite3.Connection, session_id: str) -> tuple[Node, ...]:
    """The message tree in order of insertion."""
    found = db.execute("SELECT id, parent_id, role FROM messages WHERE session_id = ? ORDER BY n", (session_id,))
    return tuple(map(rows.node, found))


def messages(db: sqlite3.Connection, session_id: str, ids: Sequence[str]) -> tuple[Message, ...]:
    """Those messages of the chat, in the order of `ids`."""
    found = db.execute(
        "SELECT id, body FROM messages WHERE session_id = ? AND id IN (SELECT value FROM json_each(?))",
        (session_id, encode(list(ids)).decode()),
    )
    by_id = {row["id"]: rows.message(row) for row in found}
    return tuple(by_id[wanted] for wanted in ids if wanted in by_id)


def events(db: sqlite3.Connection, session_id: str, after_seq: int, limit: int) -> tuple[StoredEvent, ...]:
    """A page of the log."""
    found = db.execute(
        f"SELECT from_seq, seq, at, payload FROM events WHERE {_OF_CHAT} AND seq > ? ORDER BY seq LIMIT ?",
        (session_id, after_seq, limit),
    )
    return tuple(StoredEvent(session_id, *row) for row in found)


def backlog(db: sqlite3.Connection, session_id: str, after_seq: int) -> Backlog:
    """Events and bytes after `after_seq`. SQLite takes a blob's length from the row's header."""
    events, size = db.execute(
        f"SELECT count(*), ifnull(sum(length(payload)), 0) FROM events WHERE {_OF_CHAT} AND seq > ?",
        (session_id, after_seq),
    ).fetchone()
    return Backlog(events, size)


def approvals(db: sqlite3.Connection, session_id: str, pending: bool) -> tuple[ApprovalRow, ...]:
    """The chat's approvals, oldest first."""
    condition = " AND pending = 1" if pending else ""
    found = db.execute(f"SELECT * FROM approvals WHERE session_id = ?{condition} ORDER BY n", (session_id,))
    return tuple(map(rows.approval_row, found))


def approval(db: sqlite3.Connection, approval_id: str) -> tuple[str, ApprovalRow] | None:
    """One approval and its chat."""
    found = db.execute("SELECT * FROM approvals WHERE id = ?", (approval_id,)).fetchone()
    return None if found is None else (found["session_id"], rows.approval_row(found))


def questions(db: sqlite3.Connection, session_id: str, pending: bool) -> tuple[QuestionRow, ...]:
    """The chat's questions to the person, oldest first."""
    condition = " AND pending = 1" if pending else ""
    found = db.execute(f"SELECT * FROM questions WHERE session_id = ?{condition} ORDER BY n", (session_id,))
    return tuple(map(rows.question_row, found))


def grants(db: sqlite3.Connection, session_id: str) -> tuple[Grant, ...]:
    """What is allowed for the chat, oldest first."""
    found = db.execute("SELECT tool, pattern, directory FROM grants WHERE session_id = ? ORDER BY n", (session_id,))
    return tuple(map(rows.grant, found))


def queue(db: sqlite3.Connection, session_id: str) -> tuple[QueuedMessage, ...]:
    """The waiting messages, in order."""
    found = db.execute("SELECT * FROM queue WHERE session_id = ? ORDER BY position", (session_id,))
    return tuple(map(rows.queued_message, found))


def usage(db: sqlite3.Connection, session_id: str) -> tuple[UsageRow, ...]:
    """Every counted step, in order."""
    found = db.execute("SELECT * FROM usage WHERE session_id = ? ORDER BY n", (session_id,))
    return tuple(map(rows.usage_row, found))


def steps(db: sqlite3.Connection, session_id: str, message_ids: Collection[str]) -> tuple[StepFinished, ...]:
    """The requests whose answers are these messages, in order."""
    found = db.execute(
        "SELECT message_id, finished FROM usage"
        " WHERE session_id = ? AND message_id IN (SELECT value FROM json_each(?)) ORDER BY n",
        (session_id, encode(list(message_ids)).decode()),
    )
    return tuple(map(rows.step_finished, found))


def remembered(db: sqlite3.Connection, user_id: str, client_id: str, since: str) -> Remembered | None:
    """The action done under this client id, unless that was before `since`."""
    found = db.execute(
        "SELECT digest, ack FROM requests WHERE user_id = ? AND client_id = ? AND at >= ?",
        (user_id, client_id, since),
    ).fetchone()
    return None if found is None else rows.remembered(found)


def setting(db: sqlite3.Connection, user_id: str, key: str) -> JsonValue:
    """A stored setting, or None."""
    found = db.execute("SELECT value FROM settings WHERE user_id = ? AND key = ?", (user_id, key)).fetchone()
    return None if found is None else rows.json_value(found["value"], f"setting {key}")


def token_counts(db: sqlite3.Connection, digests: Collection[str]) -> Mapping[str, int]:
    """Tokens by digest, of the texts that were counted."""
    found = db.execute(
        "SELECT digest, tokens FROM token_counts WHERE digest IN (SELECT value FROM json_each(?))",
        (encode(list(digests)).decode(),),
    )
    return {row["digest"]: row["tokens"] for row in found}
