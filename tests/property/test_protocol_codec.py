"""Every event, message and action that can be typed survives the wire; what is none is refused with its place."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.errors import BadField, BadFrame, BadJson, TooLarge, UnknownAction
from openprogram.core.events import Event
from openprogram.core.jsonio import JsonObject, JsonValue, decode, encode
from openprogram.core.messages import Message
from openprogram.core.protocol.codec import (
    ACTIONS,
    MAX_FRAME_BYTES,
    decode_action,
    decode_event,
    decode_message,
    encode_event_frame,
    frame_id,
)
from openprogram.core.protocol.user_actions import SetSetting
from openprogram.core.storage import StoredEvent
from tests.support.values import any_of, json_values, texts


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_an_event_that_can_be_typed_comes_back_from_the_log(kind: type[Any]) -> None:  # R1
    @given(any_of(kind))
    def check(event: Event) -> None:
        payload = encode(event)
        assert decode_event(payload) == event
        frame = decode(encode_event_frame(StoredEvent("s_1", 4, 4, "2026", payload)))
        assert frame == {"type": "event", "session_id": "s_1", "seq": 4, "at": "2026", "event": decode(payload)}

    check()


@given(any_of(Message))
def test_a_message_comes_back_from_its_row(message: Message) -> None:  # C13
    assert decode_message(encode(message)) == message


def test_a_row_of_joined_deltas_says_where_it_begins() -> None:  # P2
    frame = decode(encode_event_frame(StoredEvent("s_1", 4, 9, "2026", b"{}")))
    assert isinstance(frame, dict)
    assert (frame["from_seq"], frame["seq"]) == (4, 9)


@pytest.mark.parametrize("kind", ACTIONS.values(), ids=list(ACTIONS))
def test_an_action_that_can_be_typed_is_read_back(kind: type[Any]) -> None:
    @given(any_of(kind))
    def check(action: Any) -> None:
        assert decode_action(encode(action)) == action

    check()


@pytest.mark.parametrize("name", ACTIONS)
def test_an_unknown_field_is_refused_by_name(name: str) -> None:  # P12
    frame: JsonObject = {"action": name, "id": "c_1", "session_id": "s_1", "surprise": 1}
    with pytest.raises(BadField) as caught:
        decode_action(encode(frame))
    assert caught.value.field


@pytest.mark.parametrize(
    ("frame", "error", "field"),
    [
        (b"{", BadJson, None),
        (b"[]", BadFrame, None),
        (b'{"id": "c_1"}', BadFrame, "action"),
        (b'{"action": 1, "id": "c_1"}', BadFrame, "action"),
        (b'{"action": "dance", "id": "c_1"}', UnknownAction, "action"),
        (b'{"action": "ping"}', BadField, "id"),
        (b'{"action": "ping", "id": ""}', BadField, "id"),
        (b'{"action": "ping", "id": 7}', BadField, "id"),
        (b'{"action": "toggle_web_search", "id": "c", "session_id": "s", "value": "yes"}', BadField, "value"),
        (b'{"action": "toggle_web_search", "id": "c", "session_id": "s", "value": 1}', BadField, "value"),
        (b'{"action": "pick_tools", "id": "c", "session_id": "s", "tools": ["a", 1]}', BadField, "tools.1"),
        (b'{"action": "chat", "id": "c", "text": ""}', BadField, "text"),
        (b" " * (MAX_FRAME_BYTES + 1), TooLarge, None),
    ],
)
def test_a_bad_frame_is_refused_with_a_code_and_the_place(
    frame: bytes, error: type[BadFrame], field: str | None
) -> None:  # P12
    with pytest.raises(error) as caught:
        decode_action(frame)
    assert caught.value.field == field


@given(st.binary(max_size=60) | texts)
def test_no_bytes_crash_the_codec(data: bytes | str) -> None:  # R24
    with pytest.raises((BadJson, BadFrame, UnknownAction, BadField)):
        decode_action(data)
    assert frame_id(data) is None


def test_the_id_of_a_bad_frame_is_found_so_that_its_error_can_name_it() -> None:
    assert frame_id(b'{"id": "c_1", "action": "dance"}') == "c_1"
    assert frame_id(b'{"id": 7}') is None


@given(json_values)
def test_a_setting_may_be_any_json(value: JsonValue) -> None:
    action = decode_action(encode({"action": "set_setting", "id": "c", "key": "k", "value": value}))
    assert isinstance(action, SetSetting)
    assert action.value == value
