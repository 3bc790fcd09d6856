CREATE TABLE approvals (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    request BLOB NOT NULL,
    pending INTEGER NOT NULL,
    decision TEXT,
    note TEXT
);
CREATE TABLE "events" (
    chat INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    payload BLOB NOT NULL,
    UNIQUE (chat, seq)
);
CREATE TABLE grants (
    n INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    pattern TEXT NOT NULL, directory TEXT,
    UNIQUE (session_id, tool, pattern)
);
CREATE TABLE messages (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    parent_id TEXT,
    role TEXT NOT NULL,
    body BLOB NOT NULL
);
CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE TABLE questions (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    asked BLOB NOT NULL,
    pending INTEGER NOT NULL,
    answer BLOB
);
CREATE TABLE queue (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (session_id, position)
);
CREATE TABLE requests (
    user_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    ack BLOB NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
CREATE TABLE segments (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    digest TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (session_id, digest)
);
CREATE TABLE sent (
    n INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    record BLOB NOT NULL
);
CREATE TABLE session_config (
    session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    enabled INTEGER,
    toolset TEXT,
    web_search INTEGER,
    disabled TEXT,
    picked TEXT,
    allowed TEXT,
    revision INTEGER NOT NULL
);
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
, loaded TEXT, outcome BLOB, outcome_at TEXT, notes BLOB, n INTEGER, forced_epoch INTEGER);
CREATE TABLE settings (
    user_id TEXT NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE TABLE token_counts (
    digest TEXT NOT NULL PRIMARY KEY,
    tokens INTEGER NOT NULL
);
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
    cost REAL, message_id TEXT, finished BLOB, kind TEXT, searches INTEGER,
    UNIQUE (session_id, turn_id, step)
);
CREATE INDEX approvals_of_session ON approvals (session_id, pending);
CREATE INDEX messages_of_session ON messages (session_id);
CREATE INDEX questions_of_session ON questions (session_id, pending);
CREATE INDEX requests_by_age ON requests (at);
CREATE INDEX sent_of_session ON sent (session_id);
CREATE UNIQUE INDEX sessions_by_number ON sessions (n);
CREATE INDEX sessions_drafted ON sessions (updated_at) WHERE visible = 0;
CREATE INDEX sessions_in_turn ON sessions (id) WHERE turn_id IS NOT NULL;
CREATE INDEX sessions_of_user ON sessions (user_id, updated_at, id);
