"""The emitter over any stream: no text lost or out of place, the first delta at once, joined only within 16 ms (P4)."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.errors import StorageError
from openprogram.core.events import Event, Notice, ReasoningDelta, TextDelta, ToolCallDelta, ToolOutputDelta
from openprogram.core.storage import SetLeaf, Write
from openprogram.sessions.emitter import TICK_S, Delta, Emitter
from tests.support.virtual_time import run_virtually


@dataclass(frozen=True)
class Step:
    """Wait, then hand something over: events together, or a write, or a flush."""

    wait: float
    events: tuple[Event, ...] = ()
    write: bool = False
    flush: bool = False


texts = st.text("ab \n", min_size=1, max_size=3)
deltas = st.one_of(
    st.builds(TextDelta, st.just("m_1"), st.integers(0, 1), texts),
    st.builds(ReasoningDelta, st.just("m_1"), st.integers(0, 1), texts),
    st.builds(ToolCallDelta, st.just("m_1"), st.just(2), st.just("c_1"), st.just("read"), texts),
    st.builds(ToolOutputDelta, st.sampled_from(("c_1", "c_2")), texts),
)
waits = st.sampled_from((0.0, 0.0, 0.001, 0.004, TICK_S / 2, TICK_S, 0.05))
steps = st.one_of(
    st.builds(Step, waits, st.tuples(deltas)),
    st.builds(Step, waits, st.tuples(deltas)),
    st.builds(Step, waits, st.lists(deltas, max_size=3).map(tuple)),
    st.builds(Step, waits, st.tuples(st.builds(Notice, st.just("n"), texts))),
    st.builds(Step, waits, write=st.just(True)),
    st.builds(Step, waits, flush=st.just(True)),
)


@dataclass
class Log:
    """What was committed, and when. A commit takes `slowness`."""

    slowness: float = 0.0
    fail_at: int | None = None

    def __post_init__(self) -> None:
        self.commits: list[tuple[float, Sequence[Event], Sequence[Write]]] = []

    async def commit(self, events: Sequence[Event], writes: Sequence[Write]) -> None:
        if self.fail_at == len(self.commits):
            raise StorageError("full")
        if self.slowness:
            await asyncio.sleep(self.slowness)
        self.commits.append((asyncio.get_running_loop().time(), tuple(events), tuple(writes)))

    @property
    def events(self) -> list[Event]:
        return [event for _, events, _ in self.commits for event in events]


def _play(sequence: Iterable[Step], log: Log) -> list[tuple[float, Event]]:
    """Run the emitter over the steps; returns what was handed over, with the time."""
    handed: list[tuple[float, Event]] = []

    async def play() -> None:
        emitter = Emitter(log.commit)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(emitter.pump())
            for step in sequence:
                await asyncio.sleep(step.wait)
                now = asyncio.get_running_loop().time()
                handed.extend((now, event) for event in step.events)
                if step.events:
                    emitter(*step.events)
                if step.write:
                    emitter.write(SetLeaf("m_1"))
                if step.flush:
                    count = len(handed)
                    await emitter.flush()
                    assert _text(log.events) == _text(event for _, event in handed[:count])
            await emitter.close()

    run_virtually(play())
    return handed


def _block(event: Event) -> object:
    if isinstance(event, ToolOutputDelta):
        return event.call_id
    return (type(event), event.message_id, event.block) if isinstance(event, Delta) else None


def _text(events: Iterable[Event]) -> dict[object, str]:
    joined: dict[object, str] = {}
    for event in events:
        if isinstance(event, Delta):
            joined[_block(event)] = joined.get(_block(event), "") + event.text
    return joined


def _stretches(events: Iterable[Event]) -> list[tuple[Event | None, dict[object, str]]]:
    """Between each two other events, the text of each block."""
    found: list[tuple[Event | None, list[Event]]] = [(None, [])]
    for event in events:
        if isinstance(event, Delta):
            found[-1][1].append(event)
        else:
            found.append((event, []))
    return [(event, _text(text)) for event, text in found]


@given(st.lists(steps, max_size=40), st.sampled_from((0.0, 0.003, 0.03)))
def test_text_and_order_are_kept_whatever_the_times(sequence: list[Step], slowness: float) -> None:  # P4
    log = Log(slowness)
    handed = [event for _, event in _play(sequence, log)]
    assert _stretches(log.events) == _stretches(handed)


@given(st.lists(st.tuples(waits, st.integers(0, 3), texts), max_size=20))
def test_the_blocks_of_an_answer_stand_in_the_log_in_their_order(pieces: list[tuple[float, int, str]]) -> None:
    blocks = sorted(block for _, block, _ in pieces)
    log = Log()
    _play(
        [Step(wait, (TextDelta("m_1", block, text),)) for (wait, _, text), block in zip(pieces, blocks, strict=True)],
        log,
    )
    stored = [event.block for event in log.events if isinstance(event, TextDelta)]
    assert stored == sorted(stored)


@given(st.lists(steps, max_size=40))
def test_events_that_belong_together_are_stored_together(sequence: list[Step]) -> None:
    log = Log(0.003)
    _play(sequence, log)
    places = {id(event): number for number, (_, events, _) in enumerate(log.commits) for event in events}
    for step in sequence:
        whole = [event for event in step.events if not isinstance(event, Delta)]
        assert len({places[id(event)] for event in whole}) <= 1


@given(st.lists(steps, max_size=40))
def test_the_first_delta_of_a_block_goes_out_at_once(sequence: list[Step]) -> None:  # P4
    log = Log()
    handed = _play(sequence, log)
    known: set[object] = set()
    first: list[tuple[float, Event]] = []
    for at, event in handed:
        if isinstance(event, Delta) and _block(event) not in known:
            known.add(_block(event))
            first.append((at, event))
    stored = [(at, event) for at, events, _ in log.commits for event in events]
    for at, event in first:
        assert (at, event) in stored


@given(st.lists(steps, max_size=40))
def test_text_is_joined_only_within_16_ms_and_waits_no_longer(sequence: list[Step]) -> None:  # P4
    log = Log()
    handed = [(at, event) for at, event in _play(sequence, log) if isinstance(event, Delta)]
    stored = [(at, event) for at, events, _ in log.commits for event in events if isinstance(event, Delta)]
    for block in {_block(event) for _, event in handed}:
        pieces = [(at, event.text) for at, event in handed if _block(event) == block]
        for stored_at, event in ((at, event) for at, event in stored if _block(event) == block):
            text = ""
            while text != event.text:
                handed_at, piece = pieces.pop(0)
                text += piece
                assert 0 <= stored_at - handed_at <= TICK_S + 1e-6
        assert pieces == []


def test_a_steady_stream_is_one_row_per_16_ms() -> None:  # P4: a hundred tokens a second each
    log = Log()
    stream = [Step(0.001, (TextDelta("m_1", 0, "x"),)) for _ in range(160)]
    _play(stream, log)
    assert 9 <= len(log.events) <= 12
    assert _text(log.events) == _text(event for step in stream for event in step.events)


@given(st.lists(steps, max_size=30), st.integers(0, 5))
def test_after_a_failure_nothing_more_is_stored_and_every_flush_raises(sequence: list[Step], good: int) -> None:
    log = Log(fail_at=good)
    raised: list[bool] = []

    async def play() -> None:
        emitter = Emitter(log.commit)
        pump = asyncio.create_task(emitter.pump())
        for step in sequence:
            await asyncio.sleep(step.wait)
            emitter(*step.events)
            if pump.done():
                try:
                    await emitter.flush()
                except StorageError:
                    raised.append(True)
                else:
                    raised.append(False)
        await emitter.close()
        await asyncio.wait({pump})
        assert pump.exception() is None or isinstance(pump.exception(), StorageError)

    run_virtually(play())
    assert len(log.commits) <= good
    assert all(raised)


def test_a_flush_does_not_wait_for_what_comes_after_it() -> None:
    """Else a call beside one that talks without pause would never begin."""

    async def play() -> int:
        log = Log(0.005)
        emitter = Emitter(log.commit)
        pump = asyncio.create_task(emitter.pump())
        flooding = asyncio.create_task(_flood(emitter))
        emitter(Notice("n", "mine"))
        await emitter.flush()
        flooding.cancel()
        await asyncio.wait({flooding})
        await emitter.close()
        await pump
        return next(number for number, (_, events, _) in enumerate(log.commits) if Notice("n", "mine") in events)

    assert run_virtually(play()) == 0


async def _flood(emitter: Emitter) -> None:
    while True:
        emitter(Notice("n", "more"))
        await asyncio.sleep(0.001)


@given(st.lists(st.tuples(waits, texts), min_size=1, max_size=20))
def test_a_joined_delta_is_of_the_same_kind_as_its_pieces(pieces: list[tuple[float, str]]) -> None:
    log = Log()
    whole = ToolCallDelta("m_1", 0, "c_1", "read", "")
    _play([Step(wait, (replace(whole, text=text),)) for wait, text in pieces], log)
    assert {replace(event, text="") for event in log.events if isinstance(event, ToolCallDelta)} == {whole}
    assert len(log.events) <= len(pieces)
