"""The WebSocket: hello, answers, subscriptions, errors that leave it open (P2, P10, P12, P16)."""

import asyncio
import json

import pytest
from websockets.exceptions import ConnectionClosedError

from openprogram.core.protocol.codec import ACTIONS
from tests.support.edge import USER, serving
from tests.support.ws import Refused


async def test_hello_comes_first_and_names_the_version() -> None:  # P16
    async with serving() as edge, edge.socket() as socket:
        assert socket.subprotocol == "openprogram.v1"
        hello = json.loads(await socket.recv())
        assert (hello["type"], hello["version"], hello["user"]["id"]) == ("hello", "openprogram.v1", USER)


async def test_a_client_of_another_version_is_told_which_this_is() -> None:  # P16
    async with serving() as edge, edge.socket(subprotocol="openprogram.v9") as socket:
        assert socket.subprotocol is None
        assert json.loads(await socket.recv())["version"] == "openprogram.v1"


async def test_every_action_of_the_protocol_is_answered() -> None:
    async with serving() as edge, edge.client() as client:
        for action in ACTIONS:
            try:
                frame = await client.send(action)
            except Refused as refused:
                frame = refused.frame
            assert frame["type"] in ("ack", "pong") or frame["code"] == "bad_field"


async def test_the_same_id_twice_has_one_effect_and_two_equal_acks() -> None:  # P5
    async with serving() as edge, edge.client() as client:
        session = edge.service.create(USER)
        one = await client.send("chat", id="c1", session_id=session, text="hi")
        two = await client.send("chat", id="c1", session_id=session, text="hi")
        assert one == two
        assert edge.log.last_seq(session) == 1
        with pytest.raises(Refused) as refused:
            await client.send("chat", id="c1", session_id=session, text="something else")
        assert refused.value.code == "id_conflict"


@pytest.mark.parametrize(
    ("text", "code", "field", "client_id"),
    [
        ("{", "bad_json", None, None),
        ("", "bad_json", None, None),
        ("null", "bad_frame", None, None),
        ("[1]", "bad_frame", None, None),
        ("{}", "bad_frame", "action", None),
        ('{"action":5,"id":"c1"}', "bad_frame", "action", "c1"),
        ('{"action":"dance","id":"c1"}', "unknown_action", "action", "c1"),
        ('{"action":"stop","session_id":"s_1"}', "bad_field", "id", None),
        ('{"action":"stop","id":"c1"}', "bad_field", "session_id", "c1"),
        ('{"action":"stop","id":"c1","session_id":5}', "bad_field", "session_id", "c1"),
        ('{"action":"stop","id":"c1","session_id":"s","x":1}', "bad_field", "x", "c1"),
        ('{"action":"stop","id":["c1"],"session_id":"s"}', "bad_field", "id", None),
        ('{"action":"chat","id":"c1","text":"x","override":{"web_search":"yes"}}', "bad_field", None, "c1"),
        ('{"action":"stop","id":"c1","session_id":"s_none"}', "unknown_session", "session_id", "c1"),
        ('{"action":"subscribe","id":"c1","session_id":"s_none"}', "unknown_session", "session_id", "c1"),
        ('{"action":"subscribe","id":"c1","session_id":"s","after_seq":-1}', "bad_field", "after_seq", "c1"),
        ('{"action":"set_tools_profile","id":"c1","session_id":"s","toolset":"no"}', "unknown_preset", "toolset", "c1"),
        ('{"action":"ping","id":"\\ud800"}', "bad_json", None, None),
        ('{"action":"ping","id":"c1","pad":"' + "x" * 10_000_000 + '"}', "too_large", None, "c1"),
        ("[" * 100_000, "bad_json", None, None),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else None,
)
async def test_bad_input_is_an_error_with_code_and_field_and_the_socket_stays_open(  # P12
    text: str, code: str, field: str | None, client_id: str | None
) -> None:
    async with serving() as edge, edge.client() as client:
        await client.send_raw(text)
        error = await client.frame("error")
        assert (error["code"], error["id"]) == (code, client_id)
        assert field is None or error["field"] == field
        assert error["message"]
        assert (await client.send("ping"))["type"] == "pong"
        assert edge.service.performed == []


async def test_someone_elses_chat_looks_like_none() -> None:  # R12
    async with serving() as edge, edge.client() as client:
        theirs = edge.service.create("someone else")
        messages = []
        for session in (theirs, "s_none"):
            with pytest.raises(Refused) as refused:
                await client.subscribe(session)
            messages.append(refused.value.frame["message"].replace(session, ""))
        assert messages[0] == messages[1]
        assert edge.fanout.topics == 0


async def test_a_binary_frame_is_an_error_and_no_more() -> None:
    async with serving() as edge, edge.client() as client:
        await client.socket.send(b'{"action":"ping","id":"c1"}')
        assert (await client.frame("error"))["code"] == "bad_frame"
        await client.send("ping")


async def test_a_frame_over_16_mb_closes_the_socket_with_1009() -> None:
    async with serving() as edge, edge.socket() as socket:
        await socket.recv()

        async def send_too_much() -> None:
            await socket.send("x" * 16_000_001)
            await socket.recv()

        with pytest.raises(ConnectionClosedError) as closed:
            await send_too_much()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        async with edge.client() as client:
            await client.send("ping")


async def test_a_mistake_of_the_server_is_said_and_the_socket_stays_open() -> None:
    async with serving() as edge, edge.client() as client:
        edge.service.failing["create_session"] = ZeroDivisionError("secret detail")
        with pytest.raises(Refused) as refused:
            await client.send("create_session", id="c1")
        assert refused.value.frame["code"] == "internal"
        assert "secret" not in json.dumps(refused.value.frame)
        del edge.service.failing["create_session"]
        await client.send("create_session", id="c1")


async def test_the_server_pings_and_pongs() -> None:  # P10
    async with serving(heartbeat_s=0.01) as edge, edge.client() as client:
        for _ in range(3):
            assert (await client.frame("ping"))["at"].endswith("Z")
        assert (await client.send("ping", id="p1")) == {"type": "pong", "id": "p1"}


async def test_actions_of_one_socket_are_done_in_order() -> None:
    async with serving() as edge, edge.client() as client:
        session = edge.service.create(USER)
        edge.service.gate = asyncio.Event()
        posted = [await client.post("chat", session_id=session, text=str(number)) for number in range(20)]
        edge.service.gate.set()
        await client.answer(posted[-1])
        answered = [frame["id"] for frame in client.frames if frame["type"] == "ack"]
        assert answered == posted
