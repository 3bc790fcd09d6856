"""What a turn begins from: one question, one moment."""

import asyncio
from collections.abc import Sequence

from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.ports import Store
from openprogram.core.storage import (
    ANYWHERE,
    AddGrant,
    Grant,
    Opening,
    PutIntent,
    PutMessage,
    PutQueue,
    SetLeaf,
    Write,
)
from tests.support.store_values import message, new_chat, queued

TREE: Sequence[Write] = (
    PutMessage(message("m_1")),
    PutMessage(message("m_2", "m_1")),
    PutMessage(message("m_3", "m_2")),
    PutMessage(message("m_4", "m_1")),  # a sibling of m_2
)


async def opening(store: Store, session_id: str = "s_1") -> Opening:
    found = await store.opening(session_id)
    assert found is not None
    return found


async def test_a_chat_that_is_not_there_has_none(store: Store) -> None:
    assert await store.opening("s_1") is None


async def test_a_new_chat_begins_from_nothing(store: Store) -> None:
    await store.commit("s_1", [], [new_chat()])
    row = await store.session("s_1")
    assert row is not None
    assert await opening(store) == Opening(row)


async def test_all_that_a_turn_begins_from_is_in_it(store: Store) -> None:
    intent, queue, grant = ToolIntent(web_search=True), (queued("q_1"), queued("q_2")), Grant("bash", "ls", ANYWHERE)
    more = (PutIntent(intent, 0), PutQueue(queue), AddGrant(grant), SetLeaf("m_3"))
    await store.commit("s_1", [], [new_chat(), *TREE, *more])
    await store.commit("s_2", [], [new_chat("s_2"), PutIntent(ToolIntent(enabled=False), 0)])

    found = await opening(store)

    assert found.row == await store.session("s_1")
    assert (found.intent, found.queue, found.grants) == (StoredIntent(intent, 1), queue, (grant,))
    assert found.branch == await store.messages("s_1", ["m_1", "m_2", "m_3"])


async def test_the_branch_is_the_active_one(store: Store) -> None:
    await store.commit("s_1", [], [new_chat(), *TREE, SetLeaf("m_4")])
    assert [each.id for each in (await opening(store)).branch] == ["m_1", "m_4"]

    await store.commit("s_1", [], [SetLeaf(None)])
    assert (await opening(store)).branch == ()


async def test_a_leaf_that_is_not_there_or_is_of_another_chat_ends_no_branch(store: Store) -> None:
    await store.commit("s_1", [], [new_chat(), *TREE])
    await store.commit("s_2", [], [new_chat("s_2"), SetLeaf("m_3")])
    assert (await opening(store, "s_2")).branch == ()


async def test_leaf_and_branch_are_of_one_moment(store: Store) -> None:
    """Whatever is committed meanwhile: a branch that ends elsewhere than in the chat's leaf would lose a message."""
    await store.commit("s_1", [], [new_chat(), PutMessage(message("m_0")), SetLeaf("m_0")])

    async def grow() -> None:
        for number in range(40):
            below = message(f"m_{number + 1}", f"m_{number}")
            await store.commit("s_1", [], [PutMessage(below), SetLeaf(below.id)])

    growing = asyncio.create_task(grow())
    while not growing.done():
        await asyncio.sleep(0)  # a store that never waits lets nobody else on
        found = await opening(store)
        assert found.branch[-1].id == found.row.info.leaf_id
        assert len(found.branch) == int(found.branch[-1].id.removeprefix("m_")) + 1
    await growing
    assert len((await opening(store)).branch) == 41
