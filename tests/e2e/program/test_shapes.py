"""The frames that outside programs rely on, letter for letter as spec/protocol.md has them."""

import re
import uuid
from collections.abc import Mapping
from typing import Any, Final

import orjson
import pytest

from tests.support.conversation import Chat, call_block, text_block
from tests.support.fake import FakeApi
from tests.support.server import Server
from tests.support.ws import Client, Frame, Refused

pytestmark = pytest.mark.asyncio(loop_scope="session")

AT: Final = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


async def answer(client: Client, text: str, /, **values: str) -> Frame:
    """Send a frame as it stands in the specification, with fresh ids put in, and return what answers it."""
    fresh = f"c_{uuid.uuid4().hex}"
    await client.send_raw(text.replace("SID", values.get("sid", "")).replace("ID", fresh))
    frame = await client.answer(fresh)
    assert frame["id"] == fresh
    return frame


def has(frame: Frame, shape: Mapping[str, Any]) -> None:
    """Every field of `shape` is in `frame`: equal, or of that type, or a text that matches that pattern."""
    for name, wanted in shape.items():
        assert name in frame, (name, frame)
        found = frame[name]
        if isinstance(wanted, re.Pattern):
            assert isinstance(found, str), (name, found)
            assert wanted.fullmatch(found), (name, found)
        elif isinstance(wanted, type):
            assert isinstance(found, wanted), (name, found)
        elif isinstance(wanted, Mapping):
            has(found, wanted)
        else:
            assert found == wanted, (name, found)


SESSION: Final = re.compile(r"s_[0-9a-z]+")
MESSAGE: Final = re.compile(r"m_[0-9a-z]+")


async def test_hello_comes_first(server: Server, client: Client) -> None:
    assert client.frames[0] is client.hello
    hello = {"type": "hello", "version": "openprogram.v1", "user": {"id": str}, "models": list, "presets": list}
    has(client.hello, hello)
    assert {"openai/demo", "anthropic/demo"} <= {model["id"] for model in client.hello["models"]}
    names = [preset["name"] for preset in client.hello["presets"]]
    assert {"default", "full", "coding", "research", "browser", "safe", "none"} <= set(names)
    assert client.socket.subprotocol == "openprogram.v1"


@pytest.mark.parametrize(
    "frame",
    [
        '{"action":"chat","id":"ID","session_id":null,"text":"hi","attachments":[],"mode":"send","override":null}',
        '{"action":"chat","id":"ID","session_id":null,"text":"hi"}',
        '{"action":"chat","id":"ID","text":"hi"}',
    ],
)
async def test_chat_is_acknowledged_with_chat_and_message(client: Client, fake: FakeApi, frame: str) -> None:
    await fake.say("Hello.")
    ack = await answer(client, frame)
    has(ack, {"type": "ack", "session_id": SESSION, "message_id": MESSAGE})
    chat = await Chat.join(client, ack["session_id"])
    added = await chat.event("message_added")
    assert added["message"]["id"] == ack["message_id"]
    await chat.event("turn_finished", reason="done")


async def test_create_session_is_acknowledged_with_the_chat(client: Client) -> None:
    has(await answer(client, '{"action":"create_session","id":"ID"}'), {"type": "ack", "session_id": SESSION})


async def test_intent_actions_are_acknowledged_with_revision_and_when_they_apply(client: Client) -> None:
    chat = await Chat.create(client, "openai")
    frames = (
        '{"action":"toggle_web_search","id":"ID","session_id":"SID","value":true}',
        '{"action":"toggle_web_search","id":"ID","session_id":"SID","value":false}',
        '{"action":"toggle_web_search","id":"ID","session_id":"SID","value":null}',
        '{"action":"set_tools_profile","id":"ID","session_id":"SID","toolset":"research"}',
        '{"action":"set_tools_profile","id":"ID","session_id":"SID","toolset":null}',
        '{"action":"set_tools_enabled","id":"ID","session_id":"SID","value":false}',
        '{"action":"set_tool_disabled","id":"ID","session_id":"SID","name":"bash","value":true}',
        '{"action":"pick_tools","id":"ID","session_id":"SID","tools":["read"]}',
        '{"action":"pick_tools","id":"ID","session_id":"SID","tools":null}',
    )
    for revision, frame in enumerate(frames, 1):
        ack = await answer(client, frame, sid=chat.id)
        has(ack, {"type": "ack", "session_id": chat.id, "revision": revision, "applies": "now"})


