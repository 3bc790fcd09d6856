"""Shapes that an intent is read from and written to outside the store's own columns: overrides, imports, settings.

The typed `ToolIntent` is the only form inside. Unknown keys and wrong types are errors with the key's name.

Older programs wrote a bare list, or an object whose `web_search: false` meant "not added". A list is read everywhere.
The object is read as meant where an older program may be the sender: in an override and in an import. Settings and
project files are of this program, where `false` takes away.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final, assert_never

from pydantic import TypeAdapter, ValidationError

from openprogram.core.errors import BadField
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonObject, JsonValue, encode, no_number
from openprogram.core.protocol.base import OlderOverride, Override
from openprogram.session_config.patches import WEB_SEARCH

_FIELDS: Final = ("enabled", "toolset", "web_search", "disabled", "picked", "allowed")


def intent_from_override(override: Override | OlderOverride | Sequence[str] | None) -> ToolIntent:
    """An override or an import as an intent: a bare list picks exactly its names, an empty one switches all tools off.

    Raises `BadField` for the chip's tool among the switched-off ones.
    """
    match override:
        case None:
            return ToolIntent()
        case Override():
            return ToolIntent(
                override.enabled,
                override.toolset,
                override.web_search,
                _switches(override.disabled),
                override.picked,
                override.allowed,
            )
        case OlderOverride():
            return ToolIntent(
                enabled=override.enabled,
                toolset=override.toolset,
                disabled=_switches(override.disabled),
                allowed=override.allowed,
            )
        case Sequence():
            return ToolIntent(picked=tuple(dict.fromkeys(override))) if override else ToolIntent(enabled=False)
        case _:
            assert_never(override)


def _switches(disabled: tuple[str, ...] | None) -> tuple[str, ...]:
    if disabled is not None and WEB_SEARCH in disabled:
        raise BadField(
            "web_search has a switch of its own", field="disabled", hint='say "web_search": false to take it away'
        )
    return disabled or ()


def read_intent(value: JsonValue) -> ToolIntent:
    """An intent from JSON as `write_intent` makes it, or from a bare list; null is an empty one.

    Keys that are missing are null. Raises `BadField` with the path for unknown keys and wrong types.
    """
    match value:
        case None:
            return ToolIntent()
        case dict():
            adapter = _dict_shape()
        case list():
            adapter = _list_shape()
        case _:
            raise BadField("an intent is an object, a list of names or null", hint="fields: " + ", ".join(_FIELDS))
    if (path := no_number(value)) is not None:
        raise BadField(f"{path}: no such value: NaN or an infinity", field=path)
    try:
        text = encode(value)
    except TypeError as error:
        raise BadField(f"an intent is plain JSON ({error})", hint="fields: " + ", ".join(_FIELDS)) from error
    try:
        return intent_from_override(adapter.validate_json(text))
    except ValidationError as error:
        raise _bad_field(error) from error


def write_intent(intent: ToolIntent) -> JsonObject:
    """The JSON form of an intent: only what it says, keys in the order of the fields."""
    said: JsonObject = {}
    if intent.enabled is not None:
        said["enabled"] = intent.enabled
    if intent.toolset is not None:
        said["toolset"] = intent.toolset
    if intent.web_search is not None:
        said["web_search"] = intent.web_search
    if intent.disabled:
        said["disabled"] = list(intent.disabled)
    if intent.picked is not None:
        said["picked"] = list(intent.picked)
    if intent.allowed is not None:
        said["allowed"] = list(intent.allowed)
    return said


@cache
def _dict_shape() -> TypeAdapter[Override | tuple[str, ...]]:
    return TypeAdapter(Override)


@cache
def _list_shape() -> TypeAdapter[Override | tuple[str, ...]]:
    return TypeAdapter(tuple[str, ...])


def _bad_field(error: ValidationError) -> BadField:
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "unexpected_keyword_argument":
        return BadField(f"an intent has no field {path!r}", field=path, hint="fields: " + ", ".join(_FIELDS))
    return BadField(f"{path}: {fault['msg']}", field=path)
