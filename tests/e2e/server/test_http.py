"""The actions as POST, and event streams."""

import asyncio
import io
import json

import aiohttp
import pytest

from openprogram.core.events import Notice
from openprogram.core.protocol.codec import ACTIONS
from tests.support.edge import BEARER, USER, Served, serving
from tests.support.ws import WAIT_S, Frame


async def post(edge: Served, action: str, body: object = None, *, raw: bytes | None = None) -> tuple[int, Frame]:
    data = raw if raw is not None else json.dumps({} if body is None else body).encode()
    async with edge.http(**BEARER) as http, http.post(f"/api/actions/{action}", data=io.BytesIO(data)) as answer:
        return answer.status, await answer.json()


async def test_an_action_by_post_is_the_action_by_socket() -> None:
    async with serving() as edge:
        status, ack = await post(edge, "create_session")
        assert (status, ack["type"]) == (200, "ack")
        session = ack["session_id"]
        chat = {"id": "c1", "session_id": session, "text": "hi"}
        first, second = await post(edge, "chat", chat), await post(edge, "chat", {**chat, "action": "chat"})
        assert first == second
        assert first[1]["id"] == "c1"
        assert edge.log.last_seq(session) == 1
        assert (await post(edge, "ping", {"id": "p"})) == (200, {"type": "pong", "id": "p"})


@pytest.mark.parametrize(
    ("action", "body", "status", "code", "field"),
    [
        ("chat", b"{", 400, "bad_json", None),
        ("chat", b"[]", 400, "bad_json", None),
        ("chat", b'{"action":"stop"}', 400, "bad_field", "action"),
        ("chat", b'{"text":5}', 400, "bad_field", "text"),
        ("chat", b'{"text":"x","id":""}', 400, "bad_field", "id"),
        ("dance", b"{}", 404, "unknown_action", "action"),
        ("stop", b'{"session_id":"s_none"}', 404, "unknown_session", "session_id"),
        ("set_tools_profile", b'{"session_id":"s","toolset":"no"}', 400, "unknown_preset", "toolset"),
        ("subscribe", b'{"session_id":null}', 400, "bad_frame", "action"),
        ("unsubscribe", b'{"session_id":null}', 400, "bad_frame", "action"),
        ("chat", b" " * 10_000_001, 413, "too_large", None),
    ],
)
async def test_a_bad_post_is_an_error_with_code_field_and_status(
    action: str, body: bytes, status: int, code: str, field: str | None
) -> None:
    async with serving() as edge:
        answer = await post(edge, action, raw=body)
        assert (answer[0], answer[1]["code"], answer[1]["field"]) == (status, code, field)
        assert edge.service.performed == []


async def test_every_action_of_the_protocol_can_be_posted() -> None:
    async with serving() as edge:
        for action in ACTIONS:
            status, answer = await post(edge, action)
            assert status != 500
            assert answer["type"] in ("ack", "pong", "error")
            assert answer.get("code") != "unknown_action"


async def test_a_mistake_of_the_server_is_said_without_its_details() -> None:
    async with serving() as edge:
        edge.service.failing["create_session"] = ZeroDivisionError("secret detail")
        status, error = await post(edge, "create_session", {"id": "c1"})
        assert (status, error["code"], error["id"]) == (500, "internal", "c1")
        assert "secret" not in json.dumps(error)


async def test_other_addresses_below_api_are_errors_too() -> None:
    async with serving() as edge, edge.http(**BEARER) as http:
        async with http.get("/api/actions/ping") as answer:
            assert (answer.status, (await answer.json())["code"]) == (405, "bad_frame")
        async with http.post("/api/nothing") as answer:
            assert (answer.status, (await answer.json())["code"]) == (404, "bad_frame")


