"""The log of a chat: numbered without gaps, in order, all or nothing, readable from any point."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.core.errors import Conflict, UnknownSession
from openprogram.core.events import Event
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import encode
from openprogram.core.ports import Store
from openprogram.core.protocol.codec import decode_event
from openprogram.core.storage import Backlog, PutIntent, StoredEvent, Write
from tests.support.store_dump import dump, log_of
from tests.support.store_places import NewPlace, opened
from tests.support.store_values import EPOCH, HandClock, delta, events, new_chat, writes

CHATS = ("s_1", "s_2", "s_3")
IMPOSSIBLE = PutIntent(ToolIntent(), expected_revision=99)


async def test_a_commit_returns_the_events_as_they_are_stored(store: Store, clock: HandClock) -> None:
    await store.commit("s_1", [], [new_chat()])
    clock.now = EPOCH + 1.5
    stored = await store.commit("s_1", [delta("a"), delta("b")])

    at = "2026-01-01T00:00:01.500Z"
    assert stored == (
        StoredEvent("s_1", 1, 1, at, encode(delta("a"))),
        StoredEvent("s_1", 2, 2, at, encode(delta("b"))),
    )
    assert await store.events("s_1", 0) == stored


async def test_a_chat_begins_with_the_events_of_the_commit_that_makes_it(store: Store) -> None:
    stored = await store.commit("s_1", [delta("a"), delta("b")], [new_chat()])

    assert [event.seq for event in stored] == [1, 2]
    row = await store.session("s_1")
    assert row is not None
    assert row.last_seq == 2


@given(
    st.lists(st.tuples(st.sampled_from(CHATS), st.lists(st.integers(0, 9), max_size=3)), max_size=25),
)
@settings(max_examples=25)
async def test_seqs_are_gapless_and_in_the_order_of_the_calls(
    new_place: NewPlace, commits: list[tuple[str, list[int]]]
) -> None:  # P2
    async with opened(new_place()) as store:
        for session_id in CHATS:
            await store.commit(session_id, [], [new_chat(session_id)])
        answers = await asyncio.gather(
            *(
                store.commit(session_id, [delta(f"{number}.{part}") for part in parts])
                for number, (session_id, parts) in enumerate(commits)
            )
        )
        for session_id in CHATS:
            log = await log_of(store, session_id, page=7)
            said = [
                encode(delta(f"{number}.{part}"))
                for number, (chat, parts) in enumerate(commits)
                for part in parts
                if chat == session_id
            ]
            assert [event.payload for event in log] == said
            assert [(event.from_seq, event.seq) for event in log] == [(n, n) for n in range(1, len(log) + 1)]
            mine = [answer for answer, (chat, _) in zip(answers, commits, strict=True) if chat == session_id]
            assert [event for answer in mine for event in answer] == log


@given(st.lists(st.lists(events, min_size=1, max_size=4), max_size=5))
@settings(max_examples=25)
async def test_replay_from_any_cut_is_the_rest_of_the_log(
    new_place: NewPlace, commits: list[list[Event]]
) -> None:  # P2
    async with opened(new_place()) as store:
        await store.commit("s_1", [], [new_chat()])
        for happened in commits:
            await store.commit("s_1", happened)
        log = await log_of(store, "s_1")
        assert [decode_event(event.payload) for event in log] == [event for each in commits for event in each]
        for cut in range(len(log) + 2):
            rest = tuple(log[cut:])
            assert await store.events("s_1", cut) == rest
            assert await store.events("s_1", cut, limit=2) == rest[:2]
            size = sum(len(event.payload) for event in rest)
            assert await store.backlog("s_1", cut) == Backlog(len(rest), size)


async def test_a_page_has_500_events_by_default(store: Store) -> None:
    await store.commit("s_1", [delta()] * 501, [new_chat()])

    assert [event.seq for event in await store.events("s_1", 0)] == list(range(1, 501))
    assert [event.seq for event in await store.events("s_1", 500)] == [501]


@given(st.lists(writes, max_size=4), st.lists(writes, max_size=4), st.integers(0, 4))
@settings(max_examples=40)
async def test_a_commit_with_a_failing_write_does_nothing_at_all(
    new_place: NewPlace, first: list[Write], second: list[Write], place: int
) -> None:
    async with opened(new_place()) as store:
        await store.commit("s_1", [delta()], [new_chat()])
        for write in first:
            await asyncio.gather(store.commit("s_1", [delta()], [write]), return_exceptions=True)
        before = await dump(store, ["s_1"])
        with pytest.raises(Conflict):
            await store.commit("s_1", [delta("never")], [*second[:place], IMPOSSIBLE, *second[place:]])
        assert await dump(store, ["s_1"]) == before


async def test_a_failing_commit_leaves_no_gap_and_harms_none_beside_it(store: Store) -> None:
    await store.commit("s_1", [], [new_chat("s_1")])
    await store.commit("s_2", [], [new_chat("s_2")])
    outcomes = await asyncio.gather(
        store.commit("s_1", [delta("a")]),
        store.commit("s_1", [delta("never")], [IMPOSSIBLE]),
        store.commit("s_2", [delta("b")]),
        store.commit("s_nobody", [delta("never")]),
        store.commit("s_1", [delta("c")]),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [tuple, Conflict, tuple, UnknownSession, tuple]
    for session_id, said in (("s_1", ["a", "c"]), ("s_2", ["b"])):
        log = await log_of(store, session_id)
        assert [event.payload for event in log] == [encode(delta(text)) for text in said]
        assert [event.seq for event in log] == list(range(1, len(said) + 1))


async def test_a_chat_that_was_never_made_takes_nothing(store: Store) -> None:
    with pytest.raises(UnknownSession):
        await store.commit("s_1", [delta()])
    with pytest.raises(UnknownSession):
        await store.commit("s_1", [], [PutIntent(ToolIntent(), 0)])

    assert await store.session("s_1") is None
    assert await store.events("s_1", 0) == ()
    assert await store.backlog("s_1", 0) == Backlog(0, 0)
