"""Small readers for JSON that came over the wire, so that rules and renderers never trip over its shape.

`JsonObject` is looser than core's: here stands the other side, which takes whatever a client sends.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

import orjson

JsonObject: TypeAlias = dict[str, Any]


def compact(value: Any) -> str:
    """`value` as compact JSON, keys in the order they came in: another order is another prompt."""
    return orjson.dumps(value).decode()


def without(value: JsonObject, *names: str) -> JsonObject:
    """A copy of `value` that lacks `names`."""
    return {key: item for key, item in value.items() if key not in names}


@lru_cache(maxsize=8192)
def json_string(text: str) -> bytes:
    """`text` as a JSON string. Cached: a benchmark streams the same few hundred pieces all the time."""
    return orjson.dumps(text)


def child(value: Any, name: str) -> JsonObject:
    """The object under `name`, or an empty one where there is none."""
    inner = value.get(name) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def objects(value: Any) -> list[JsonObject]:
    """The objects in a JSON list; what is no list, or in it no object, is left out."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict)]


def content_blocks(message: JsonObject) -> list[JsonObject]:
    """A message's content as blocks; a plain string is one text block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return objects(content)


def plain_text(content: Any) -> str:
    """The text of a string or of the text blocks in a list, joined by line breaks."""
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in objects(content) if isinstance(block.get("text"), str))


def walk_messages(body: JsonObject) -> Iterator[tuple[int, JsonObject, int, JsonObject]]:
    """Every content block of a request: message index, message, block index, block."""
    for index, message in enumerate(objects(body.get("messages"))):
        for position, block in enumerate(content_blocks(message)):
            yield index, message, position, block


def parsed_arguments(text: str) -> JsonObject:
    """A tool call's arguments; what is no JSON object is kept readable under one key."""
    try:
        value = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return {"unreadable": text}
    return value if isinstance(value, dict) else {"unreadable": text}
