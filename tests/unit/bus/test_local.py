"""What only the bus of one process promises: calls before `publish` returns, and nothing kept of what is over."""

import asyncio
import gc

import pytest
import structlog

from openprogram.bus.local import LocalBus


async def test_callbacks_run_before_publish_returns_in_the_order_of_subscription() -> None:
    bus, heard = LocalBus(), []
    for name in ("first", "second"):
        bus.subscribe("t", lambda *_, name=name: heard.append(name))
    bus.publish("t", 1, 1, b"")

    assert heard == ["first", "second"]


async def test_a_fault_of_a_subscriber_is_logged_with_its_topic() -> None:
    def faulty(topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        raise ValueError("broken")

    bus = LocalBus()
    bus.subscribe("session/s_1", faulty)
    with structlog.testing.capture_logs() as logs:
        bus.publish("session/s_1", 1, 1, b"")

    assert [(entry["log_level"], entry["topic"], str(entry["exc_info"])) for entry in logs] == [
        ("error", "session/s_1", "broken")
    ]


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError])
async def test_what_is_no_fault_of_a_subscriber_is_not_caught(error: type[BaseException]) -> None:
    def cancelled(topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        raise error

    bus = LocalBus()
    bus.subscribe("t", cancelled)
    with pytest.raises(error):
        bus.publish("t", 1, 1, b"")


def held(thing: object) -> int:
    """How many entries the dicts have that can be reached from it."""
    return sum(len(each) + held(each) for each in gc.get_referents(thing) if isinstance(each, dict))


async def test_topics_that_are_over_leave_nothing_behind() -> None:  # R5
    bus = LocalBus()
    before = held(bus)
    leave = [bus.subscribe(f"session/s_{number}", lambda *_: None) for number in range(100)]
    during = held(bus)
    for each in leave:
        each()

    assert held(bus) == before < during
