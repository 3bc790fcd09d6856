"""Intents: compare-and-set, and every value comes back as it went in (spec tools.md section 1)."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.core.errors import Conflict
from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.ports import Store
from openprogram.core.storage import PutIntent
from tests.support.store_places import NewPlace, opened
from tests.support.store_values import new_chat, typeable_intents

ON = ToolIntent(web_search=True)
OFF = ToolIntent(web_search=False)


async def test_a_chat_without_an_intent_is_at_revision_0_and_says_nothing(store: Store) -> None:
    await store.commit("s_1", [], [new_chat()])

    assert await store.intent("s_1") == StoredIntent(ToolIntent(), 0)
    assert await store.intent("s_nobody") == StoredIntent(ToolIntent(), 0)


@given(st.lists(typeable_intents, min_size=1, max_size=4))
@settings(max_examples=60)
async def test_every_typeable_intent_survives_save_and_load(
    new_place: NewPlace, intents: list[ToolIntent]
) -> None:  # T2
    place = new_place()
    async with opened(place) as store:
        await store.commit("s_1", [], [new_chat()])
        for revision, intent in enumerate(intents):
            await store.commit("s_1", [], [PutIntent(intent, revision)])
            assert await store.intent("s_1") == StoredIntent(intent, revision + 1)
    async with opened(place) as store:
        assert await store.intent("s_1") == StoredIntent(intents[-1], len(intents))


@pytest.mark.parametrize("revision", [0, 1, 3, 99])
async def test_a_write_at_another_revision_is_refused_and_changes_nothing(store: Store, revision: int) -> None:
    await store.commit("s_1", [], [new_chat(), PutIntent(ON, 0), PutIntent(ON, 1)])

    with pytest.raises(Conflict):
        await store.commit("s_1", [], [PutIntent(OFF, revision)])
    assert await store.intent("s_1") == StoredIntent(ON, 2)


@given(st.lists(st.integers(0, 2), min_size=2, max_size=12))
@settings(max_examples=25)
async def test_of_concurrent_writers_exactly_one_wins_each_revision(
    new_place: NewPlace, revisions: list[int]
) -> None:  # T8
    async with opened(new_place()) as store:
        await store.commit("s_1", [], [new_chat()])
        tries = [PutIntent(ToolIntent(toolset=str(number)), revision) for number, revision in enumerate(revisions)]
        outcomes = await asyncio.gather(*(store.commit("s_1", [], [write]) for write in tries), return_exceptions=True)
        won = [write for write, outcome in zip(tries, outcomes, strict=True) if outcome == ()]
        assert all(isinstance(outcome, Conflict) for outcome in outcomes if outcome != ())
        assert [write.expected_revision for write in won] == list(range(len(won)))
        final = StoredIntent(won[-1].intent, len(won)) if won else StoredIntent()
        assert await store.intent("s_1") == final


async def test_one_chats_intent_is_not_anothers(store: Store) -> None:  # T7
    await store.commit("s_1", [], [new_chat("s_1"), PutIntent(ON, 0)])
    await store.commit("s_2", [], [new_chat("s_2"), PutIntent(OFF, 0)])

    assert (await store.intent("s_1")).intent == ON
    assert (await store.intent("s_2")).intent == OFF
