"""A subscription's races, one by one; `tests/property/test_fanout.py` has all their combinations."""

import json
from collections.abc import Callable
from typing import get_args

import pytest

from openprogram.core.errors import StorageError
from openprogram.core.events import Notice
from openprogram.core.protocol.codec import encode_event_frame
from openprogram.core.protocol.frames import HintKind
from openprogram.server.fanout import Fanout, Source
from openprogram.server.subscription import Frame, Limits, Subscription
from tests.support.chats import LocalBus, MemoryLog, StandInService, publish

CHAT = "s_1"


class Pauses:
    """Runs a function at the n-th pause of the log: an event between two reads."""

    def __init__(self) -> None:
        self.at: dict[int, Callable[[], object]] = {}
        self.count = 0

    async def __call__(self) -> None:
        self.count += 1
        if (function := self.at.pop(self.count, None)) is not None:
            function()

    def next(self, offset: int, function: Callable[[], object]) -> None:
        """Call it at the `offset`-th pause from now."""
        self.at[self.count + offset] = function


class Bench:
    """A chat with a log, a bus and a fan-out."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.pauses = Pauses()
        self.log = MemoryLog(owners={CHAT: "u"}, pause=self.pauses)
        self.bus = LocalBus()
        self.service = StandInService(self.log, self.bus)
        self.fanout = Fanout(log=self.log, bus=self.bus, service=self.service, limits=limits or Limits())
        self.wakes = 0

    def wake(self, _: Source) -> None:
        self.wakes += 1

    async def subscribe(self, after_seq: int = 0, *, snapshot: bool = False) -> Subscription:
        subscription, _ = await self.fanout.subscribe("u", CHAT, after_seq, snapshot=snapshot, wake=self.wake)
        return subscription

    def commit(self, count: int = 1, *, silent: bool = False, size: int = 4) -> None:
        stored = self.log.append(CHAT, *[Notice("note", "x" * size)] * count)
        if not silent:
            publish(self.bus, stored)


async def read(subscription: Subscription) -> list[str]:
    """All that is pending, as `event 3` or `snapshot 7`."""
    found: list[str] = []
    while subscription.pending:
        frames = subscription.take() or await subscription.read()
        found += [f"{json.loads(frame.text)['type']} {frame.seq}" for frame in frames]
    return found


async def test_bytes_of_the_bus_are_passed_on_as_they_are_and_shared() -> None:
    bench = Bench()
    one, two = await bench.subscribe(), await bench.subscribe()
    assert await read(one) == await read(two) == []
    reads = bench.log.reads
    bench.commit(2)
    first, second = list(one.take()), list(two.take())
    assert [frame.text for frame in first] == [encode_event_frame(e).decode() for e in bench.log.chats[CHAT]]
    assert all(mine is yours for mine, yours in zip(first, second, strict=True))
    assert bench.log.reads == reads


async def test_an_event_that_both_log_and_bus_bring_is_sent_once() -> None:
    bench = Bench()
    bench.commit(2)
    subscription = await bench.subscribe(after_seq=2)
    assert await read(subscription) == []
    subscription.check()
    bench.pauses.next(1, bench.commit)  # before the backlog is counted: the log has it, and the bus has brought it
    assert await read(subscription) == ["event 3"]


async def test_an_event_that_is_committed_right_after_the_log_was_read_is_not_missed() -> None:
    bench = Bench()
    bench.commit(2)
    subscription = await bench.subscribe()
    bench.pauses.next(4, bench.commit)  # the page is read, and not returned yet
    assert await read(subscription) == ["event 1", "event 2", "event 3"]


async def test_what_the_bus_lost_is_read_from_the_log() -> None:
    bench = Bench()
    subscription = await bench.subscribe()
    assert await read(subscription) == []
    bench.commit(2, silent=True)
    bench.commit()
    assert await read(subscription) == ["event 1", "event 2", "event 3"]


async def test_a_lost_newest_event_comes_at_the_second_check_at_the_latest() -> None:
    bench = Bench()
    subscription = await bench.subscribe()
    assert await read(subscription) == []
    bench.commit()
    assert await read(subscription) == ["event 1"]
    bench.commit(silent=True)
    subscription.check()
    subscription.check()
    assert await read(subscription) == ["event 2"]


async def test_a_cursor_beyond_the_log_gets_a_snapshot_and_all_that_follows_it() -> None:
    bench = Bench()
    bench.commit(3)
    subscription = await bench.subscribe(after_seq=100)
    bench.pauses.next(2, bench.commit)  # after the snapshot's seq was read
    assert await read(subscription) == ["snapshot 3", "event 4"]


async def test_who_asks_gets_a_snapshot_first() -> None:
    bench = Bench()
    bench.commit(3)
    assert await read(await bench.subscribe(snapshot=True)) == ["snapshot 3"]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (Limits(behind_events=3), ["event 1", "event 2", "event 3"]),
        (Limits(behind_events=2), ["snapshot 3"]),
        (Limits(behind_bytes=100), ["snapshot 3"]),
    ],
)
async def test_only_who_is_too_far_behind_gets_a_snapshot(limits: Limits, expected: list[str]) -> None:
    bench = Bench(limits)
    bench.commit(3)
    assert await read(await bench.subscribe()) == expected


async def test_a_cursor_within_a_joined_run_gets_a_snapshot_and_before_it_the_run() -> None:
    bench = Bench()
    bench.commit(6)
    bench.log.join(CHAT, 2, 5)
    assert await read(await bench.subscribe(after_seq=3)) == ["snapshot 6"]
    assert await read(await bench.subscribe(after_seq=1)) == ["event 5", "event 6"]


@pytest.mark.parametrize("limits", [Limits(buffered_events=3), Limits(buffered_bytes=600)])
async def test_a_slow_reader_keeps_a_bounded_buffer_and_goes_on_from_the_log(limits: Limits) -> None:
    bench = Bench(limits)
    subscription = await bench.subscribe()
    assert await read(subscription) == []
    for _ in range(50):
        bench.commit()
    reads = bench.log.reads
    assert await read(subscription) == [f"event {seq}" for seq in range(1, 51)]
    assert bench.log.reads == reads + 2  # a backlog and a page


async def test_an_event_larger_than_the_buffer_arrives() -> None:
    bench = Bench(Limits(buffered_bytes=1_000))
    subscription = await bench.subscribe()
    assert await read(subscription) == []
    bench.commit(size=5_000)
    assert await read(subscription) == ["event 1"]


async def test_a_payload_that_does_not_hold_its_events_is_not_trusted() -> None:
    bench = Bench()
    subscription = await bench.subscribe()
    assert await read(subscription) == []
    bench.commit(2, silent=True)
    bench.bus.publish(f"session/{CHAT}", 1, 2, encode_event_frame(bench.log.chats[CHAT][0]))
    assert await read(subscription) == ["event 1", "event 2"]


async def test_after_a_storage_failure_nothing_is_lost() -> None:
    bench = Bench()
    bench.commit(2)
    subscription = await bench.subscribe()
    bench.log.failure = StorageError("the disk is gone")
    with pytest.raises(StorageError):
        await subscription.read()
    bench.log.failure = None
    assert await read(subscription) == ["event 1", "event 2"]


async def test_closing_ends_the_bus_subscription_with_the_last_reader() -> None:
    bench = Bench()
    one, two = await bench.subscribe(), await bench.subscribe()
    assert (bench.fanout.readers, bench.fanout.topics) == (2, 1)
    one.close()
    one.close()
    assert (bench.fanout.readers, bench.fanout.topics) == (1, 1)
    bench.commit()
    assert await read(two) == ["event 1"]
    assert not one.pending
    bench.fanout.close()
    assert (bench.fanout.readers, bench.fanout.topics) == (0, 0)
    assert bench.bus.callbacks[f"session/{CHAT}"] == []


async def test_hints_beyond_the_buffer_become_a_call_to_list_again() -> None:
    bench = Bench()
    hints = bench.fanout.hints("u", wake=bench.wake)
    for number in range(201):
        bench.bus.publish("user/u", 0, 0, b"%d" % number)
    frames: list[Frame] = list(hints.take())
    assert [json.loads(frame.text) for frame in frames[:-1]] == [
        {"type": "hint", "hint": kind, "session": None}
        for kind in get_args(HintKind)  # of any kind, some may be lost
    ]
    assert frames[-1].text == "200"
    assert not hints.pending


async def test_a_repeated_publication_costs_nothing_and_shows_nothing() -> None:
    bench = Bench(Limits(buffered_events=2))
    subscription = await bench.subscribe()
    assert await read(subscription) == []
    for _ in range(3):  # the third does not fit
        bench.commit()
    publish(bench.bus, bench.log.chats[CHAT][2:])
    assert await read(subscription) == ["event 1", "event 2", "event 3"]
    reads = bench.log.reads
    publish(bench.bus, bench.log.chats[CHAT][1:])
    assert await read(subscription) == []
    assert bench.log.reads == reads
