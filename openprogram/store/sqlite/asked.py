"""Writing what a person is asked: approvals and questions, pending until answered or moot."""

import sqlite3

from openprogram.core.asking import PutQuestion, ResolveQuestion
from openprogram.core.errors import Conflict
from openprogram.core.jsonio import encode
from openprogram.core.storage import PutApproval, ResolveApproval


def put_approval(db: sqlite3.Connection, write: PutApproval, session_id: str) -> None:
    """Keep a pending approval. Raises `Conflict` if its id exists."""
    request = write.request
    done = db.execute(
        """INSERT INTO approvals (id, session_id, request, pending) VALUES (?, ?, ?, 1)
        ON CONFLICT (id) DO NOTHING""",
        (request.approval_id, session_id, encode(request)),
    )
    if not done.rowcount:
        raise Conflict(f"there is an approval {request.approval_id} already")


def resolve_approval(db: sqlite3.Connection, write: ResolveApproval, session_id: str) -> None:
    """Answer a pending approval. Raises `Conflict` if it is not pending."""
    done = db.execute(
        """UPDATE approvals SET pending = 0, decision = ?, note = ?
        WHERE id = ? AND session_id = ? AND pending = 1""",
        (write.decision, write.note, write.approval_id, session_id),
    )
    if not done.rowcount:
        raise Conflict(f"no approval {write.approval_id} is pending in chat {session_id}")


def put_question(db: sqlite3.Connection, write: PutQuestion, session_id: str) -> None:
    """Keep a pending question. Raises `Conflict` if its id exists."""
    done = db.execute(
        """INSERT INTO questions (id, session_id, asked, pending) VALUES (?, ?, ?, 1)
        ON CONFLICT (id) DO NOTHING""",
        (write.asked.question_id, session_id, encode(write.asked)),
    )
    if not done.rowcount:
        raise Conflict(f"there is a question {write.asked.question_id} already")


def resolve_question(db: sqlite3.Connection, write: ResolveQuestion, session_id: str) -> None:
    """Answer a pending question. Raises `Conflict` if it is not pending."""
    done = db.execute(
        """UPDATE questions SET pending = 0, answer = ?
        WHERE id = ? AND session_id = ? AND pending = 1""",
        (None if write.answer is None else encode(write.answer), write.question_id, session_id),
    )
    if not done.rowcount:
        raise Conflict(f"no question {write.question_id} is pending in chat {session_id}")
