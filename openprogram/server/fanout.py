"""From the bus to every reader in this process: a publication is split once, and all tabs share its frames."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from openprogram.core.ports import Bus
from openprogram.core.topics import session_topic, user_topic
from openprogram.server.hints import HintSubscription
from openprogram.server.service import Log, Service
from openprogram.server.subscription import Frame, Limits, Subscription

_LIMITS: Final = Limits()


class Source(Protocol):
    """What a reader drains: the events of one chat, or a user's hints."""

    closed: bool

    @property
    def pending(self) -> bool:
        """Whether there may be something to give."""
        ...

    def offer(self, first_seq: int, last_seq: int, frames: Sequence[Frame], size: int) -> None:
        """One publication; `frames` is empty if it did not carry its events, `size` is their bytes."""
        ...

    def check(self) -> None:
        """Called now and then: look for what the bus may have lost."""
        ...

    def take(self) -> Sequence[Frame]:
        """What comes next, in order."""
        ...

    async def read(self) -> Sequence[Frame]:
        """With nothing to take: what comes next, from where it is kept."""
        ...

    def close(self) -> None:
        """No more."""
        ...


Wake = Callable[[Source], None]
"""Told which source may have something to give."""


class Fanout:
    """All readers of this process. A topic has one bus subscription however many tabs read it."""

    def __init__(self, *, log: Log, bus: Bus, service: Service, limits: Limits = _LIMITS) -> None:
        self._log = log
        self._bus = bus
        self._service = service
        self._limits = limits
        self._topics: dict[str, _Topic] = {}

    @property
    def readers(self) -> int:
        """How many subscriptions there are."""
        return sum(len(topic.readers) for topic in self._topics.values())

    @property
    def topics(self) -> int:
        """How many bus topics are listened to."""
        return len(self._topics)

    async def subscribe(
        self, user_id: str, session_id: str, after_seq: int, *, snapshot: bool, wake: Wake
    ) -> tuple[Subscription, int]:
        """A subscription from `after_seq` on, and the newest seq at this moment.

        Raises `UnknownSession` (also for someone else's) and `StorageError`.
        """
        await self._service.authorise(user_id, session_id)
        row = await self._log.session(session_id)
        newest = row.last_seq if row else 0
        name = session_topic(session_id)
        subscription = Subscription(
            session_id,
            after_seq,
            log=self._log,
            snapshot=lambda: self._service.snapshot(user_id, session_id),
            wake=wake,
            detach=lambda reader: self._leave(name, reader),
            limits=self._limits,
        )
        if snapshot or after_seq > newest:
            subscription.require_snapshot()
        self._join(name, subscription)
        return subscription, newest

    def hints(self, user_id: str, *, wake: Wake) -> HintSubscription:
        """The user's hints from now on."""
        name = user_topic(user_id)
        reader = HintSubscription(wake=wake, detach=lambda reader: self._leave(name, reader))
        self._join(name, reader)
        return reader

    def close(self) -> None:
        """End all subscriptions: the server is shutting down."""
        for topic in list(self._topics.values()):
            for reader in list(topic.readers):
                reader.close()

    def _join(self, name: str, reader: Source) -> None:
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = _Topic()
            topic.unsubscribe = self._bus.subscribe(name, topic)
        topic.readers.append(reader)

    def _leave(self, name: str, reader: Source) -> None:
        topic = self._topics.get(name)
        if topic is None or reader not in topic.readers:
            return
        topic.readers.remove(reader)
        if not topic.readers:
            del self._topics[name]
            topic.unsubscribe()


class _Topic:
    """The readers of one bus topic."""

    def __init__(self) -> None:
        self.readers: list[Source] = []
        self.unsubscribe: Callable[[], None]

    def __call__(self, topic: str, first_seq: int, last_seq: int, payload: bytes) -> None:
        frames = _split(first_seq, last_seq, payload)
        for reader in self.readers:
            reader.offer(first_seq, last_seq, frames, len(payload))


def _split(first_seq: int, last_seq: int, payload: bytes) -> Sequence[Frame]:
    """The frames in a publication; none where it does not carry exactly its events."""
    if first_seq == last_seq:
        return (Frame(last_seq, payload.decode()),) if payload else ()
    texts = payload.decode().split("\n")
    if len(texts) != last_seq - first_seq + 1:
        return ()
    return [Frame(seq, text) for seq, text in enumerate(texts, first_seq)]
