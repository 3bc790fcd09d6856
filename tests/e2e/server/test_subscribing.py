"""Subscriptions on the WebSocket: acked, each event once; replaced, ended, bounded, gone with their tab (P2, P3)."""

import asyncio
import json

import pytest
from websockets.exceptions import ConnectionClosedError

from openprogram.core.errors import StorageError
from openprogram.core.events import Notice
from openprogram.core.protocol.frames import HintFrame
from openprogram.core.topics import user_topic
from openprogram.server.connection import MAX_SUBSCRIPTIONS
from tests.support.edge import USER, Served, serving
from tests.support.ws import WAIT_S, Client, Refused


async def seqs(client: Client, session: str, count: int) -> list[int]:
    """The seqs of the chat's first `count` event frames."""
    found = []
    async for frame in client.events(session):
        found.append(frame["seq"])
        if len(found) == count:
            break
    return found


async def test_subscribe_is_acked_before_its_events_which_come_once_and_then_live() -> None:  # P2
    async with serving() as edge, edge.client() as client:
        session = edge.service.create(USER)
        edge.service.notices(session, 3)
        ack = await client.subscribe(session, 1)
        assert (ack["session_id"], ack["seq"]) == (session, 3)
        edge.service.notices(session, 2)
        assert await seqs(client, session, 4) == [2, 3, 4, 5]
        kinds = [frame["type"] for frame in client.frames]
        assert kinds.index("ack") < kinds.index("event")


async def test_both_tabs_get_the_same_bytes() -> None:
    async with serving() as edge, edge.socket() as one, edge.socket() as two:
        session = edge.service.create(USER)
        for socket in (one, two):
            await socket.recv()
            await socket.send(json.dumps({"action": "subscribe", "id": "c", "session_id": session, "after_seq": 0}))
            assert json.loads(await socket.recv())["type"] == "ack"
        edge.service.emit(session, Notice("note", "é\n☃"))
        assert await one.recv() == await two.recv()


async def test_subscribing_again_starts_over_and_replaces() -> None:
    async with serving() as edge, edge.client() as client:
        session = edge.service.create(USER)
        edge.service.notices(session, 2)
        await client.subscribe(session)
        assert await seqs(client, session, 2) == [1, 2]
        await client.subscribe(session, 1)
        edge.service.notices(session, 1)
        assert await seqs(client, session, 4) == [1, 2, 2, 3]
        assert edge.fanout.readers == 1


async def test_after_the_ack_of_unsubscribe_nothing_more_comes() -> None:
    async with serving() as edge, edge.client() as client:
        session = edge.service.create(USER)
        edge.service.notices(session, 400)
        await client.subscribe(session)
        ack = await client.send("unsubscribe", session_id=session)
        edge.service.notices(session, 5)
        await client.send("ping")
        after = client.frames[client.frames.index(ack) :]
        assert [frame["type"] for frame in after] == ["ack", "pong"]
        assert edge.fanout.topics == 0


async def test_a_snapshot_comes_for_who_asks_and_for_who_is_beyond_the_log() -> None:  # P3
    async with serving() as edge:
        session = edge.service.create(USER)
        edge.service.notices(session, 2)
        async with edge.client() as client:
            await client.subscribe(session, snapshot=True)
            assert (await client.frame("snapshot"))["seq"] == 2
        async with edge.client() as client:
            assert (await client.subscribe(session, 99))["seq"] == 2
            assert (await client.frame("snapshot"))["seq"] == 2
            edge.service.notices(session, 1)
            assert await seqs(client, session, 1) == [3]


async def test_hints_go_to_who_asked_for_them() -> None:
    async with serving() as edge, edge.client() as client, edge.client() as other:
        ack = await client.subscribe(None)
        assert (ack["session_id"], ack["seq"]) == (None, 0)
        edge.bus.publish(user_topic(USER), 0, 0, json.dumps({"type": "hint", "hint": "registry_changed"}).encode())
        assert (await client.frame("hint"))["hint"] == HintFrame(hint="registry_changed").hint
        await client.send("unsubscribe", session_id=None)
        await other.send("ping")
        assert [frame["type"] for frame in other.frames] == ["hello", "pong"]


async def test_subscriptions_of_one_socket_are_bounded() -> None:
    async with serving() as edge, edge.client() as client:
        for _ in range(MAX_SUBSCRIPTIONS):
            await client.subscribe(edge.service.create(USER))
        with pytest.raises(Refused) as refused:
            await client.subscribe(edge.service.create(USER))
        assert refused.value.code == "limit_exceeded"


async def test_what_the_bus_lost_arrives_with_the_heartbeat() -> None:
    async with serving(heartbeat_s=0.01) as edge, edge.client() as client:
        session = edge.service.create(USER)
        await client.subscribe(session)
        edge.log.append(session, Notice("note", "nobody was told"))
        assert await seqs(client, session, 1) == [1]


async def test_a_storage_failure_while_reading_closes_the_socket_so_that_the_client_comes_back() -> None:
    async with serving() as edge, edge.socket() as socket:
        session = edge.service.create(USER)
        edge.service.notices(session, 1)
        await socket.recv()
        edge.log.failure = StorageError("the disk is gone")
        await socket.send(json.dumps({"action": "subscribe", "id": "c", "session_id": session, "after_seq": 0}))
        assert json.loads(await socket.recv())["type"] == "ack"
        with pytest.raises(ConnectionClosedError) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1011
        edge.log.failure = None
        async with edge.client() as client:
            await client.subscribe(session)
            assert await seqs(client, session, 1) == [1]


async def all_gone(edge: Served, gone: asyncio.Event) -> None:
    async with asyncio.timeout(WAIT_S):
        while edge.edge.metrics.sockets or edge.fanout.readers:
            gone.clear()
            await gone.wait()


async def test_connecting_and_leaving_leaves_nothing_behind() -> None:  # R5
    async with serving() as edge:
        session = edge.service.create(USER)
        edge.service.notices(session, 5)
        gone = asyncio.Event()
        edge.bus.left = gone.set

        async def visit(number: int) -> None:
            async with edge.client() as client:
                await client.subscribe(session)
                await seqs(client, session, 5)
                if number % 2:
                    client.socket.transport.abort()

        await visit(0)
        await visit(1)
        await all_gone(edge, gone)
        tasks = len(asyncio.all_tasks())
        for number in range(100):
            await visit(number)
        await all_gone(edge, gone)
        assert edge.edge.metrics.sockets == 0
        assert (edge.fanout.readers, edge.fanout.topics) == (0, 0)
        assert len(asyncio.all_tasks()) <= tasks
