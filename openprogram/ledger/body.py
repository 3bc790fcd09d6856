"""A request body taken apart into segments and put together again, in whichever wire format (spec cache.md C20). Pure.

Tools, system blocks and messages are segments; what is left is `settings`. Cache breakpoints are no part of a segment:
they wander from request to request and change no cached byte, so that a message is stored once however long it is sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from openprogram.core.jsonio import JsonObject, JsonValue, canonical, decode, decode_object, digest_bytes
from openprogram.core.sent import StoredSegment

Section = Literal["tools", "system", "messages"]
SECTIONS: Final[tuple[Section, ...]] = ("tools", "system", "messages")
"""In the order in which every model is shown them."""

Mark = tuple[JsonValue, ...]
_FIELDS: Final[Mapping[Section, tuple[str, ...]]] = {
    "tools": ("tools",),
    "system": ("system", "instructions"),
    "messages": ("messages", "input"),
}
"""By which names the wire formats have them; a text in the place of a list is a single segment."""
_MARK: Final = "cache_control"
_ASIDE: Final[Mapping[str, str]] = {
    "diagnostics": "previous_message_id",
    "prompt_cache_options": "comparison_response_id",
}
"""Questions about the cache that name the answer before: another one in each request, and no part of the prompt."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A body as segments, each as canonical JSON."""

    tools: tuple[StoredSegment, ...]
    system: tuple[StoredSegment, ...]
    messages: tuple[StoredSegment, ...]
    settings: StoredSegment
    marks: tuple[Mark, ...]

    @property
    def prefix(self) -> tuple[StoredSegment, ...]:
        """What models cache, in their order."""
        return self.tools + self.system + self.messages


def split(body: JsonObject) -> Parts:
    """The parts of a body, which is not changed."""
    asides = {name: body[name] for name in _ASIDE if _only_asks(name, body.get(name))}
    settings = {name: value for name, value in body.items() if name not in asides}
    marks: list[Mark] = [("body", name, None, value) for name, value in asides.items()]
    found: dict[Section, tuple[StoredSegment, ...]] = {}
    for section in SECTIONS:
        name = _field(body, section)
        value = None if name is None else body[name]
        if name is None:
            found[section] = ()
        elif isinstance(value, list):
            settings[name] = []
            found[section] = tuple(_segment(_unmarked(section, place, each, marks)) for place, each in enumerate(value))
        else:
            settings[name] = ""
            found[section] = (_segment(value),)
    return Parts(found["tools"], found["system"], found["messages"], _segment(settings), tuple(marks))


def join(parts: Parts) -> JsonObject:
    """The body again: `canonical` of it gives the bytes that were sent."""
    body = decode_object(parts.settings.data)
    lists: dict[str, list[JsonValue]] = {}
    for section, segments in zip(SECTIONS, (parts.tools, parts.system, parts.messages), strict=True):
        values = [decode(segment.data) for segment in segments]
        name = _field(body, section)
        if name is None:
            continue
        if isinstance(body[name], list):
            body[name] = lists[section] = values
        else:
            body[name] = values[0]
    for mark in parts.marks:
        if mark[0] == "body":
            body[str(mark[1])] = mark[3]
        else:
            _put_back(lists, mark)
    return body


def name_of(section: Section, place: int, data: bytes) -> str:
    """What people call a segment: a tool by its name, a message by its role and number."""
    value = decode(data)
    if not isinstance(value, dict):
        return str(place)
    function = value.get("function")
    match section:
        case "tools":
            inner = function if isinstance(function, dict) else value
            return str(inner.get("name", place))
        case "system":
            return str(place)
        case "messages":
            return f"{value.get('role', value.get('type', 'item'))} {place}"


def _only_asks(name: str, value: JsonValue) -> bool:
    return isinstance(value, dict) and list(value) == [_ASIDE[name]]


def _field(body: JsonObject, section: Section) -> str | None:
    return next((name for name in _FIELDS[section] if isinstance(body.get(name), list | str)), None)


def _segment(value: JsonValue) -> StoredSegment:
    data = canonical(value)
    return StoredSegment(digest_bytes(data), data)


def _unmarked(section: Section, place: int, value: JsonValue, marks: list[Mark]) -> JsonValue:
    """The segment without its breakpoints, which are added to `marks`."""
    if not isinstance(value, dict):
        return value
    if _MARK in value:
        marks.append((section, place, None, value[_MARK]))
        value = {name: each for name, each in value.items() if name != _MARK}
    content = value.get("content")
    if section != "messages" or not isinstance(content, list):
        return value
    bare: list[JsonValue] = []
    for number, block in enumerate(content):
        if isinstance(block, dict) and _MARK in block:
            marks.append((section, place, number, block[_MARK]))
            block = {name: each for name, each in block.items() if name != _MARK}  # noqa: PLW2901
        bare.append(block)
    return {**value, "content": bare}


def _put_back(lists: Mapping[str, Sequence[JsonValue]], mark: Mark) -> None:
    section, place, number, value = mark
    target = lists[str(section)][int(str(place))]
    if number is not None and isinstance(target, dict):
        content = target["content"]
        target = content[int(str(number))] if isinstance(content, list) else None
    if isinstance(target, dict):
        target[_MARK] = value
