"""What is searched of a tool: its name, what is said of it, its parameters, and what is said of its server."""

from collections.abc import Iterator
from typing import Final

from openprogram.core.jsonio import JsonObject, JsonValue
from openprogram.core.tooling import ToolSpec
from openprogram.tools.search.words import Words

FIELDS: Final = {"name": 3.0, "compound": 1.0, "description": 1.0, "parameters": 0.7, "server": 0.5}
"""How much a term counts by where it stands."""

_DEPTH: Final = 8
_CHARACTERS: Final = 20_000
"""Bounds on a schema that a stranger wrote."""

Document = dict[str, list[str]]
"""Terms by field."""


def document(tool: ToolSpec, about: str, words: Words) -> Document:
    """The terms of a tool; `about` is what its source says of itself."""
    server = tool.source.partition(":")[2]
    return {
        "name": words.terms(tool.name),
        "compound": words.compounds(tool.name),
        "description": words.terms(tool.description),
        "parameters": words.terms(parameter_text(tool.parameters)),
        "server": words.terms(f"{server} {about}"),
    }


def parameter_text(schema: JsonObject) -> str:
    """Names, descriptions and allowed values of all parameters, at any depth."""
    return " ".join(_texts(schema, _DEPTH))[:_CHARACTERS]


def _texts(schema: JsonValue, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth == 0:
        return
    description, values = schema.get("description"), schema.get("enum")
    if isinstance(description, str):
        yield description
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, str))
    for key in ("properties", "$defs", "definitions"):
        named = schema.get(key)
        for name, inner in named.items() if isinstance(named, dict) else ():
            yield name
            yield from _texts(inner, depth - 1)
    for key in ("items", "additionalProperties"):
        yield from _texts(schema.get(key), depth - 1)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        inner = schema.get(key)
        for branch in inner if isinstance(inner, list) else ():
            yield from _texts(branch, depth - 1)