async def test_metrics_count_what_happens() -> None:
    async with serving() as edge:
        async with edge.client() as client:
            await client.send("ping")
            await client.send("create_session")
            await post(edge, "dance")
            async with edge.http(**BEARER) as http, http.get("/metrics") as answer:
                text = await answer.text()
        for line in (
            "openprogram_sockets 1.0",
            "openprogram_sockets_opened_total 1.0",
            'openprogram_actions_total{action="ping",outcome="ok"} 1.0',
            'openprogram_actions_total{action="?",outcome="unknown_action"} 1.0',
        ):
            assert line in text.splitlines()
        assert "process_resident_memory_bytes" in text


class Events:
    """A minimal reader of server-sent events."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def next(self) -> tuple[str | None, Frame | str]:
        """`(id, frame)` of the next event, or `(None, comment)`."""
        block = (await self._answer.content.readuntil(b"\n\n")).decode().rstrip("\n")
        if block.startswith(":"):
            return None, block
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        return fields["id"], json.loads(fields["data"])


async def test_events_stream_from_the_log_and_then_live_and_resume_by_last_event_id() -> None:  # P2
    async with serving() as edge, edge.http(**BEARER) as http:
        session = edge.service.create(USER)
        edge.service.notices(session, 2)
        address = f"/api/sessions/{session}/events"
        async with http.get(address) as answer:
            assert (answer.status, answer.content_type) == (200, "text/event-stream")
            events = Events(answer)
            assert [(await events.next())[0] for _ in range(2)] == ["1", "2"]
            edge.service.emit(session, Notice("note", "two lines\nof text"))
            seq, frame = await events.next()
            assert isinstance(frame, dict)
            assert (seq, frame["seq"], frame["event"]["message"]) == ("3", 3, "two lines\nof text")
        edge.service.notices(session, 1)
        async with http.get(address, headers={"Last-Event-ID": "3"}) as answer:
            assert (await Events(answer).next())[0] == "4"
        async with http.get(f"{address}?after_seq=2") as answer:
            assert (await Events(answer).next())[0] == "3"
        async with http.get(f"{address}?snapshot=1") as answer:
            seq, frame = await Events(answer).next()
            assert isinstance(frame, dict)
            assert (seq, frame["type"]) == ("4", "snapshot")


async def test_an_idle_stream_is_kept_alive_and_ends_with_its_reader() -> None:
    async with serving(heartbeat_s=0.01) as edge, edge.http(**BEARER) as http:
        session = edge.service.create(USER)
        async with http.get(f"/api/sessions/{session}/events") as answer:
            assert await Events(answer).next() == (None, ": ping")
            assert edge.fanout.readers == 1
            gone = asyncio.Event()
            edge.bus.left = gone.set
        async with asyncio.timeout(WAIT_S):
            await gone.wait()
        assert edge.fanout.readers == 0
        assert edge.edge.metrics.streams == 0


async def test_streams_end_when_the_server_goes_down() -> None:
    async with serving() as edge, edge.http(**BEARER) as http:
        session = edge.service.create(USER)
        edge.service.notices(session, 1)
        async with http.get(f"/api/sessions/{session}/events") as answer:
            await Events(answer).next()
            edge.fanout.close()
            assert await answer.content.read() == b""


@pytest.mark.parametrize(
    ("path", "headers", "status", "code"),
    [
        ("/api/sessions/s_none/events", {}, 404, "unknown_session"),
        ("/api/sessions/{theirs}/events", {}, 404, "unknown_session"),
        ("/api/sessions/{mine}/events?after_seq=-1", {}, 400, "bad_field"),
        ("/api/sessions/{mine}/events?after_seq=x", {}, 400, "bad_field"),
        ("/api/sessions/{mine}/events", {"Last-Event-ID": "99999999999999999999"}, 400, "bad_field"),
    ],
)
async def test_a_bad_stream_request_is_an_error(path: str, headers: dict[str, str], status: int, code: str) -> None:
    async with serving() as edge, edge.http(**BEARER) as http:
        names = {"mine": edge.service.create(USER), "theirs": edge.service.create("someone else")}
        async with http.get(path.format(**names), headers=headers) as answer:
            assert (answer.status, (await answer.json())["code"]) == (status, code)
        assert edge.fanout.readers == 0
