"""What hangs on a chat: messages, approvals, grants, waiting messages, usage."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.core.asking import PutQuestion, QuestionAnswer, QuestionRow, ResolveQuestion
from openprogram.core.errors import Conflict
from openprogram.core.messages import Message, QueuedMessage
from openprogram.core.ports import Store
from openprogram.core.storage import (
    ANYWHERE,
    AddGrant,
    ApprovalRow,
    DropGrants,
    Grant,
    Node,
    PutApproval,
    PutMessage,
    PutQueue,
    PutUsage,
    ResolveApproval,
    SetLeaf,
    UsageRow,
)
from openprogram.core.usage import Usage
from tests.support.store_places import NewPlace, opened
from tests.support.store_values import (
    approval,
    message,
    messages,
    new_chat,
    question,
    queued,
    queues,
    step_finished,
    usages,
)


def trees() -> st.SearchStrategy[list[Message]]:
    """Messages under distinct ids, each below an earlier one or a root."""

    def planted(made: list[Message], parents: list[int]) -> list[Message]:
        return [
            replace(each, id=f"m_{n}", parent_id=f"m_{parents[n] % n}" if n and parents[n] else None)
            for n, each in enumerate(made)
        ]

    made = st.lists(messages(st.just("m")), min_size=1, max_size=8)
    return st.builds(planted, made, st.lists(st.integers(0, 20), min_size=8, max_size=8))


@given(trees(), st.data())
@settings(max_examples=30)
async def test_the_tree_keeps_its_messages_their_places_and_their_order(
    new_place: NewPlace, tree: list[Message], data: st.DataObject
) -> None:
    async with opened(new_place()) as store:
        await store.commit("s_1", [], [new_chat()])
        for each in tree:
            await store.commit("s_1", [], [PutMessage(each), SetLeaf(each.id)])
        assert await store.nodes("s_1") == tuple(Node(each.id, each.parent_id, each.role) for each in tree)
        wanted = data.draw(st.permutations(tree))
        ids = ["m_gone", *(each.id for each in wanted)]
        assert await store.messages("s_1", ids) == tuple(wanted)
        row = await store.session("s_1")
        assert row is not None
        assert row.info.leaf_id == tree[-1].id


async def test_a_message_is_never_replaced(store: Store) -> None:
    await store.commit("s_1", [], [new_chat("s_1"), PutMessage(message(text="first"))])
    await store.commit("s_2", [], [new_chat("s_2")])
    for session_id in ("s_1", "s_2"):
        with pytest.raises(Conflict):
            await store.commit(session_id, [], [PutMessage(message(text="second"))])

    assert await store.messages("s_1", ["m_1"]) == (message(text="first"),)
    assert await store.nodes("s_2") == ()


async def test_messages_of_another_chat_are_not_found(store: Store) -> None:  # R12
    await store.commit("s_1", [], [new_chat("s_1"), PutMessage(message())])
    await store.commit("s_2", [], [new_chat("s_2")])

    assert await store.messages("s_2", ["m_1"]) == ()


async def test_an_approval_is_answered_exactly_once(store: Store) -> None:  # P9
    await store.commit("s_1", [], [new_chat(), PutApproval(approval("a_1")), PutApproval(approval("a_2"))])
    pending = (ApprovalRow(approval("a_1"), True), ApprovalRow(approval("a_2"), True))
    assert await store.approvals("s_1") == pending

    answers = [ResolveApproval("a_1", "once", "tab one"), ResolveApproval("a_1", "deny", "tab two")]
    outcomes = await asyncio.gather(*(store.commit("s_1", [], [answer]) for answer in answers), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [tuple, Conflict]
    answered = ApprovalRow(approval("a_1"), False, "once", "tab one")
    assert await store.approvals("s_1") == pending[1:]
    assert await store.approvals("s_1", pending=False) == (answered, pending[1])
    assert await store.approval("a_1") == ("s_1", answered)


async def test_a_question_is_answered_exactly_once(store: Store) -> None:  # P9
    await store.commit("s_1", [], [new_chat(), PutQuestion(question("u_1")), PutQuestion(question("u_2"))])
    pending = (QuestionRow(question("u_1"), True), QuestionRow(question("u_2"), True))
    assert await store.questions("s_1") == pending
    row = await store.session("s_1")
    assert row is not None
    assert row.info.status == "waiting"

    first = QuestionAnswer(("Left",), "tab one")
    answers = [ResolveQuestion("u_1", first), ResolveQuestion("u_1", QuestionAnswer(("Right",)))]
    outcomes = await asyncio.gather(*(store.commit("s_1", [], [answer]) for answer in answers), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [tuple, Conflict]
    answered = QuestionRow(question("u_1"), False, first)
    assert await store.questions("s_1") == pending[1:]
    assert await store.questions("s_1", pending=False) == (answered, pending[1])
    await store.commit("s_1", [], [ResolveQuestion("u_2", None)])
    assert (await store.questions("s_1", pending=False))[1] == QuestionRow(question("u_2"), False)


async def test_a_question_id_is_taken_once_and_answered_in_its_own_chat_only(store: Store) -> None:  # R12
    await store.commit("s_1", [], [new_chat(), PutQuestion(question("u_1"))])
    await store.commit("s_2", [], [new_chat("s_2")])
    for chat, write in (("s_2", PutQuestion(question("u_1"))), ("s_2", ResolveQuestion("u_1", None))):
        with pytest.raises(Conflict):
            await store.commit(chat, [], [write])
    assert await store.questions("s_2", pending=False) == ()


async def test_a_moot_approval_is_resolved_without_a_decision(store: Store) -> None:
    await store.commit("s_1", [], [new_chat(), PutApproval(approval())])
    await store.commit("s_1", [], [ResolveApproval("a_1", None, None)])

    assert await store.approval("a_1") == ("s_1", ApprovalRow(approval(), False))


async def test_an_approval_that_is_unknown_or_another_chats_cannot_be_answered(store: Store) -> None:
    await store.commit("s_1", [], [new_chat("s_1"), PutApproval(approval())])
    await store.commit("s_2", [], [new_chat("s_2")])
    for session_id, approval_id in (("s_1", "a_none"), ("s_2", "a_1")):
        with pytest.raises(Conflict):
            await store.commit(session_id, [], [ResolveApproval(approval_id, "once", None)])

    assert await store.approval("a_none") is None
    assert await store.approvals("s_1") == (ApprovalRow(approval(), True),)


async def test_a_chat_that_moves_keeps_only_grants_that_hold_where_it_is_then(store: Store) -> None:  # R17
    here, there, anywhere, older = (
        Grant("bash", "ls", "/here"),
        Grant("bash", "pwd", "/there"),
        Grant("web_fetch", "*", ANYWHERE),
        Grant("bash", "date"),
    )
    for session_id in ("s_1", "s_2"):
        await store.commit(session_id, [], [new_chat(session_id), *map(AddGrant, (here, there, anywhere, older))])
    await store.commit("s_1", [], [DropGrants("/there")])

    assert await store.grants("s_1") == (there, anywhere)
    assert await store.grants("s_2") == (here, there, anywhere, older)


async def test_a_grant_that_is_given_again_elsewhere_holds_there_instead(store: Store) -> None:
    ls, pwd = Grant("bash", "ls", "/here"), Grant("bash", "pwd", "/here")
    moved = Grant("bash", "ls", "/there")
    await store.commit("s_1", [], [new_chat("s_1"), AddGrant(ls), AddGrant(pwd), AddGrant(moved)])

    assert await store.grants("s_1") == (moved, pwd)


async def test_a_grant_is_kept_once_and_for_its_chat_only(store: Store) -> None:
    ls, write = Grant("bash", "ls *"), Grant("write", "*.md")
    await store.commit("s_1", [], [new_chat("s_1"), AddGrant(write), AddGrant(ls), AddGrant(write)])
    await store.commit("s_2", [], [new_chat("s_2")])

    assert await store.grants("s_1") == (write, ls)
    assert await store.grants("s_2") == ()


@given(st.lists(queues, min_size=1, max_size=4))
@settings(max_examples=25)
async def test_the_queue_is_what_was_last_put_in_its_order(
    new_place: NewPlace, each: list[Sequence[QueuedMessage]]
) -> None:  # P6
    async with opened(new_place()) as store:
        await store.commit("s_1", [], [new_chat("s_1")])
        await store.commit("s_2", [], [new_chat("s_2"), PutQueue((queued("q_other"),))])
        for queue in each:
            await store.commit("s_1", [], [PutQueue(tuple(queue))])
            assert await store.queue("s_1") == tuple(queue)
        assert await store.queue("s_2") == (queued("q_other"),)


@given(usages, st.none() | st.floats(0, 10))
@settings(max_examples=25)
async def test_usage_comes_back_with_unknown_still_unknown(
    new_place: NewPlace, usage: Usage, cost: float | None
) -> None:
    async with opened(new_place()) as store:
        row = UsageRow("t_1", 1, "e/m", usage, cost)
        await store.commit("s_1", [], [new_chat(), PutUsage(row)])
        assert await store.usage("s_1") == (row,)


async def test_a_step_is_counted_once_whatever_is_replayed(store: Store) -> None:
    first = UsageRow("t_1", 1, "e/m", Usage(uncached=10, output=1), 0.5)
    second = UsageRow("t_1", 2, "e/m", Usage(uncached=20, output=2), None)
    await store.commit("s_1", [], [new_chat(), PutUsage(second), PutUsage(first)])
    await store.commit("s_1", [], [PutUsage(UsageRow("t_1", 1, "other", Usage(), None))])

    assert await store.usage("s_1") == (second, first)


async def test_the_requests_behind_answers_are_found_by_their_messages(store: Store) -> None:
    first, second = step_finished("m_1"), step_finished("m_2")
    rows = [UsageRow("t_1", number, "e/m", Usage(), None) for number in (1, 2, 3)]
    writes = [PutUsage(rows[0], first), PutUsage(rows[1], second), PutUsage(rows[2]), PutUsage(rows[0], second)]
    await store.commit("s_1", [], [new_chat("s_1"), *writes])
    await store.commit("s_2", [], [new_chat("s_2")])

    assert await store.steps("s_1", ["m_2", "m_1", "m_3"]) == (first, second)
    assert await store.steps("s_1", ["m_2"]) == (second,)
    assert await store.steps("s_2", ["m_1"]) == ()
