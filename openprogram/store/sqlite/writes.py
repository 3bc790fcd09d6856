"""One function per kind of write, for the writer's transaction. A failed condition raises `Conflict`."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from openprogram.core.asking import PutQuestion, ResolveQuestion
from openprogram.core.errors import Conflict
from openprogram.core.jsonio import JsonValue, encode
from openprogram.core.sent import PutSent
from openprogram.core.storage import (
    ANYWHERE,
    NOTES_KEPT,
    AddGrant,
    AddNote,
    DropGrants,
    EndTurn,
    Note,
    PutApproval,
    PutIntent,
    PutLoaded,
    PutMessage,
    PutQueue,
    PutSession,
    PutUsage,
    RememberRequest,
    ResolveApproval,
    SetLeaf,
    StartTurn,
    Write,
)
from openprogram.core.surface import EndEpoch, PutSurface
from openprogram.store.sqlite.asked import put_approval, put_question, resolve_approval, resolve_question
from openprogram.store.sqlite.rows import notes
from openprogram.store.sqlite.sent import put_sent


@dataclass(frozen=True, slots=True)
class Unit:
    """Where and when a commit happens: its chat, its time, the seq of its first event.

    Requests older than `remembered_since` are forgotten.
    """

    session_id: str
    at: str
    first_seq: int
    remembered_since: str


def apply(db: sqlite3.Connection, write: Write, unit: Unit) -> None:  # noqa: C901, PLR0912 -- one line per kind of write
    """Do one write. Raises `Conflict` where its condition fails, `sqlite3.Error`."""
    match write:
        case PutSession():
            _put_session(db, write)
        case PutIntent():
            _put_intent(db, write, unit)
        case PutMessage():
            _put_message(db, write, unit)
        case SetLeaf():
            db.execute("UPDATE sessions SET leaf_id = ?, outcome = NULL WHERE id = ?", (write.leaf_id, unit.session_id))
        case StartTurn():
            _start_turn(db, write, unit)
        case EndTurn():
            _end_turn(db, write, unit)
        case AddNote():
            _add_note(db, write, unit)
        case PutSurface():
            db.execute("UPDATE sessions SET surface = ? WHERE id = ?", (encode(write.surface), unit.session_id))
        case EndEpoch():
            db.execute("UPDATE sessions SET forced_epoch = ? WHERE id = ?", (write.epoch, unit.session_id))
        case PutLoaded():
            loaded = _json(list(write.names))
            db.execute("UPDATE sessions SET loaded = ? WHERE id = ?", (loaded, unit.session_id))
        case PutUsage():
            _put_usage(db, write, unit)
        case PutSent():
            put_sent(db, write, unit.session_id)
        case PutApproval():
            put_approval(db, write, unit.session_id)
        case ResolveApproval():
            resolve_approval(db, write, unit.session_id)
        case PutQuestion():
            put_question(db, write, unit.session_id)
        case ResolveQuestion():
            resolve_question(db, write, unit.session_id)
        case AddGrant():
            _add_grant(db, write, unit)
        case DropGrants():
            _drop_grants(db, write, unit)
        case PutQueue():
            _put_queue(db, write, unit)
        case RememberRequest():
            _remember(db, write, unit)
        case _:
            assert_never(write)


def _put_session(db: sqlite3.Connection, write: PutSession) -> None:
    # Leaf, turn and owner are not replaced: the description may have been read before they were written.
    info = write.info
    db.execute(
        """INSERT INTO sessions (id, user_id, title, created_at, updated_at, visible, pinned, deleted,
            model, permission_mode, workspace, leaf_id, n)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT ifnull(max(n), 0) + 1 FROM sessions))
        ON CONFLICT (id) DO UPDATE
        SET title = excluded.title, updated_at = excluded.updated_at, pinned = excluded.pinned,
            visible = max(visible, excluded.visible), deleted = excluded.deleted, model = excluded.model,
            permission_mode = excluded.permission_mode, workspace = excluded.workspace""",
        (
            info.id,
            write.user_id,
            info.title,
            info.created_at,
            info.updated_at,
            info.visible,
            info.pinned,
            info.deleted,
            info.model,
            info.permission_mode,
            info.workspace,
            info.leaf_id,
        ),
    )


def _put_intent(db: sqlite3.Connection, write: PutIntent, unit: Unit) -> None:
    intent = write.intent
    values = (
        intent.enabled,
        intent.toolset,
        intent.web_search,
        _json(list(intent.disabled)),
        None if intent.picked is None else _json(list(intent.picked)),
        None if intent.allowed is None else _json(list(intent.allowed)),
        write.expected_revision + 1,
        unit.session_id,
    )
    if write.expected_revision == 0:
        done = db.execute(
            """INSERT INTO session_config
                (enabled, toolset, web_search, disabled, picked, allowed, revision, session_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session_id) DO NOTHING""",
            values,
        )
    else:
        done = db.execute(
            """UPDATE session_config SET enabled = ?, toolset = ?, web_search = ?, disabled = ?, picked = ?,
                allowed = ?, revision = ? WHERE session_id = ? AND revision = ?""",
            (*values, write.expected_revision),
        )
    if not done.rowcount:
        raise Conflict(f"the tool settings of chat {unit.session_id} are not at revision {write.expected_revision}")


def _put_message(db: sqlite3.Connection, write: PutMessage, unit: Unit) -> None:
    message = write.message
    done = db.execute(
        """INSERT INTO messages (id, session_id, parent_id, role, body) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (id) DO NOTHING""",
        (message.id, unit.session_id, message.parent_id, message.role, encode(message)),
    )
    if not done.rowcount:
        raise Conflict(f"there is a message {message.id} already")
    db.execute("UPDATE sessions SET visible = 1, updated_at = ? WHERE id = ?", (unit.at, unit.session_id))


def _start_turn(db: sqlite3.Connection, write: StartTurn, unit: Unit) -> None:
    db.execute(
        "UPDATE sessions SET turn_seq = iif(turn_id = ?1, turn_seq, ?2), turn_id = ?1, outcome = NULL WHERE id = ?3",
        (write.turn_id, unit.first_seq, unit.session_id),
    )


def _end_turn(db: sqlite3.Connection, write: EndTurn, unit: Unit) -> None:
    db.execute(
        "UPDATE sessions SET turn_id = NULL, turn_seq = NULL, outcome = ?, outcome_at = ? WHERE id = ? AND turn_id = ?",
        (encode(write.outcome), unit.at, unit.session_id, write.outcome.turn_id),
    )


def _add_note(db: sqlite3.Connection, write: AddNote, unit: Unit) -> None:
    leaf_id, data = db.execute("SELECT leaf_id, notes FROM sessions WHERE id = ?", (unit.session_id,)).fetchone()
    kept = (*notes(data, unit.session_id), Note(leaf_id, write.event))[-NOTES_KEPT:]
    db.execute("UPDATE sessions SET notes = ? WHERE id = ?", (encode(kept), unit.session_id))


def _put_usage(db: sqlite3.Connection, write: PutUsage, unit: Unit) -> None:
    row, usage = write.row, write.row.usage
    db.execute(
        """INSERT INTO usage (session_id, turn_id, step, at, model, uncached, cache_read, cache_write_5m,
            cache_write_1h, output, reasoning, cost, kind, message_id, finished, searches)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session_id, turn_id, step) DO NOTHING""",
        (
            unit.session_id,
            row.turn_id,
            row.step,
            unit.at,
            row.model,
            usage.uncached,
            usage.cache_read,
            usage.cache_write_5m,
            usage.cache_write_1h,
            usage.output,
            usage.reasoning,
            row.cost,
            row.kind,
            None if write.finished is None else write.finished.message_id,
            None if write.finished is None else encode(write.finished),
            usage.searches,
        ),
    )


def _add_grant(db: sqlite3.Connection, write: AddGrant, unit: Unit) -> None:
    grant = write.grant
    db.execute(
        """INSERT INTO grants (session_id, tool, pattern, directory) VALUES (?, ?, ?, ?)
        ON CONFLICT (session_id, tool, pattern) DO UPDATE SET directory = excluded.directory""",
        (unit.session_id, grant.tool, grant.pattern, grant.directory),
    )


def _drop_grants(db: sqlite3.Connection, write: DropGrants, unit: Unit) -> None:
    db.execute(
        "DELETE FROM grants WHERE session_id = ? AND (directory IS NULL OR directory NOT IN (?, ?))",
        (unit.session_id, ANYWHERE, write.directory),
    )


def _put_queue(db: sqlite3.Connection, write: PutQueue, unit: Unit) -> None:
    db.execute("DELETE FROM queue WHERE session_id = ?", (unit.session_id,))
    db.executemany(
        "INSERT INTO queue (session_id, position, body) VALUES (?, ?, ?)",
        [(unit.session_id, position, encode(queued)) for position, queued in enumerate(write.queue)],
    )


def _remember(db: sqlite3.Connection, write: RememberRequest, unit: Unit) -> None:
    done = db.execute(
        """INSERT INTO requests (user_id, client_id, digest, ack, at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (user_id, client_id) DO UPDATE
        SET digest = excluded.digest, ack = excluded.ack, at = excluded.at WHERE at < ?""",
        (write.user_id, write.client_id, write.digest, write.ack, unit.at, unit.remembered_since),
    )
    if not done.rowcount:
        raise Conflict(f"the request {write.client_id} was done already")


# -- what is no part of a chat's commit --------------------------------------------------------------


def put_setting(
    db: sqlite3.Connection, user_id: str, key: str, data: bytes | None, request: RememberRequest | None, unit: Unit
) -> Conflict | None:
    """Store a setting's JSON, None deletes it, and the request. Nothing is done where that was done already."""
    if request is not None:
        try:
            _remember(db, request, unit)
        except Conflict as conflict:
            return conflict
    if data is None:
        db.execute("DELETE FROM settings WHERE user_id = ? AND key = ?", (user_id, key))
    else:
        db.execute(
            """INSERT INTO settings (user_id, key, value) VALUES (?, ?, ?)
            ON CONFLICT (user_id, key) DO UPDATE SET value = excluded.value""",
            (user_id, key, data),
        )
    return None


def put_token_counts(db: sqlite3.Connection, counts: Mapping[str, int]) -> None:
    """Remember how many tokens texts have, by their digests."""
    db.executemany("INSERT INTO token_counts VALUES (?, ?) ON CONFLICT (digest) DO NOTHING", list(counts.items()))


def sweep(db: sqlite3.Connection, drafts_before: str, requests_before: str) -> int:
    """Delete drafts, with all that hangs on them, and requests older than these times; how many went."""
    drafts = db.execute("DELETE FROM sessions WHERE visible = 0 AND updated_at < ?", (drafts_before,))
    requests = db.execute("DELETE FROM requests WHERE at < ?", (requests_before,))
    return drafts.rowcount + requests.rowcount


def _json(value: JsonValue) -> str:
    return encode(value).decode()
