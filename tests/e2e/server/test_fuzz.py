"""R24: random and mutated frames. Every one is answered, nothing crashes, nothing changes without a valid action."""

import asyncio
import json
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.core.errors import OpenProgramError
from openprogram.core.protocol.actions import Action
from openprogram.core.protocol.codec import ACTIONS, decode_action
from tests.support.edge import BEARER, serving

VALID: list[dict[str, Any]] = [
    {
        "action": "chat",
        "id": "c",
        "session_id": None,
        "text": "hi",
        "attachments": [],
        "mode": "send",
        "override": None,
    },
    {"action": "toggle_web_search", "id": "c", "session_id": "s_1", "value": True},
    {"action": "set_tools_profile", "id": "c", "session_id": "s_1", "toolset": "research"},
    {"action": "subscribe", "id": "c", "session_id": "s_1", "after_seq": 0, "snapshot": False},
    {"action": "load_messages", "id": "c", "session_id": "s_1", "before": None, "limit": 10},
    {"action": "answer_approval", "id": "c", "session_id": "s_1", "approval_id": "a", "decision": "once"},
    {"action": "set_setting", "id": "c", "key": "k", "value": {"a": [1]}},
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(sorted(ACTIONS)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A valid frame with fields replaced, added and dropped, and perhaps with damaged text."""
    frame = dict(draw(st.sampled_from(VALID)))
    for _ in range(draw(st.integers(0, 3))):
        key = draw(st.sampled_from(sorted(frame)) | st.text(max_size=8)) if frame else "x"
        if draw(st.booleans()):
            frame[key] = draw(JSON)
        else:
            frame.pop(key, None)
    text = json.dumps(frame)
    if draw(st.integers(0, 3)) == 0:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.text(max_size=3)) + text[at + draw(st.integers(0, 3)) :]
    return text


def _utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


FRAMES = st.one_of(mutated(), JSON.map(json.dumps), st.text(max_size=60)).filter(_utf8)
"""Text frames; what is not UTF-8 cannot be one."""


def valid(text: str) -> bool:
    try:
        decode_action(text)
    except OpenProgramError:
        return False
    return True


@settings(max_examples=25)
@given(frames=st.lists(FRAMES, min_size=1, max_size=40))
def test_every_frame_is_answered_and_only_valid_actions_do_something(frames: list[str]) -> None:
    async def run() -> None:
        async with serving() as edge, edge.client() as client:
            edge.log.owners["s_1"] = "local"
            for frame in frames:
                await client.send_raw(frame)
            await client.until_answered(len(frames))
            await client.answer(await client.post("ping", id="the end"))
            answers = [frame for frame in client.frames if frame["type"] in ("ack", "pong", "error")]
            assert len(answers) == len(frames) + 1
            assert "internal" not in [frame.get("code") for frame in answers]
            assert len(edge.service.performed) <= sum(valid(frame) for frame in frames)

    asyncio.run(run())


@settings(max_examples=15)
@given(bodies=st.lists(st.tuples(st.sampled_from(sorted(ACTIONS)), FRAMES), min_size=1, max_size=20))
def test_no_body_makes_the_server_fail(bodies: list[tuple[str, str]]) -> None:
    async def run() -> None:
        async with serving() as edge, edge.http(**BEARER) as http:
            edge.log.owners["s_1"] = "local"
            for action, body in bodies:
                async with http.post(f"/api/actions/{action}", data=body.encode()) as answer:
                    assert answer.status < 500
                    assert (await answer.json())["type"] in ("ack", "pong", "error")

    asyncio.run(run())


@settings(max_examples=25)
@given(chunks=st.lists(st.binary(max_size=60), min_size=1, max_size=10))
def test_bytes_that_are_no_websocket_frames_end_that_socket_only(chunks: list[bytes]) -> None:
    async def run() -> None:
        async with serving() as edge:
            async with edge.socket() as socket:
                await socket.recv()
                for chunk in chunks:
                    socket.transport.write(chunk)
                socket.transport.abort()
            async with edge.client() as client:
                await client.send("ping")

    asyncio.run(run())


def test_the_fuzzer_starts_from_valid_frames() -> None:
    assert all(valid(json.dumps(frame)) for frame in VALID)
    assert len(get_args(Action)) == len(ACTIONS)
