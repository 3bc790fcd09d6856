"""The bus wakes readers up. It may be late and it may lose, so no test counts on the moment of a call."""

import asyncio
from collections.abc import Callable

import pytest

from openprogram.core.ports import Bus
from tests.support.ws import WAIT_S

Publication = tuple[str, int, int, bytes]


class Reader:
    """A subscriber that remembers what it was called with."""

    def __init__(self) -> None:
        self.heard: list[Publication] = []
        self._news = asyncio.Event()

    def __call__(self, topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        self.heard.append((topic, first_seq, last_seq, payload))
        self._news.set()

    async def hears(self, publication: Publication) -> None:
        """Wait until it was called so."""
        async with asyncio.timeout(WAIT_S):
            while publication not in self.heard:
                self._news.clear()
                await self._news.wait()


async def settle(bus: Bus, topic: str) -> None:
    """Wait until a publication on this topic, made now, has arrived at a new subscriber: earlier ones have too."""
    last = Reader()
    unsubscribe = bus.subscribe(topic, last)
    bus.publish(topic, 0, 0, b"settle")
    await last.hears((topic, 0, 0, b"settle"))
    unsubscribe()


def said(reader: Reader) -> list[bytes]:
    return [payload for _, _, _, payload in reader.heard if payload != b"settle"]


async def test_every_subscriber_of_a_topic_is_told_all_in_order(bus: Bus) -> None:
    readers = [Reader(), Reader()]
    for reader in readers:
        bus.subscribe("session/s_1", reader)
    bus.publish("session/s_1", 1, 2, b"one\ntwo")
    bus.publish("session/s_1", 3, 3, b"three")

    for reader in readers:
        await reader.hears(("session/s_1", 3, 3, b"three"))
        assert reader.heard == [("session/s_1", 1, 2, b"one\ntwo"), ("session/s_1", 3, 3, b"three")]


async def test_a_subscriber_hears_nothing_of_other_topics(bus: Bus) -> None:
    mine, theirs = Reader(), Reader()
    bus.subscribe("session/s_1", mine)
    bus.subscribe("session/s_2", theirs)
    bus.publish("session/s_2", 1, 1, b"theirs")
    bus.publish("session/s_1", 1, 1, b"mine")

    await mine.hears(("session/s_1", 1, 1, b"mine"))
    await theirs.hears(("session/s_2", 1, 1, b"theirs"))
    assert said(mine) == [b"mine"]
    assert said(theirs) == [b"theirs"]


async def test_nobody_need_listen(bus: Bus) -> None:
    bus.publish("session/s_1", 1, 1, b"lost")
    await settle(bus, "session/s_1")
    reader = Reader()
    bus.subscribe("session/s_1", reader)
    await settle(bus, "session/s_1")

    assert said(reader) == []


async def test_an_unsubscribed_callback_is_never_called_again(bus: Bus) -> None:
    gone, still = Reader(), Reader()
    unsubscribe = bus.subscribe("session/s_1", gone)
    bus.subscribe("session/s_1", still)
    unsubscribe()
    unsubscribe()
    bus.publish("session/s_1", 1, 1, b"news")

    await still.hears(("session/s_1", 1, 1, b"news"))
    await settle(bus, "session/s_1")
    assert gone.heard == []


async def test_a_callback_subscribed_twice_is_called_twice_and_leaves_one_by_one(bus: Bus) -> None:
    reader = Reader()
    leave_first = bus.subscribe("session/s_1", reader)
    bus.subscribe("session/s_1", reader)
    bus.publish("session/s_1", 1, 1, b"a")
    await settle(bus, "session/s_1")
    leave_first()
    bus.publish("session/s_1", 2, 2, b"b")
    await settle(bus, "session/s_1")

    assert said(reader) == [b"a", b"a", b"b"]


async def test_a_callback_may_unsubscribe_itself_and_others_while_it_is_called(bus: Bus) -> None:
    heard: list[str] = []
    leave: dict[str, Callable[[], None]] = {}

    def first(topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        heard.append("first")
        leave["first"]()
        leave["second"]()

    leave["first"] = bus.subscribe("session/s_1", first)
    leave["second"] = bus.subscribe("session/s_1", lambda *_: heard.append("second"))
    bus.publish("session/s_1", 1, 1, b"a")
    bus.publish("session/s_1", 2, 2, b"b")
    await settle(bus, "session/s_1")

    assert heard == ["first"]


async def test_a_callback_may_subscribe_while_it_is_called(bus: Bus) -> None:
    late = Reader()
    once: list[object] = []

    def subscriber(topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        if not once:
            once.append(bus.subscribe("session/s_1", late))

    bus.subscribe("session/s_1", subscriber)
    bus.publish("session/s_1", 1, 1, b"a")
    await settle(bus, "session/s_1")
    bus.publish("session/s_1", 2, 2, b"b")
    await late.hears(("session/s_1", 2, 2, b"b"))

    assert b"a" not in said(late)


async def test_a_callback_that_raises_is_dropped_and_harms_nobody(bus: Bus) -> None:
    calls: list[bytes] = []

    def faulty(topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        calls.append(payload)
        raise RuntimeError("a fault of this subscriber")

    reader = Reader()
    bus.subscribe("session/s_1", faulty)
    bus.subscribe("session/s_1", reader)
    bus.publish("session/s_1", 1, 1, b"a")
    bus.publish("session/s_1", 2, 2, b"b")

    await reader.hears(("session/s_1", 2, 2, b"b"))
    assert said(reader) == [b"a", b"b"]
    assert calls == [b"a"]


@pytest.mark.parametrize("topic", ["session/s_1", "user/ü", ""])
async def test_any_payload_arrives_as_it_was(bus: Bus, topic: str) -> None:
    reader = Reader()
    bus.subscribe(topic, reader)
    payload = bytes(range(256)) * 300
    bus.publish(topic, 2**53, 2**53 + 1, payload)

    await reader.hears((topic, 2**53, 2**53 + 1, payload))


async def test_a_closed_bus_tells_nobody_anything(bus: Bus) -> None:
    reader = Reader()
    unsubscribe = bus.subscribe("session/s_1", reader)
    await bus.aclose()
    bus.publish("session/s_1", 1, 1, b"late")
    await asyncio.sleep(0)
    unsubscribe()

    assert reader.heard == []
