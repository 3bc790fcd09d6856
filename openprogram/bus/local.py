"""The bus inside one process: a publication is a round of function calls on the event loop."""

from collections.abc import Callable

import structlog
from typing_extensions import override

from openprogram.core.ports import Bus, BusCallback

_log = structlog.get_logger("openprogram.bus")


class LocalBus(Bus):
    """`core.ports.Bus` without a network: callbacks run inside `publish`, in the order of subscription."""

    def __init__(self) -> None:
        self._topics: dict[str, dict[object, BusCallback]] = {}

    @override
    def publish(self, topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        subscribers = self._topics.get(topic)
        if not subscribers:
            return
        for key, callback in tuple(subscribers.items()):
            if key not in subscribers:  # unsubscribed by a callback of this very round
                continue
            try:
                callback(topic, first_seq, last_seq, payload)
            except Exception as error:  # a subscriber's fault must not reach the publisher
                _log.error("subscriber dropped", topic=topic, exc_info=error)
                self._drop(topic, key)

    @override
    def subscribe(self, topic: str, callback: BusCallback) -> Callable[[], None]:
        key = object()
        self._topics.setdefault(topic, {})[key] = callback
        return lambda: self._drop(topic, key)

    @override
    async def aclose(self) -> None:
        for subscribers in self._topics.values():
            subscribers.clear()
        self._topics.clear()

    def _drop(self, topic: str, key: object) -> None:
        subscribers = self._topics.get(topic, {})
        subscribers.pop(key, None)
        if not subscribers:
            self._topics.pop(topic, None)
