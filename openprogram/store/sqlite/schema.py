"""The tables, as numbered migrations. A migration that was released is never edited: add the next one.

Rowid tables, also where the key is text: the log was measured faster so than WITHOUT ROWID. A column that a
later migration adds is NULL in older rows and is read as null. `n` is the order of insertion.
"""

from dataclasses import dataclass
from typing import Final

APPLICATION_ID: Final = 0x6F706E70
"""`opnp` in the file's header tells this database from another program's."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema. Its number is its place in `MIGRATIONS`, from 1."""

    name: str
    statements: tuple[str, ...]


_SESSIONS = """
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    visible INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    model TEXT,
    permission_mode TEXT NOT NULL,
    workspace TEXT,
    leaf_id TEXT,
    turn_id TEXT,
    turn_seq INTEGER,
    surface BLOB
)"""

_SESSION_CONFIG = """
CREATE TABLE session_config (
    session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    enabled INTEGER,
    toolset TEXT,
    web_search INTEGER,
    disabled TEXT,
    picked TEXT,
    allowed TEXT,
    revision INTEGER NOT NULL
)"""

_MESSAGES = """
CREATE TABLE messages (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    parent_id TEXT,
    role TEXT NOT NULL,
    body BLOB NOT NULL
)"""

_EVENTS = """
CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    payload BLOB NOT NULL,
    UNIQUE (session_id, seq)
)"""

_APPROVALS = """
CREATE TABLE approvals (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    request BLOB NOT NULL,
    pending INTEGER NOT NULL,
    decision TEXT,
    note TEXT
)"""

_QUESTIONS = """
CREATE TABLE questions (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    asked BLOB NOT NULL,
    pending INTEGER NOT NULL,
    answer BLOB
)"""

_GRANTS = """
CREATE TABLE grants (
    n INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    pattern TEXT NOT NULL,
    UNIQUE (session_id, tool, pattern)
)"""

_QUEUE = """
CREATE TABLE queue (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (session_id, position)
)"""

_USAGE = """
CREATE TABLE usage (
    n INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn_id TEXT NOT NULL,
    step INTEGER NOT NULL,
    at TEXT NOT NULL,
    model TEXT NOT NULL,
    uncached INTEGER,
    cache_read INTEGER,
    cache_write_5m INTEGER,
    cache_write_1h INTEGER,
    output INTEGER,
    reasoning INTEGER,
    cost REAL,
    UNIQUE (session_id, turn_id, step)
)"""

_REQUESTS = """
CREATE TABLE requests (
    user_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    ack BLOB NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (user_id, client_id)
)"""

_SETTINGS = """
CREATE TABLE settings (
    user_id TEXT NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (user_id, key)
)"""

_NUMBERED_EVENTS = """
CREATE TABLE numbered_events (
    chat INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    payload BLOB NOT NULL,
    UNIQUE (chat, seq)
)"""

_TOKEN_COUNTS = """
CREATE TABLE token_counts (
    digest TEXT NOT NULL PRIMARY KEY,
    tokens INTEGER NOT NULL
)"""

_SEGMENTS = """
CREATE TABLE segments (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    digest TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (session_id, digest)
)"""

_SENT = """
CREATE TABLE sent (
    n INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    record BLOB NOT NULL
)"""

MIGRATIONS: Final = (
    Migration(
        "first tables",
        (
            _SESSIONS,
            "CREATE INDEX sessions_of_user ON sessions (user_id, updated_at, id)",
            "CREATE INDEX sessions_in_turn ON sessions (id) WHERE turn_id IS NOT NULL",
            "CREATE INDEX sessions_drafted ON sessions (updated_at) WHERE visible = 0",
            _SESSION_CONFIG,
            _MESSAGES,
            "CREATE INDEX messages_of_session ON messages (session_id)",
            _EVENTS,
            _APPROVALS,
            "CREATE INDEX approvals_of_session ON approvals (session_id, pending)",
            _GRANTS,
            _QUEUE,
            _USAGE,
            _REQUESTS,
            "CREATE INDEX requests_by_age ON requests (at)",
            _SETTINGS,
        ),
    ),
    Migration("loaded tools", ("ALTER TABLE sessions ADD COLUMN loaded TEXT", _TOKEN_COUNTS)),
    Migration(
        "what a reload shows",
        (
            "ALTER TABLE sessions ADD COLUMN outcome BLOB",
            "ALTER TABLE sessions ADD COLUMN outcome_at TEXT",
            "ALTER TABLE sessions ADD COLUMN notes BLOB",
            "ALTER TABLE usage ADD COLUMN message_id TEXT",
            "ALTER TABLE usage ADD COLUMN finished BLOB",
        ),
    ),
    Migration("questions", (_QUESTIONS, "CREATE INDEX questions_of_session ON questions (session_id, pending)")),
    Migration(
        "events by the chat's number",  # with many chats that stream, a row with a long key in its index costs twice
        (
            "ALTER TABLE sessions ADD COLUMN n INTEGER",
            "UPDATE sessions SET n = rowid",
            "CREATE UNIQUE INDEX sessions_by_number ON sessions (n)",
            _NUMBERED_EVENTS,
            """INSERT INTO numbered_events
            SELECT s.n, e.seq, e.from_seq, e.at, e.payload FROM events e JOIN sessions s ON s.id = e.session_id
            ORDER BY e.rowid""",
            "DROP TABLE events",
            "ALTER TABLE numbered_events RENAME TO events",
        ),
    ),
    Migration("directories of grants", ("ALTER TABLE grants ADD COLUMN directory TEXT",)),
    Migration(
        "what was sent",
        (
            "ALTER TABLE usage ADD COLUMN kind TEXT",
            _SEGMENTS,
            _SENT,
            "CREATE INDEX sent_of_session ON sent (session_id)",
        ),
    ),
    Migration(
        "forced rebases, hosted searches",
        ("ALTER TABLE sessions ADD COLUMN forced_epoch INTEGER", "ALTER TABLE usage ADD COLUMN searches INTEGER"),
    ),
)
