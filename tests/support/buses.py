"""The buses that must pass the conformance suite."""

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType

from typing_extensions import override

from openprogram.bus.local import LocalBus
from openprogram.core.ports import Bus, BusCallback


class QueueBus(Bus):
    """A second `Bus`: publications travel through a queue and arrive later, as they would through a broker."""

    def __init__(self) -> None:
        self._subscribers: list[tuple[str, BusCallback]] = []
        self._queue: asyncio.Queue[tuple[str, int, int, bytes]] = asyncio.Queue()
        self._task = asyncio.create_task(self._deliver())

    @override
    def publish(self, topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        self._queue.put_nowait((topic, first_seq, last_seq, payload))

    @override
    def subscribe(self, topic: str, callback: BusCallback) -> Callable[[], None]:
        entry = (topic, callback)
        self._subscribers.append(entry)

        def unsubscribe() -> None:
            self._subscribers = [each for each in self._subscribers if each is not entry]

        return unsubscribe

    @override
    async def aclose(self) -> None:
        self._subscribers.clear()
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _deliver(self) -> None:
        while True:
            publication = await self._queue.get()
            for entry in list(self._subscribers):
                if entry[0] != publication[0] or not any(each is entry for each in self._subscribers):
                    continue
                try:
                    entry[1](*publication)
                except RuntimeError:  # what the suite's faulty subscribers raise
                    self._subscribers = [each for each in self._subscribers if each is not entry]


BUSES: Mapping[str, Callable[[], Bus]] = MappingProxyType({"local": LocalBus, "queue": QueueBus})
"""Every implementation that must pass; each is made on a running event loop."""
