"""P11: a tab that does not read costs a bounded buffer, then a snapshot; nobody else notices."""

import json

from openprogram.core.events import Notice
from openprogram.server.subscription import Limits
from tests.support.edge import USER, Served, serving

SIZE = 4_000
BATCH = 100


async def fast_and_slow(edge: Served, batches: int) -> tuple[list[int], list[tuple[str, int]]]:
    """Emit to a tab that keeps up and to one that reads nothing until all is over: what each of them got."""
    session = edge.service.create(USER)
    subscribe = json.dumps({"action": "subscribe", "id": "c", "session_id": session, "after_seq": 0})
    async with edge.socket() as slow, edge.client() as fast:
        await slow.recv()
        await slow.send(subscribe)
        assert json.loads(await slow.recv())["type"] == "ack"
        await fast.subscribe(session)
        stream = fast.events(session)
        seen: list[int] = []
        for _ in range(batches):
            edge.service.notices(session, BATCH, SIZE)
            seen += [(await anext(stream))["seq"] for _ in range(BATCH)]
        newest = edge.log.last_seq(session)
        got: list[tuple[str, int]] = []
        while not got or got[-1][1] < newest:
            frame = json.loads(await slow.recv())
            got.append((frame["type"], frame["seq"]))
        edge.service.emit(session, Notice("note", "live again"))
        assert json.loads(await slow.recv())["seq"] == newest + 1
    return seen, got


def check(got: list[tuple[str, int]]) -> None:
    """Each event once, in order, but for what a snapshot stands for."""
    cursor = 0
    for kind, seq in got:
        assert seq == cursor + 1 if kind == "event" else seq > cursor
        cursor = seq


async def test_a_tab_that_does_not_read_gets_a_snapshot_and_slows_nobody() -> None:
    async with serving() as edge:
        seen, got = await fast_and_slow(edge, batches=60)  # 24 MB: more than the sockets' buffers take
        assert seen == list(range(1, 6_001))
        check(got)
        assert "snapshot" in [kind for kind, _ in got]
        assert len(got) < 6_000


async def test_a_tab_that_is_late_but_not_too_late_gets_every_event() -> None:
    async with serving(limits=Limits(behind_events=10_000, behind_bytes=100_000_000, buffered_events=10)) as edge:
        seen, got = await fast_and_slow(edge, batches=60)
        assert seen == list(range(1, 6_001))
        assert got == [("event", seq) for seq in range(1, 6_001)]


async def test_answers_are_bounded_by_not_reading_more_actions() -> None:
    async with serving() as edge, edge.socket() as socket:
        await socket.recv()
        session = edge.service.create(USER)
        # Each answer is as long as its id is wrong; the client takes none of them until all are sent.
        text = json.dumps({"action": "set_tools_profile", "id": "c", "session_id": session, "toolset": "x" * 200})
        for _ in range(2_000):
            await socket.send(text)
        await socket.send(json.dumps({"action": "ping", "id": "last"}))
        kinds = [json.loads(await socket.recv())["type"] for _ in range(2_001)]
        assert sorted(kinds) == ["error"] * 2_000 + ["pong"]
