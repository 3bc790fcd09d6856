"""Every schema that was ever released, kept as files: an old database must open and read as it always did.

`schema_vN.sql` is what the tables looked like at version N, `rows_vN.sql` a row of each kind as that version wrote it.
Neither is ever edited: a new migration adds a pair.
"""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from openprogram.core.asking import QuestionAnswer, QuestionRow
from openprogram.core.events import ErrorInfo, ErrorRaised, Notice, SessionInfo, StepFinished, TurnFinished
from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.messages import Message, QueuedMessage, ReasoningBlock, TextBlock, ToolUseBlock
from openprogram.core.protocol.codec import decode_event
from openprogram.core.sent import Conditions, SentRecord
from openprogram.core.storage import ApprovalRow, Grant, Node, Note, Remembered, SessionRow, UsageRow
from openprogram.core.surface import Surface
from openprogram.core.usage import CacheRules, CacheVerdict, Price, Usage
from openprogram.store.sqlite import SqliteStore
from openprogram.store.sqlite.schema import APPLICATION_ID, MIGRATIONS
from tests.support.store_values import HandClock, approval, delta, question
from tests.support.tree import ROOT

GOLDEN = ROOT / "tests" / "golden" / "store"
AT = "2026-01-01T00:00:00.000Z"
USAGE = Usage(100, 900, 50, None, 20, 5)
LAST_TURN = (
    TurnFinished("t_0", "error", ErrorInfo("no_credit", "Nothing left.")),
    (
        Note("m_1", Notice("resumed", "It goes on.")),
        Note(None, ErrorRaised(ErrorInfo("unknown_tool", "There is no tool."))),
    ),
    (
        StepFinished(
            "t_1", 1, "m_2", "local/some-model", USAGE, 0.25, CacheVerdict(900, 50, "withdrawn:bash"), 120, 900
        ),
    ),
)

SENT = SentRecord(
    "t_1",
    1,
    "m_2",
    "m_1",
    "local/some-model",
    "openai-chat",
    1767225600.5,
    1,
    0,
    0,
    ("00" * 16,),
    "11" * 16,
    (("messages", 0, None, {"type": "ephemeral"}),),
    Conditions("keep", "unchanged", 3, ("withdrawn:bash",), None, 4, 7, "e_1"),
    CacheRules(300.0, 1024, 128),
    Price(1.0, 2.0, 0.1, 1.25, 2.0),
)


def schema_of(path: Path) -> str:
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name")
        return "".join(f"{sql};\n" for (sql,) in rows)


async def test_the_newest_schema_is_the_recorded_one(tmp_path: Path) -> None:
    path = tmp_path / "openprogram.db"
    await (await SqliteStore.open(path)).aclose()

    assert schema_of(path) == (GOLDEN / f"schema_v{len(MIGRATIONS)}.sql").read_text(encoding="utf-8")


def database(folder: Path, version: int) -> Path:
    """A database as that version left it."""
    path = folder / "openprogram.db"
    names = (f"schema_v{version}.sql", f"rows_v{version}.sql")
    with closing(sqlite3.connect(path)) as db:
        parts = [(GOLDEN / name).read_text(encoding="utf-8") for name in names]
        db.executescript(f"BEGIN; {''.join(parts)} PRAGMA application_id = {APPLICATION_ID}; COMMIT;")
    return path


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    """A database as version 1 left it."""
    return database(tmp_path, 1)


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS) + 1))
async def test_a_database_of_any_version_reads_as_it_was_written(tmp_path: Path, version: int) -> None:
    store = await SqliteStore.open(database(tmp_path, version), HandClock())
    info = SessionInfo(
        *("s_1", "Plans", AT, AT, True, True, False, "waiting"),
        *("local/some-model", "accept_edits", "/home/me/plans", "m_2"),
    )
    surface = Surface("local/some-model", 3, ({"name": "read"},), ("bash",), "d41d", 1767225600.5)
    loaded: tuple[str, ...] = ()
    if version >= 2:
        surface, loaded = replace(surface, catalog="Tools:\nweather"), ("weather", "notes")
    outcome, notes, finished = LAST_TURN if version >= 3 else (None, (), ())
    override = ToolIntent(picked=("read",))
    said = Message("m_1", None, "user", (TextBlock("Look it up"),), AT, override=override)
    answer = Message(
        "m_2",
        "m_1",
        "assistant",
        (ReasoningBlock("hm", "sig"), ToolUseBlock("c_1", "bash", {"command": "ls"})),
        AT,
        "t_1",
        "interrupted",
        "local/some-model",
    )

    forced = 3 if version >= 8 else None
    assert await store.session("s_1") == SessionRow(
        info, "u_1", 2, "t_1", 2, surface, loaded, outcome, AT if outcome else None, notes, forced
    )
    intent = ToolIntent(True, "research", False, ("bash",), None, ("web_*",))
    assert await store.intent("s_1") == StoredIntent(intent, 4)
    assert await store.nodes("s_1") == (Node("m_1", None, "user"), Node("m_2", "m_1", "assistant"))
    assert await store.messages("s_1", ["m_1", "m_2"]) == (said, answer)
    assert [decode_event(event.payload) for event in await store.events("s_1", 0)] == [delta("a"), delta("b")]
    assert await store.approvals("s_1", pending=False) == (
        ApprovalRow(approval("a_0"), False, "deny", "not now"),
        ApprovalRow(approval("a_1"), True),
    )
    answered = QuestionRow(question("u_0"), False, QuestionAnswer(("Left",), "but slowly"))
    questions = (answered, QuestionRow(question("u_1"), True))
    assert await store.questions("s_1", pending=False) == (questions if version >= 4 else ())
    assert await store.grants("s_1") == (Grant("bash", "ls *", "/home/me/plans" if version >= 6 else None),)
    waiting = (QueuedMessage("q_1", "and then", "steer", AT), QueuedMessage("q_2", "at last", "queue", AT, override))
    assert await store.queue("s_1") == waiting
    used = replace(USAGE, searches=2) if version >= 8 else USAGE
    counted = UsageRow("t_1", 1, "local/some-model", used, 0.25, "title" if version >= 7 else "step")
    assert await store.usage("s_1") == (counted,)
    expected = ((SENT,), {SENT.digests[0]: b'{"role":"user"}'}) if version >= 7 else ((), {})
    assert (await store.sent("s_1"), await store.segments("s_1", SENT.digests)) == expected
    assert await store.steps("s_1", ["m_1", "m_2"]) == finished
    assert await store.remembered("u_1", "c1") == Remembered("abc", b'{"type":"ack","id":"c1"}')
    assert await store.setting("u_1", "theme") == {"dark": True}
    assert await store.token_counts(["0a1b", "unknown"]) == ({"0a1b": 42} if version >= 2 else {})
    await store.aclose()


@pytest.mark.parametrize("field", ["enabled", "toolset", "web_search", "disabled", "picked", "allowed"])
async def test_a_row_from_before_a_column_existed_reads_as_null_for_it(version_1: Path, field: str) -> None:  # T2
    with closing(sqlite3.connect(version_1)) as db:
        # What a migration that adds the column would have left in the rows that were there.
        db.execute(f"ALTER TABLE session_config DROP COLUMN {field}")
        db.execute(f"ALTER TABLE session_config ADD COLUMN {field}")
        db.commit()
    store = await SqliteStore.open(version_1)
    stored = await store.intent("s_1")
    await store.aclose()

    assert stored.revision == 4
    assert getattr(stored.intent, field) == (() if field == "disabled" else None)
    assert stored.intent != ToolIntent()
