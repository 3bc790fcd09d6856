"""Arguments for a declared tool: values by meaning, put under the names that its JSON Schema uses."""

from __future__ import annotations

from typing import Any, Final

from openprogram.fakeapi.conversation import ToolDecl
from openprogram.fakeapi.shapes import JsonObject, child

_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "path": ("path", "file_path", "filepath", "file", "filename"),
    "content": ("content", "contents", "text", "file_text"),
    "old": ("old", "old_string", "old_str", "old_text"),
    "new": ("new", "new_string", "new_str", "new_text"),
    "pattern": ("pattern", "regex", "query"),
    "command": ("command", "cmd"),
    "query": ("query", "q", "search_query"),
    "url": ("url", "uri", "link"),
}
_EMPTY: Final[dict[str, Any]] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}


def arguments(tool: ToolDecl, **meant: str) -> JsonObject:
    """The arguments of `tool` that say `meant`; whatever else the schema requires is filled with its
    default, its first allowed value or an empty value of its type."""
    properties = child(tool.schema, "properties")
    filled: JsonObject = {}
    for meaning, value in meant.items():
        name = next((name for name in _NAMES[meaning] if name in properties), meaning)
        filled[name] = value
    required = tool.schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in filled:
            filled[name] = _filler(child(properties, name))
    return filled


def _filler(schema: JsonObject) -> Any:
    if "default" in schema:
        return schema["default"]
    allowed = schema.get("enum")
    if isinstance(allowed, list) and allowed:
        return allowed[0]
    return _EMPTY.get(str(schema.get("type")), "")
