"""P2, P3, P11: whatever is committed, lost, repeated, compacted or restored, and however a tab comes, reads and goes,
it gets each later event exactly once, in order; a snapshot only where the protocol says so.

The coroutines of the server are advanced by hand, one suspension at a time: hypothesis decides every interleaving.
"""

import json
from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from openprogram.core.events import Notice
from openprogram.server.fanout import Fanout, Source
from openprogram.server.subscription import Frame, Limits, Subscription
from tests.support.chats import LossyBus, MemoryLog, StandInService, publish

CHAT = "s_1"
USER = "local"
LIMITS = Limits(behind_events=6, behind_bytes=100_000, buffered_events=3, buffered_bytes=100_000)
TABS = 2


class _Pause:
    def __await__(self) -> Generator[None, None, None]:
        yield


async def pause() -> None:
    await _Pause()


class Tab:
    """A browser tab with the server's writer for it: a model of `Outbox.write` that can stop anywhere."""

    def __init__(self) -> None:
        self.cursor = 0  # what the client has: it survives disconnects
        self.subscription: Subscription | None = None
        self.work: Coroutine[Any, Any, Any] | None = None
        self._done: Callable[[Any], None] = self._taken
        self.wire: list[Frame] = []
        self.awake = False
        self.busy = False
        self.snapshot_due = False

    @property
    def connected(self) -> bool:
        return self.subscription is not None or self.work is not None

    def wake(self, _: Source) -> None:
        self.awake = True

    def connect(self, fanout: Fanout, *, snapshot: bool) -> None:
        self.snapshot_due = snapshot
        self._start(fanout.subscribe(USER, CHAT, self.cursor, snapshot=snapshot, wake=self.wake), self._subscribed)

    def disconnect(self) -> None:
        if self.work is not None:
            self.work.close()
        if self.subscription is not None:
            self.subscription.close()
        self.subscription, self.work, self.wire = None, None, []
        self.awake = self.busy = False

    def step(self) -> None:
        """Let the writer go on to its next suspension."""
        if self.work is not None:
            self._advance(self.work)
            return
        if self.wire or self.subscription is None:
            return
        if not self.busy:
            self.busy, self.awake = self.awake, False
        if self.busy and self.subscription.pending:
            if frames := self.subscription.take():
                self._taken(frames)
            else:
                self._start(self.subscription.read(), self._taken)
        else:
            self.busy = False

    def _start(self, work: Coroutine[Any, Any, Any], done: Callable[[Any], None]) -> None:
        self.work, self._done = work, done
        self._advance(work)

    def _advance(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            work.send(None)
        except StopIteration as finished:
            self.work = None
            self._done(finished.value)

    def _subscribed(self, value: tuple[Subscription, int]) -> None:
        self.subscription, newest = value
        self.snapshot_due |= self.cursor > newest
        self.awake = True  # as `Outbox.attach` does

    def _taken(self, frames: Sequence[Frame]) -> None:
        assert len(frames) <= max(LIMITS.behind_events, LIMITS.buffered_events)
        self.wire = list(frames)

    def receive(self, newest: int, *, compacted: bool) -> None:
        """Take one frame off the wire and check it as a client would."""
        frame = self.wire.pop(0)
        content = json.loads(frame.text)
        assert content["seq"] == frame.seq
        if content["type"] == "snapshot":
            assert self.snapshot_due or compacted or newest - self.cursor > LIMITS.behind_events
            assert self.snapshot_due or frame.seq >= self.cursor
        else:
            assert content["type"] == "event"
            assert not self.snapshot_due, "a snapshot was asked for and has to come first"
            assert content.get("from_seq", frame.seq) == self.cursor + 1
        self.snapshot_due = False
        self.cursor = frame.seq


class FanoutMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.log = MemoryLog(owners={CHAT: USER}, pause=pause)
        self.bus = LossyBus()
        self.service = StandInService(self.log, self.bus)
        self.fanout = Fanout(log=self.log, bus=self.bus, service=self.service, limits=LIMITS)
        self.tabs = [Tab() for _ in range(TABS)]
        self.compacted = False
        self.lost = False

    tab_indexes = st.integers(0, TABS - 1)

    @rule(count=st.integers(1, 4))
    def commit(self, count: int) -> None:
        publish(self.bus, self.log.append(CHAT, *[Notice("note", "text")] * count))

    @rule(count=st.integers(1, 3))
    def commit_and_deliver(self, count: int) -> None:
        self.commit(count)
        self.bus.deliver(len(self.bus.held) - 1)

    @precondition(lambda self: self.bus.held)
    @rule(data=st.data(), keep=st.booleans(), strip=st.booleans())
    def deliver(self, data: st.DataObject, keep: bool, strip: bool) -> None:
        self.bus.deliver(data.draw(st.integers(0, len(self.bus.held) - 1)), keep=keep, strip=strip)

    @precondition(lambda self: self.bus.held)
    @rule(data=st.data())
    def lose(self, data: st.DataObject) -> None:
        self.bus.held.pop(data.draw(st.integers(0, len(self.bus.held) - 1)))
        self.lost = True

    @rule(tab=tab_indexes, snapshot=st.sampled_from([False, False, False, True]))
    def connect(self, tab: int, snapshot: bool) -> None:
        self.tabs[tab].disconnect()
        self.tabs[tab].connect(self.fanout, snapshot=snapshot)

    @precondition(lambda self: all(tab.connected for tab in self.tabs))
    @rule(tab=tab_indexes)
    def disconnect(self, tab: int) -> None:
        self.tabs[tab].disconnect()

    @rule(tab=tab_indexes, times=st.integers(1, 4))
    def step(self, tab: int, times: int) -> None:
        for _ in range(times):
            self.tabs[tab].step()

    @rule(tab=tab_indexes)
    def receive(self, tab: int) -> None:
        if self.tabs[tab].wire:
            self.tabs[tab].receive(self.log.last_seq(CHAT), compacted=self.compacted)

    @rule()
    def settle(self) -> None:
        for tab in self.tabs:
            if not tab.connected:
                tab.connect(self.fanout, snapshot=False)
            self.drain(tab)

    @rule(tab=tab_indexes, steps=st.integers(0, 3))
    def heartbeat(self, tab: int, steps: int) -> None:
        """Makes a live tab read the log, and stops in the middle of that."""
        if (subscription := self.tabs[tab].subscription) is not None:
            subscription.check()
            self.step(tab, steps)

    @precondition(lambda self: self.log.last_seq(CHAT) > 4)
    @rule(first=st.integers(1, 20), length=st.integers(2, 8))
    def compact(self, first: int, length: int) -> None:
        before = len(self.log.chats[CHAT])
        self.log.join(CHAT, first, first + length)
        self.compacted |= len(self.log.chats[CHAT]) < before

    @precondition(lambda self: self.log.last_seq(CHAT) > 8)
    @rule(count=st.integers(1, 5))
    def restore_a_backup(self, count: int) -> None:
        """The server comes back with an older log; every tab has to connect again."""
        for tab in self.tabs:
            tab.disconnect()
        del self.log.chats[CHAT][-count:]
        self.bus.held.clear()

    @invariant()
    def nobody_listens_for_nothing(self) -> None:
        reading = sum(tab.subscription is not None for tab in self.tabs)
        assert self.fanout.readers == reading
        assert self.fanout.topics == (1 if reading else 0)

    def teardown(self) -> None:
        while self.bus.held:
            self.bus.deliver(0)
        for tab in self.tabs:
            if not tab.connected:
                tab.connect(self.fanout, snapshot=False)
            self.drain(tab)
            assert tab.subscription is not None
            assert self.lost or tab.cursor == self.log.last_seq(CHAT)
            for _ in range(2):  # two heartbeats without news, and even a lost last publication is made up for
                tab.subscription.check()
            self.drain(tab)
            assert tab.cursor == self.log.last_seq(CHAT)

    def drain(self, tab: Tab) -> None:
        steps = 0
        while tab.work is not None or tab.wire or tab.awake or tab.busy:
            steps += 1
            assert steps < 1_000, "the writer never comes to rest"
            tab.step()
            while tab.wire:
                tab.receive(self.log.last_seq(CHAT), compacted=self.compacted)


TestFanout = FanoutMachine.TestCase
TestFanout.settings = settings(max_examples=300, stateful_step_count=60, deadline=None)
