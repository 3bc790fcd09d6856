"""A store does what the simplest one does, whatever is asked of it; and it all outlives closing and opening."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.core.clock import iso_time
from openprogram.core.errors import OpenProgramError, StorageError
from openprogram.core.events import Event
from openprogram.core.ports import Store
from openprogram.core.storage import Write
from tests.support.memory_store import MemoryState, MemoryStore
from tests.support.store_dump import dump
from tests.support.store_places import NewPlace, opened
from tests.support.store_values import DAY_S, EPOCH, HandClock, delta, descriptions, events, new_chat, writes

CHATS = ("s_1", "s_2")


@dataclass(frozen=True)
class Commit:
    """One commit of a program."""

    session_id: str
    events: list[Event]
    writes: list[Write]

    async def on(self, store: Store) -> object:
        return await store.commit(self.session_id, self.events, self.writes)


@dataclass(frozen=True)
class Sweep:
    """Time passes, then the old goes."""

    days: int

    async def on(self, store: Store) -> object:
        before = iso_time(EPOCH + self.days * DAY_S)
        return await store.sweep(drafts_before=before, requests_before=before)


@st.composite
def commits(draw: st.DrawFn) -> Commit:
    session_id = draw(st.sampled_from(CHATS))
    first = draw(st.lists(descriptions(session_id), max_size=1))
    return Commit(session_id, draw(st.lists(events, max_size=2)), [*first, *draw(st.lists(writes, max_size=3))])


programs = st.lists(st.one_of(commits(), commits(), commits(), st.builds(Sweep, st.integers(0, 3))), max_size=12)


async def outcome_of(store: Store, step: Commit | Sweep) -> object:
    """What a step returned, or what it raised."""
    try:
        return await step.on(store)
    except OpenProgramError as error:
        return type(error)


@given(programs, st.integers(0, 12))
@settings(max_examples=60)
async def test_any_program_has_the_outcomes_and_the_rows_of_the_reference(
    new_place: NewPlace, program: list[Commit | Sweep], closed_after: int
) -> None:
    place, clock, state = new_place(), HandClock(), MemoryState()
    reference = MemoryStore(state, clock)
    store = await place.open(clock)
    try:
        for number, step in enumerate(program):
            clock.now += DAY_S / 4
            assert await outcome_of(store, step) == await outcome_of(reference, step)
            if number == closed_after:
                await store.aclose()
                store = await place.open(clock)
        assert await dump(store, CHATS) == await dump(reference, CHATS)
    finally:
        await store.aclose()


async def test_what_was_accepted_before_closing_is_kept(new_place: NewPlace) -> None:  # R1
    place = new_place()
    async with opened(place) as store:
        await store.commit("s_1", [], [new_chat()])
        accepted = [asyncio.create_task(store.commit("s_1", [delta(str(n))])) for n in range(20)]
        await asyncio.sleep(0)  # they have made their calls
        await store.aclose()
        stored = [event for events in await asyncio.gather(*accepted) for event in events]
    async with opened(place) as store:
        assert list(await store.events("s_1", 0)) == stored
        assert [event.seq for event in stored] == list(range(1, 21))


async def test_the_numbering_goes_on_after_opening_again(new_place: NewPlace) -> None:
    place = new_place()
    for count in (1, 2, 3):
        async with opened(place) as store:
            (stored,) = await store.commit("s_1", [delta()], [new_chat()])
            assert stored.seq == count


async def test_a_closed_store_says_so_and_closing_twice_is_fine(new_place: NewPlace) -> None:
    async with opened(new_place()) as store:
        await store.commit("s_1", [], [new_chat()])
        await store.aclose()
        questions: list[Any] = [
            store.commit("s_1", [delta()]),
            store.events("s_1", 0),
            store.setting("u_1", "theme"),
            store.put_setting("u_1", "theme", 1),
        ]
        for question in questions:
            with pytest.raises(StorageError):
                await question