async def test_an_intent_that_changed_is_an_event_with_its_effect(client: Client) -> None:
    chat = await Chat.create(client, "openai")
    await chat.act("toggle_web_search", value=True)
    await chat.event("intent_changed")
    frame = next(frame for frame in client.frames if frame.get("event", {}).get("type") == "intent_changed")
    has(frame, {"type": "event", "session_id": chat.id, "seq": 2, "at": re.compile(AT)})
    has(frame["event"], {"type": "intent_changed", "intent": dict, "revision": 1})
    has(frame["event"], {"effective": {"web_search": {"state": "on", "reason": None}}})
    intent: Frame = {"enabled": None, "toolset": None, "web_search": True, "disabled": [], "picked": None}
    has(frame["event"]["intent"], intent)


async def test_a_no_op_keeps_the_revision_and_is_no_event(client: Client) -> None:
    chat = await Chat.create(client, "openai")
    first = await chat.act("toggle_web_search", value=True)
    second = await chat.act("toggle_web_search", value=True)
    assert (first["revision"], second["revision"]) == (1, 1)
    await chat.act("toggle_web_search", value=False)
    await chat.event("intent_changed", revision=2)
    assert len(client.received(chat.id, "intent_changed")) == 2


async def test_applies_says_next_turn_only_for_what_is_added_during_a_turn(client: Client, fake: FakeApi) -> None:
    await fake.say("A ", {"text": "b", "hold": "h"})
    chat = await Chat.create(client, "openai")
    await chat.send("hello")
    await chat.event("text_delta")
    assert (await chat.act("toggle_web_search", value=True))["applies"] == "next_turn"
    assert (await chat.act("toggle_web_search", value=False))["applies"] == "now"
    assert (await chat.act("set_tool_disabled", name="bash", value=True))["applies"] == "now"
    assert (await chat.act("set_tools_profile", toolset="none"))["applies"] == "now"
    assert (await chat.act("set_tools_profile", toolset="full"))["applies"] == "next_turn"
    await fake.release("h")
    await chat.event("turn_finished")
    assert (await chat.act("toggle_web_search", value=True))["applies"] == "now"


async def test_a_snapshot_has_the_state(client: Client) -> None:
    chat = await Chat.create(client, "openai")
    await client.subscribe(chat.id, snapshot=True)
    frame = await client.frame("snapshot", session_id=chat.id)
    has(frame, {"type": "snapshot", "session_id": chat.id, "seq": 1, "state": dict})
    has(frame["state"], {"messages": [], "status": "idle", "intent": dict, "queue": [], "approvals": []})


async def test_an_unknown_preset_is_an_error_with_field_and_choices(client: Client) -> None:
    chat = await Chat.create(client, "openai")
    with pytest.raises(Refused) as refused:
        await chat.act("set_tools_profile", toolset="researhc")
    has(
        refused.value.frame,
        {"type": "error", "id": str, "code": "unknown_preset", "message": str, "field": "toolset", "hint": str},
    )
    assert "research" in refused.value.frame["hint"]


async def test_ping_is_answered_by_pong(client: Client) -> None:
    assert (await answer(client, '{"action":"ping","id":"ID"}'))["type"] == "pong"


PAYLOADS: Final[Mapping[str, Mapping[str, Any]]] = {
    "message_added": {"message": dict},
    "turn_started": {"turn_id": str, "fingerprint": str, "tools": list, "residency": dict},
    "step_started": {
        "turn_id": str,
        "step": int,
        "resident": list,
        "loaded": list,
        "deferred_count": int,
        "plan": dict,
        "reason": str,
        "causes": list,
    },
    "text_delta": {"message_id": MESSAGE, "block": int, "text": str},
    "tool_call_delta": {"call_id": "call_1"},
    "tool_call_started": {"call_id": "call_1", "name": "bash", "arguments": {"command": "echo hello"}},
    "approval_requested": {"approval_id": str, "call_id": "call_1", "tool": "bash", "preview": "echo hello"},
    "approval_resolved": {"approval_id": str, "decision": "once"},
    "tool_output_delta": {"call_id": "call_1", "text": "hello\n"},
    "tool_call_finished": {"call_id": "call_1", "status": "ok", "result": dict},
    "step_finished": {"usage": dict, "cost": object, "cache": dict},
    "turn_finished": {"turn_id": str, "reason": "done", "error": None},
}


async def test_the_events_of_a_turn_have_their_payloads(client: Client, fake: FakeApi, wire: str) -> None:
    await fake.script({"blocks": [text_block("I say hello."), call_block("bash", "call_1", command="echo hello")]})
    await fake.say("Said.")
    chat = await Chat.create(client, wire)
    await chat.send("say hello")
    asked = await chat.event("approval_requested")
    await chat.act("answer_approval", approval_id=asked["approval_id"], decision="once")
    await chat.event("turn_finished")
    for kind, payload in PAYLOADS.items():
        events = client.received(chat.id, kind)
        assert events, kind
        for event in events:
            has(event, payload)
    assert all(orjson.dumps(frame) for frame in client.frames)
