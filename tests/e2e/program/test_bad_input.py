"""Bad input gets an error with a stable code and a field; the socket stays open and nothing is half done (P12)."""

import uuid
from contextlib import suppress
from typing import Any, Final

import aiohttp
import orjson
import pytest
from websockets.exceptions import ConnectionClosedError

from openprogram.session_config.patches import MAX_PICKED
from tests.support.conversation import Chat, sent
from tests.support.fake import FakeApi
from tests.support.server import Server
from tests.support.ws import Client, Frame

pytestmark = pytest.mark.asyncio(loop_scope="session")

SID: Final = "s_00000000000000000000000000"
LONG: Final = "x" * 201

RAW: Final = (
    ("", "bad_json", None),
    ("{", "bad_json", None),
    ("nonsense", "bad_json", None),
    ('{"action":"ping","id":"p"} trailing', "bad_json", None),
    ('{"action":"chat","id":"c","text":"\\ud800"}', "bad_json", None),
    ("[" * 2000, "bad_json", None),
    ("NaN", "bad_json", None),
    ("null", "bad_frame", None),
    ("[]", "bad_frame", None),
    ('"ping"', "bad_frame", None),
    ("{}", "bad_frame", "action"),
    ('{"id":"x"}', "bad_frame", "action"),
    ('{"action":7,"id":"x"}', "bad_frame", "action"),
    ('{"action":"drop_tables","id":"x"}', "unknown_action", "action"),
    ('{"action":"CHAT","id":"x"}', "unknown_action", "action"),
    ('{"action":"ping"}', "bad_field", "id"),
    ('{"action":"ping","id":""}', "bad_field", "id"),
    ('{"action":"ping","id":7}', "bad_field", "id"),
    ('{"action":"ping","id":null}', "bad_field", "id"),
    ('{"action":"ping","id":"x","more":1}', "bad_field", "more"),
)

ACTIONS: Final[tuple[tuple[str, dict[str, Any], str, str | None], ...]] = (
    ("chat", {}, "bad_field", "text"),
    ("chat", {"text": ""}, "bad_field", "text"),
    ("chat", {"text": " \n\t"}, "bad_field", "text"),
    ("chat", {"text": None}, "bad_field", "text"),
    ("chat", {"text": ["hi"]}, "bad_field", "text"),
    ("chat", {"text": "x" * 2_000_001}, "bad_field", "text"),
    ("chat", {"text": "hi", "mode": "shout"}, "bad_field", "mode"),
    ("chat", {"text": "hi", "attachments": "a"}, "bad_field", "attachments"),
    ("chat", {"text": "hi", "attachments": ["a"]}, "bad_field", "attachments"),
    ("chat", {"text": "hi", "override": {"tools": ["bash"]}}, "bad_field", None),
    ("chat", {"text": "hi", "override": {"web_search": 1}}, "bad_field", None),
    ("chat", {"text": "hi", "override": "full"}, "bad_field", None),
    ("chat", {"text": "hi", "session_id": 7}, "bad_field", "session_id"),
    ("chat", {"text": "hi", "session_id": SID}, "unknown_session", "session_id"),
    ("chat", {"text": "hi", "session_id": "../../etc/passwd"}, "unknown_session", "session_id"),
    ("chat", {"text": "hi", "session_id": "'; DROP TABLE sessions; --"}, "unknown_session", "session_id"),
    ("chat", {"text": "hi", "session_id": LONG}, "bad_field", "session_id"),
    ("stop", {}, "bad_field", "session_id"),
    ("stop", {"session_id": SID}, "unknown_session", "session_id"),
    ("continue_turn", {"session_id": SID}, "unknown_session", "session_id"),
    ("regenerate", {"session_id": SID, "message_id": "m_1"}, "unknown_session", "session_id"),
    ("load_messages", {"session_id": SID}, "unknown_session", "session_id"),
    ("explain_tools", {"session_id": SID}, "unknown_session", "session_id"),
    ("inspect_cache", {"session_id": SID}, "unknown_session", "session_id"),
    ("delete_session", {"session_id": SID}, "unknown_session", "session_id"),
    ("toggle_web_search", {"session_id": SID, "value": True}, "unknown_session", "session_id"),
    ("answer_approval", {"session_id": SID, "approval_id": "a", "decision": "once"}, "unknown_session", "session_id"),
    ("subscribe", {"session_id": SID}, "unknown_session", "session_id"),
    ("subscribe", {"session_id": SID, "after_seq": -1}, "bad_field", "after_seq"),
    ("subscribe", {"session_id": SID, "after_seq": "0"}, "bad_field", "after_seq"),
    ("subscribe", {"session_id": SID, "after_seq": 1.5}, "bad_field", "after_seq"),
    ("list_sessions", {"limit": 0}, "bad_field", "limit"),
    ("list_sessions", {"limit": 100_000}, "bad_field", "limit"),
    ("create_session", {"title": ""}, "bad_field", "title"),
    ("create_session", {"model": "nobody/nothing"}, "bad_field", "model"),
    ("create_session", {"model": "openai/nothing"}, "bad_field", "model"),
    ("create_session", {"workspace": "relative"}, "bad_field", "workspace"),
    ("create_session", {"workspace": "/nowhere/at/all"}, "bad_field", "workspace"),
    ("set_setting", {"key": "nonsense", "value": 1}, "bad_field", "key"),
    ("set_setting", {"key": "keyless_search_consent", "value": "yes"}, "bad_field", "value"),
    ("set_setting", {"key": "new_chats", "value": {"mode": "never"}}, "bad_field", "value"),
    ("set_setting", {"key": "permission_mode", "value": "bypass"}, "bad_field", "value"),
    ("set_setting", {"key": "costly_send", "value": 20_000}, "bad_field", "value"),
    ("set_setting", {"key": "costly_send", "value": {"tokens": -1, "dollars": 0}}, "bad_field", "value"),
    ("set_setting", {"key": "costly_send", "value": {"tokens": True, "dollars": 0}}, "bad_field", "value"),
    ("preview_send", {"session_id": SID}, "unknown_session", "session_id"),
    ("preview_models", {"session_id": SID}, "unknown_session", "session_id"),
)

