"""What was sent: segments once by their digest, records in their order, gone with the chat; and what it all cost."""

from dataclasses import replace

from openprogram.core.ports import Store
from openprogram.core.sent import PutSent, Spending, StoredSegment
from openprogram.core.storage import PutMessage, PutUsage, UsageRow
from openprogram.core.usage import Usage
from tests.support.sent import record, segment
from tests.support.store_places import NewPlace, opened
from tests.support.store_values import DAY_S, EPOCH, HandClock, message, new_chat

HELLO, ANSWER, TOOL = segment(b'{"role":"user"}'), segment(b'{"role":"assistant"}'), segment(b'{"name":"bash"}')


async def test_records_and_segments_come_back_as_they_went_in(store: Store) -> None:  # C20
    first = record(1, digests=(HELLO.digest,), marks=(("messages", 0, 1, {"type": "ephemeral"}),))
    second = record(2, kept=1, digests=(ANSWER.digest,))
    await store.commit("s_1", [], [new_chat(), PutSent(first, (HELLO, TOOL)), PutSent(second, (ANSWER,))])

    assert await store.sent("s_1") == (first, second)
    wanted = [HELLO.digest, ANSWER.digest, "unknown"]
    assert await store.segments("s_1", wanted) == {HELLO.digest: HELLO.data, ANSWER.digest: ANSWER.data}
    assert await store.sent("s_2") == ()


async def test_a_segment_that_is_there_stays(store: Store) -> None:
    await store.commit("s_1", [], [new_chat(), PutSent(record(1), (HELLO,))])
    await store.commit("s_1", [], [PutSent(record(2), (StoredSegment(HELLO.digest, b"other"), ANSWER))])

    assert await store.segments("s_1", [HELLO.digest]) == {HELLO.digest: HELLO.data}


async def test_another_chats_segments_are_not_found(store: Store) -> None:  # R12
    await store.commit("s_1", [], [new_chat("s_1"), PutSent(record(1), (HELLO,))])
    await store.commit("s_2", [], [new_chat("s_2")])

    assert await store.segments("s_2", [HELLO.digest]) == {}


async def test_what_was_sent_goes_with_the_chat(new_place: NewPlace) -> None:
    clock = HandClock()
    async with opened(new_place(), clock) as store:
        await store.commit("s_1", [], [new_chat("s_1"), PutSent(record(1), (HELLO,))])
        await store.commit("s_2", [], [new_chat("s_2", visible=True), PutSent(record(1), (HELLO,))])
        await store.sweep(drafts_before="2027-01-01T00:00:00.000Z", requests_before="2026-01-01T00:00:00.000Z")

        assert (await store.sent("s_1"), await store.segments("s_1", [HELLO.digest])) == ((), {})
        assert await store.segments("s_2", [HELLO.digest]) == {HELLO.digest: HELLO.data}


def counted(number: int, model: str, usage: Usage, cost: float | None, **fields: str) -> PutUsage:
    """One counted request."""
    return PutUsage(replace(UsageRow("t_1", number, model, usage, cost), **fields))  # type: ignore[arg-type]


async def test_spending_is_summed_by_chat_model_day_and_kind_and_says_what_it_does_not_know(
    new_place: NewPlace,
) -> None:  # C17
    clock = HandClock()
    async with opened(new_place(), clock) as store:
        await store.commit("s_1", [], [new_chat("s_1", title="One"), PutMessage(message())])
        await store.commit("s_2", [], [new_chat("s_2", "u_2")])
        first = [
            counted(1, "e/m", Usage(10, 5, 1, None, 2), 0.25),
            counted(2, "e/m", Usage(20, 5, None, 4, 3), 0.5),
            counted(2, "e/m", Usage(99, 9, 9, 9, 9), 9.0),  # the same step again: counted once
            counted(3, "e/m", Usage(), None),
            counted(4, "e/m", Usage(1, None, None, None, 1), 0.125, kind="title"),
        ]
        await store.commit("s_1", [], first)
        await store.commit("s_2", [], [counted(1, "e/m", Usage(7, 7, 7, 7, 7), 7.0)])
        clock.now = EPOCH + DAY_S
        await store.commit("s_1", [], [counted(5, "e/n", Usage(1, 1, None, None, 1), None)])

        assert await store.spending("u_1") == (
            Spending("s_1", "One", "e/n", "2026-01-02", "step", 1, Usage(1, 1, None, None, 1), None, 0, 1),
            Spending("s_1", "One", "e/m", "2026-01-01", "step", 3, Usage(30, 10, 1, 4, 5), 0.75, 1, 1),
            Spending("s_1", "One", "e/m", "2026-01-01", "title", 1, Usage(1, None, None, None, 1), 0.125, 0, 0),
        )
