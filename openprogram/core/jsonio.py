"""The one serializer for everything that is stored, sent or fingerprinted (design law 3).

`encode` keeps the order of keys, `canonical` sorts them; both are compact UTF-8. The same value gives the same
bytes in every process, for ever: what was sent to a provider once is compared with these bytes years later.
"""

import hashlib
from collections.abc import Callable
from math import isfinite
from typing import Annotated, Any, Final, cast

import orjson
from typing_extensions import TypeAliasType

from openprogram.core.errors import BadJson


class _Parsed:
    """Tells pydantic that whatever its JSON parser made is a JSON value: to try each kind for each value within, as it
    has to with values that come from elsewhere, takes nine times as long as parsing."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        return {"type": "json-or-python", "json_schema": {"type": "any"}, "python_schema": handler(source)}

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(schema["python_schema"])


JsonValue = TypeAliasType(
    "JsonValue", "Annotated[str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None, _Parsed()]"
)
JsonObject = dict[str, JsonValue]

_CANONICAL: Final = orjson.OPT_SORT_KEYS


def encode(value: Any) -> bytes:
    """Compact JSON of plain values and dataclasses, fields and keys in their own order.

    Raises `TypeError` for what JSON cannot hold. NaN and infinities become ``null``: what is read from elsewhere and
    means something is asked about them before (`no_number`).
    """
    return orjson.dumps(value)


def canonical(value: Any) -> bytes:
    """Compact JSON with the keys of every object sorted: equal values, equal bytes."""
    return orjson.dumps(value, option=_CANONICAL)


def digest(value: Any) -> str:
    """First 32 hex digits of the SHA-256 of `canonical`: the fingerprint of a value."""
    return digest_bytes(canonical(value))


def digest_bytes(data: bytes) -> str:
    """First 32 hex digits of the SHA-256 of raw bytes."""
    return hashlib.sha256(data).hexdigest()[:32]


def no_number(value: Any) -> str | None:
    """Where NaN or an infinity stands in a plain value, as a path of keys and places such as `a.0`; None where nowhere.

    TOML and Python have them, JSON has not.
    """
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, one = waiting.pop()
        match one:
            case float() if not isfinite(one):
                return path.removeprefix(".")
            case dict():
                waiting += [(f"{path}.{key}", item) for key, item in reversed(one.items())]
            case list() | tuple():
                waiting += [(f"{path}.{place}", item) for place, item in reversed(list(enumerate(one)))]
            case _:
                continue
    return None


def decode(data: bytes | str) -> JsonValue:
    """Parse JSON; raises `BadJson` with the place of the fault."""
    try:
        return cast(JsonValue, orjson.loads(data))
    except orjson.JSONDecodeError as error:
        raise BadJson(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error


def decode_object(data: bytes | str) -> JsonObject:
    """Parse JSON that must be one object; raises `BadJson` otherwise."""
    value = decode(data)
    if not isinstance(value, dict):
        raise BadJson("expected a JSON object")
    return value


def scrub(text: str) -> str:
    """Replace lone surrogates, which UTF-8 and so JSON cannot carry, by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