ON_A_CHAT: Final[tuple[tuple[str, dict[str, Any], str, str | None], ...]] = (
    ("toggle_web_search", {}, "bad_field", "value"),
    ("toggle_web_search", {"value": "true"}, "bad_field", "value"),
    ("toggle_web_search", {"value": 1}, "bad_field", "value"),
    ("set_tools_profile", {}, "bad_field", "toolset"),
    ("set_tools_profile", {"toolset": ""}, "bad_field", "toolset"),
    ("set_tools_profile", {"toolset": "Research"}, "unknown_preset", "toolset"),
    ("set_tools_enabled", {"value": "on"}, "bad_field", "value"),
    ("set_tool_disabled", {"name": "no_such_tool", "value": True}, "unknown_tool", "name"),
    ("set_tool_disabled", {"name": "web_search", "value": True}, "bad_field", "name"),
    ("set_tool_disabled", {"name": "bash"}, "bad_field", "value"),
    ("pick_tools", {"tools": "bash"}, "bad_field", "tools"),
    ("pick_tools", {"tools": [7]}, "bad_field", "tools.0"),
    ("pick_tools", {"tools": [f"t{number}" for number in range(MAX_PICKED + 1)]}, "limit_exceeded", "tools"),
    ("set_permission_mode", {"mode": "bypass"}, "bad_field", "mode"),
    ("set_model", {"model": "nobody/nothing"}, "bad_field", "model"),
    ("inspect_step", {"turn_id": "t_1", "step": 1}, "bad_field", "step"),
    ("inspect_step", {"turn_id": "t_1", "step": 0}, "bad_field", "step"),
    ("preview_toggle", {"toggle": "delete_session"}, "bad_field", "toggle"),
    ("preview_toggle", {"toggle": "set_tools_profile", "toolset": "Research"}, "unknown_preset", "toolset"),
    ("preview_toggle", {"toggle": "set_tool_disabled", "value": True}, "bad_field", "name"),
    ("preview_toggle", {"toggle": "set_model", "model": "nobody/nothing"}, "bad_field", "model"),
    ("answer_approval", {"approval_id": "a_1", "decision": "once"}, "bad_field", "approval_id"),
    ("answer_approval", {"approval_id": "a_1", "decision": "perhaps"}, "bad_field", "decision"),
    ("edit_message", {"message_id": "m_1", "text": "hi"}, "bad_field", "message_id"),
    ("regenerate", {"message_id": "m_1"}, "bad_field", "message_id"),
    ("select_branch", {"message_id": "m_1"}, "bad_field", "message_id"),
    ("edit_queue", {"queued_id": "q_1", "text": None}, "bad_field", "queued_id"),
    ("load_messages", {"before": "m_1"}, "bad_field", "before"),
    ("load_messages", {"limit": 501}, "bad_field", "limit"),
    ("continue_turn", {}, "bad_field", "session_id"),
)


