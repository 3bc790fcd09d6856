"""`kill -9` at any moment: what was acknowledged is there afterwards (spec trust.md R1)."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from openprogram.core.jsonio import encode
from openprogram.core.ports import Store
from openprogram.core.storage import StoredEvent
from openprogram.store.sqlite import SqliteStore
from tests.support.store_children import start
from tests.support.store_dump import log_of
from tests.support.store_values import delta

CHATS = ("s_1", "s_2", "s_3")


async def killed_after(path: Path, lines: int) -> list[dict[str, Any]]:
    """Let a process write until it has acknowledged so many commits, kill it, and return all it acknowledged."""
    child = await start("stream", path)
    assert child.stdout is not None
    said = [await child.stdout.readline() for _ in range(lines)]
    child.kill()
    rest = await child.stdout.read()
    await child.wait()
    said += rest.splitlines(keepends=True)
    return [json.loads(line) for line in said if line.endswith(b"\n")]


async def assert_there(store: Store, acknowledged: dict[str, Any], log: dict[int, StoredEvent]) -> None:
    session_id = acknowledged["session_id"]
    if "seq" in acknowledged:
        assert log[acknowledged["seq"]].payload == encode(delta(acknowledged["text"]))
        return
    assert len(await store.messages(session_id, [acknowledged["message_id"]])) == 1
    intent = await store.intent(session_id)
    assert intent.revision >= acknowledged["revision"]
    if intent.revision == acknowledged["revision"]:
        assert intent.intent.toolset == acknowledged["toolset"]


@pytest.mark.parametrize("lines", [1, 25, 400])
async def test_every_acknowledged_commit_survives_a_kill(tmp_path: Path, lines: int) -> None:  # R1
    path = tmp_path / "openprogram.db"
    acknowledged = await killed_after(path, lines)
    assert len(acknowledged) >= lines

    store = await SqliteStore.open(path)
    try:
        logs = {chat: {event.seq: event for event in await log_of(store, chat)} for chat in CHATS}
        for each in acknowledged:
            await assert_there(store, each, logs[each["session_id"]])
        for log in logs.values():
            assert list(log) == list(range(1, len(log) + 1))
    finally:
        await store.aclose()
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()


async def test_a_process_that_forgets_to_close_the_store_ends_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "openprogram.db"
    child = await start("forget", path)
    out, err = await child.communicate()
    assert (child.returncode, json.loads(out)) == (1, {"seq": 1})
    assert b"forgot" in err

    store = await SqliteStore.open(path)
    assert len(await store.events("s_1", 0)) == 1
    await store.aclose()


async def test_numbering_goes_on_after_kill_upon_kill(tmp_path: Path) -> None:  # P2
    path = tmp_path / "openprogram.db"
    await killed_after(path, 5)
    store = await SqliteStore.open(path)
    last = (await log_of(store, "s_1"))[-1].seq
    (stored,) = await store.commit("s_1", [delta("again")])
    await store.aclose()

    assert stored.seq == last + 1
