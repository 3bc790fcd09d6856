"""Database rows to values of core. A column that is NULL (the row is older than the column) reads as null.

What cannot be read is `DatabaseCorrupt`, never a default: an unreadable intent must not widen what a chat may
do (design law 6).
"""

import sqlite3
from collections.abc import Hashable
from functools import cache
from typing import Any, Final, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from openprogram.core.asking import ApprovalRequested, QuestionAnswer, QuestionAsked, QuestionRow
from openprogram.core.errors import BadJson, DatabaseCorrupt
from openprogram.core.events import PermissionMode, SessionInfo, SessionStatus, StepFinished, TurnFinished
from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.jsonio import JsonValue, decode
from openprogram.core.messages import Message, QueuedMessage
from openprogram.core.protocol.codec import decode_message
from openprogram.core.storage import ApprovalRow, Grant, Node, Note, Remembered, SessionRow, UsageRow
from openprogram.core.surface import Surface
from openprogram.core.usage import Usage

_T = TypeVar("_T")

SESSION: Final = """
SELECT s.*,
    (SELECT max(seq) FROM events WHERE chat = s.n) AS last_seq,
    EXISTS (SELECT 1 FROM approvals WHERE session_id = s.id AND pending = 1)
        OR EXISTS (SELECT 1 FROM questions WHERE session_id = s.id AND pending = 1) AS waiting
FROM sessions s
"""
"""What `session_row` and `session_info` need."""


def session_info(row: sqlite3.Row) -> SessionInfo:
    """The description of a chat; its status follows from its turn and its pending approvals."""
    status: SessionStatus = "idle"
    if row["turn_id"] is not None:
        status = "running"
    if row["waiting"]:
        status = "waiting"
    mode: PermissionMode = row["permission_mode"]
    return SessionInfo(
        id=row["id"],
        title=row["title"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        visible=bool(row["visible"]),
        pinned=bool(row["pinned"]),
        deleted=bool(row["deleted"]),
        status=status,
        model=row["model"],
        permission_mode=mode,
        workspace=row["workspace"],
        leaf_id=row["leaf_id"],
    )


def session_row(row: sqlite3.Row) -> SessionRow:
    """A chat with what only the server needs."""
    surface, outcome = row["surface"], row["outcome"]
    return SessionRow(
        info=session_info(row),
        user_id=row["user_id"],
        last_seq=row["last_seq"] or 0,
        turn_id=row["turn_id"],
        turn_seq=row["turn_seq"],
        surface=None if surface is None else typed(Surface, surface, f"the surface of chat {row['id']}"),
        loaded=_names(row["loaded"], f"the loaded tools of chat {row['id']}") or (),
        outcome=None if outcome is None else typed(TurnFinished, outcome, f"the last turn of chat {row['id']}"),
        outcome_at=None if outcome is None else row["outcome_at"],
        notes=notes(row["notes"], row["id"]),
        forced_epoch=row["forced_epoch"],
    )


def notes(data: bytes | None, session_id: str) -> tuple[Note, ...]:
    """A chat's notes, oldest first, from their stored JSON."""
    return () if data is None else typed(tuple[Note, ...], data, f"the notes of chat {session_id}")


def stored_intent(row: sqlite3.Row) -> StoredIntent:
    """A chat's row of `session_config`."""
    what = f"the intent of chat {row['session_id']}"
    intent = ToolIntent(
        enabled=_flag(row["enabled"]),
        toolset=row["toolset"],
        web_search=_flag(row["web_search"]),
        disabled=_names(row["disabled"], what) or (),
        picked=_names(row["picked"], what),
        allowed=_names(row["allowed"], what),
    )
    return StoredIntent(intent, row["revision"])


def node(row: sqlite3.Row) -> Node:
    """A message's place in the tree."""
    return Node(row["id"], row["parent_id"], row["role"])


def message(row: sqlite3.Row) -> Message:
    """A message, from its stored JSON."""
    try:
        return decode_message(row["body"])
    except ValidationError as error:
        raise _unreadable(f"message {row['id']}", error) from error


def approval_row(row: sqlite3.Row) -> ApprovalRow:
    """An approval with its answer, if it has one."""
    request = typed(ApprovalRequested, row["request"], f"approval {row['id']}")
    return ApprovalRow(request, bool(row["pending"]), row["decision"], row["note"])


def question_row(row: sqlite3.Row) -> QuestionRow:
    """A question with its answer, if it has one."""
    asked = typed(QuestionAsked, row["asked"], f"question {row['id']}")
    answer = None if row["answer"] is None else typed(QuestionAnswer, row["answer"], f"the answer to {row['id']}")
    return QuestionRow(asked, bool(row["pending"]), answer)


def grant(row: sqlite3.Row) -> Grant:
    """Something allowed for a chat."""
    return Grant(row["tool"], row["pattern"], row["directory"])


def queued_message(row: sqlite3.Row) -> QueuedMessage:
    """A message that waits."""
    return typed(QueuedMessage, row["body"], f"a waiting message of chat {row['session_id']}")


def usage_row(row: sqlite3.Row) -> UsageRow:
    """One counted step."""
    usage = Usage(
        uncached=row["uncached"],
        cache_read=row["cache_read"],
        cache_write_5m=row["cache_write_5m"],
        cache_write_1h=row["cache_write_1h"],
        output=row["output"],
        reasoning=row["reasoning"],
        searches=row["searches"],
    )
    return UsageRow(row["turn_id"], row["step"], row["model"], usage, row["cost"], row["kind"] or "step")


def step_finished(row: sqlite3.Row) -> StepFinished:
    """All that is known of a counted step."""
    return typed(StepFinished, row["finished"], f"the request behind message {row['message_id']}")


def remembered(row: sqlite3.Row) -> Remembered:
    """An action that was done."""
    return Remembered(row["digest"], row["ack"])


def json_value(data: bytes | str, what: str) -> JsonValue:
    """Stored JSON; `what` names it in the error."""
    try:
        return decode(data)
    except BadJson as error:
        raise _unreadable(what, error) from error


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _names(value: str | None, what: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    return typed(tuple[str, ...], value, what)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def typed(kind: type[_T], data: bytes | str, what: str) -> _T:
    """A value from its stored JSON; `what` names it in the error."""
    try:
        value: _T = _adapter(cast(Hashable, kind)).validate_json(data)
    except ValidationError as error:
        raise _unreadable(what, error) from error
    return value


def _unreadable(what: str, error: Exception) -> DatabaseCorrupt:
    return DatabaseCorrupt(
        f"{what} cannot be read from the database: {error}",
        hint="The row was damaged or changed by hand. Restore a backup, or remove the row.",
    )
