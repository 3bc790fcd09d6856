"""Bytes to actions and frames to bytes.

Actions are validated strictly, once, here. Frames are trusted values and are written by the plain serializer: an event
frame is spliced around the stored payload, so that one event is encoded once however many tabs see it.
"""

from functools import cache
from types import MappingProxyType
from typing import Any, Final, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError

from openprogram.core.errors import BadField, BadFrame, BadJson, TooLarge, UnknownAction
from openprogram.core.events import Event
from openprogram.core.jsonio import decode, encode
from openprogram.core.messages import Message
from openprogram.core.protocol.actions import Action
from openprogram.core.protocol.base import SHAPES
from openprogram.core.protocol.frames import ServerFrame
from openprogram.core.storage import StoredEvent

MAX_FRAME_BYTES: Final = 10_000_000
"""Larger client frames are `too_large`; over 16 MB the socket closes with 1009."""


def _action_name(kind: type[Any]) -> str:
    (name,) = get_args(get_type_hints(kind)["action"])
    return str(name)


ACTIONS: Final = MappingProxyType({_action_name(kind): kind for kind in get_args(Action)})
"""Every action by name: for the dispatch table, the documentation and tests that enumerate the protocol."""


@cache
def _action_adapter(kind: type[Any]) -> TypeAdapter[Action]:
    return TypeAdapter(kind)


@cache
def _event_adapter() -> TypeAdapter[Event]:
    return TypeAdapter(Event)


@cache
def _message_adapter() -> TypeAdapter[Message]:
    return TypeAdapter(Message)


def frame_id(data: str | bytes) -> str | None:
    """The `id` of a frame that may otherwise be unusable, so that its error can name it."""
    try:
        value = decode(data)
    except BadJson:
        return None
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def decode_action(data: str | bytes) -> Action:
    """One client frame as a typed action.

    Raises `TooLarge`, `BadJson`, `BadFrame` (not an object, no action), `UnknownAction` or `BadField` with the path.
    """
    size = len(data) if isinstance(data, bytes) else len(data.encode("utf-8", "surrogatepass"))
    if size > MAX_FRAME_BYTES:
        raise TooLarge(f"the frame has {size:,} bytes; the limit is {MAX_FRAME_BYTES:,}")
    value = decode(data)
    if not isinstance(value, dict):
        raise BadFrame("a frame is one JSON object", hint='send {"action": ..., "id": ...}')
    name = value.get("action")
    if not isinstance(name, str):
        raise BadFrame("the frame has no action", field="action")
    kind = ACTIONS.get(name)
    if kind is None:
        raise UnknownAction(f"there is no action {name[:100]!r}", field="action")
    try:
        return _action_adapter(kind).validate_json(data)
    except ValidationError as error:
        raise _bad_field(error) from error


def _bad_field(error: ValidationError) -> BadField:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ".".join(str(part) for part in first["loc"] if part not in SHAPES) or "action"
    return BadField(f"{path}: {first['msg']}", field=path)


def encode_frame(frame: ServerFrame) -> bytes:
    """The bytes of a frame other than an event's."""
    return encode(frame)


def encode_event_frame(event: StoredEvent) -> bytes:
    """The frame of a stored event, its payload unparsed."""
    from_seq = b"" if event.from_seq == event.seq else b'"from_seq":%d,' % event.from_seq
    return b'{"type":"event","session_id":"%s","seq":%d,%s"at":"%s","event":%s}' % (
        event.session_id.encode(),
        event.seq,
        from_seq,
        event.at.encode(),
        event.payload,
    )


def decode_event(payload: bytes) -> Event:
    """A stored event's payload as a typed event."""
    return _event_adapter().validate_json(payload)


def decode_message(data: bytes) -> Message:
    """A stored message."""
    return _message_adapter().validate_json(data)
