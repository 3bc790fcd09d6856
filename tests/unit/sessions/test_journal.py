"""Append, then publish: what is told was stored, and a lost hint is no failure (design law 8)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from openprogram.bus.local import LocalBus
from openprogram.core.errors import StorageError
from openprogram.core.events import MessageAdded, Notice, SessionChanged, SessionInfo
from openprogram.core.topics import session_topic, user_topic
from openprogram.sessions.journal import Journal
from openprogram.sessions.sidebar import Sidebar
from openprogram.sessions.ticker import Ticker
from tests.support.script import message
from tests.support.sessions import TriedStore, failing

INFO = SessionInfo("s_1", "A chat", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z", visible=True)


class Desk:
    """A journal over a real store and bus, with what was published."""

    def __init__(self, store: TriedStore) -> None:
        self.store = store
        self.bus = LocalBus()
        self.sidebar = Sidebar(store, self.bus, Ticker(0.016))
        self.journal = Journal(store, self.bus, self.sidebar)
        self.published: list[tuple[str, int, int, Sequence[bytes]]] = []
        for topic in (session_topic("s_1"), user_topic("u_1")):
            self.bus.subscribe(topic, self._take)

    def _take(self, topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        self.published.append((topic, first_seq, last_seq, payload.split(b"\n")))


@pytest.fixture
async def desk(tmp_path: Path):
    store = await TriedStore.open(tmp_path / "chats.db")
    assert isinstance(store, TriedStore)
    made = Desk(store)
    serving = asyncio.create_task(made.sidebar.serve())
    await made.journal.commit("s_1", "u_1", (SessionChanged(INFO),))
    await made.sidebar.told()
    made.published.clear()
    yield made
    serving.cancel()
    await store.aclose()


async def test_events_are_published_as_they_are_stored(desk: Desk) -> None:
    stored = await desk.journal.commit("s_1", "u_1", (Notice("a", "one"), Notice("b", "two")))
    assert [event.seq for event in stored] == [2, 3]
    (topic, first, last, frames) = desk.published[0]
    assert (topic, first, last) == (session_topic("s_1"), 2, 3)
    assert [orjson.loads(frame)["seq"] for frame in frames] == [2, 3]
    assert [orjson.loads(frame)["event"] for frame in frames] == [orjson.loads(event.payload) for event in stored]


async def test_what_is_refused_is_told_to_nobody(desk: Desk) -> None:
    failing(desk.store)
    with pytest.raises(StorageError):
        await desk.journal.commit("s_1", "u_1", (Notice("a", "one"),))
    assert desk.published == []


async def test_news_of_a_chat_reach_the_sidebars_of_its_user(desk: Desk) -> None:
    await desk.journal.commit("s_1", "u_1", (MessageAdded(message("user", "hello", None)),))
    await desk.sidebar.told()
    _, (topic, first, last, frames) = desk.published
    assert (topic, first, last) == (user_topic("u_1"), 0, 0)
    assert orjson.loads(frames[0])["session"]["id"] == "s_1"


async def test_a_hint_that_cannot_be_made_fails_no_commit(desk: Desk) -> None:  # law 8
    desk.store.reads_fail = True
    await desk.journal.commit("s_1", "u_1", (MessageAdded(message("user", "hello", None)),))
    await desk.sidebar.told()
    desk.store.reads_fail = False
    assert [topic for topic, *_ in desk.published] == [session_topic("s_1")]


async def test_a_commit_without_events_is_told_to_nobody(desk: Desk) -> None:
    await desk.journal.commit("s_1", "u_1", ())
    assert desk.published == []


async def test_changes_in_a_row_are_told_once_with_the_newest_description(desk: Desk) -> None:
    for title in ("One", "Two", "Three"):
        await desk.journal.commit("s_1", "u_1", (SessionChanged(replace(INFO, title=title)),))
    await desk.sidebar.told()
    hints = [frames for topic, _, _, frames in desk.published if topic == user_topic("u_1")]
    assert orjson.loads(hints[-1][0])["session"]["title"] == "Three"