async def error_for(client: Client, text: str) -> Frame:
    """The error frame that answers this text; a ping after it shows that the socket lives on."""
    start = len(client.frames)
    await client.send_raw(text)
    error = await client.frame("error")
    await client.send("ping")
    assert [frame for frame in client.frames[start:] if frame["type"] == "error"] == [error]
    return error


def assert_error(error: Frame, code: str, field: str | None) -> None:
    assert error["code"] == code, error
    assert error["message"]
    assert "Traceback" not in error["message"]
    if field is not None:
        assert error["field"] == field, error


@pytest.mark.parametrize(("text", "code", "field"), RAW)
async def test_what_is_no_frame_is_told_and_the_socket_stays_open(
    client: Client, text: str, code: str, field: str | None
) -> None:
    assert_error(await error_for(client, text), code, field)


async def test_a_bad_action_is_told_by_code_and_field_and_changes_nothing(client: Client, fake: FakeApi) -> None:
    chat = await Chat.create(client, "openai")
    before = await chat.snapshot()
    listed = await client.send("list_sessions", limit=1000, id="list")
    settings = await client.send("get_settings", id="settings")
    cases = [*ACTIONS, *((name, {"session_id": chat.id} | fields, code, at) for name, fields, code, at in ON_A_CHAT)]
    for name, fields, code, field in cases:
        client_id = f"c_{uuid.uuid4().hex}"
        error = await error_for(client, orjson.dumps({"action": name, "id": client_id} | fields).decode())
        assert error["id"] == client_id, error
        assert_error(error, code, field)
    assert await chat.snapshot() == before
    assert await client.send("list_sessions", limit=1000, id="list") == listed
    assert await client.send("get_settings", id="settings") == settings
    assert await sent(fake) == []
    # The chat's own first event may have been shown, or be in the snapshot that was asked for right after.
    assert [frame["seq"] for frame in client.frames if frame["type"] == "event"] in ([], [1])


async def test_a_frame_of_ten_megabytes_is_too_large_and_the_socket_stays_open(client: Client) -> None:
    text = orjson.dumps({"action": "chat", "id": "c_large", "text": "x" * 10_000_000}).decode()
    error = await error_for(client, text)
    assert_error(error, "too_large", None)


async def test_a_frame_of_sixteen_megabytes_closes_the_socket_with_1009(server: Server, fake: FakeApi) -> None:
    async with server.client() as client:
        with suppress(ConnectionClosedError):  # it may be closed before all of it is sent
            await client.send_raw("x" * 16_000_001)
        await client.socket.wait_closed()
        assert client.socket.close_code == 1009


async def test_a_binary_frame_is_told_and_the_socket_stays_open(client: Client) -> None:
    await client.socket.send(b'{"action":"ping","id":"p"}')
    assert (await client.frame("error"))["code"] == "bad_frame"
    await client.send("ping")


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/api/actions/ping", b"{", 400, "bad_json"),
        ("/api/actions/ping", b"[]", 400, "bad_json"),
        ("/api/actions/ping", b'{"action":"stop"}', 400, "bad_field"),
        ("/api/actions/nothing", b"{}", 404, "unknown_action"),
        ("/api/actions/chat", b"{}", 400, "bad_field"),
        ("/api/actions/stop", b'{"session_id":"s_1"}', 404, "unknown_session"),
        ("/api/actions/subscribe", b'{"session_id":"s_1"}', 400, "bad_frame"),
    ],
)
async def test_the_same_holds_over_http(server: Server, fake: FakeApi, path: str, body: bytes, status: int, code: str):
    headers = {"authorization": f"Bearer {server.token}"}
    async with aiohttp.ClientSession() as http, http.post(server.url + path, data=body, headers=headers) as response:
        frame = await response.json()
    assert (response.status, frame["type"], frame["code"]) == (status, "error", code)


async def test_an_event_stream_for_a_bad_seq_or_chat_is_refused(server: Server, fake: FakeApi) -> None:
    headers = {"authorization": f"Bearer {server.token}"}
    async with aiohttp.ClientSession(server.url, headers=headers) as http:
        for path, status, code in (
            (f"/api/sessions/{SID}/events", 404, "unknown_session"),
            (f"/api/sessions/{SID}/events?after_seq=x", 400, "bad_field"),
        ):
            async with http.get(path) as response:
                assert (response.status, (await response.json())["code"]) == (status, code)
