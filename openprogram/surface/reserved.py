"""The two tools that belong to the surface itself (spec cache.md C8). Their bytes are fixed for ever: never edit them.

They are in no registry, contract, catalog, search result or preset; `core.surface.RESERVED_NAMES` keeps others off
their names.
"""

from typing import Final

from openprogram.core.jsonio import JsonObject
from openprogram.core.surface import BRIDGE_NAME, PLACEHOLDER_NAME

PLACEHOLDER: Final[JsonObject] = {
    "name": PLACEHOLDER_NAME,
    "description": "Reserved: keeps a place for tools that are loaded later. Never call this.",
    "parameters": {"type": "object", "properties": {}},
}
"""Deferred and never referred to: with it, the first real change of the tools costs nothing."""

CALL_TOOL: Final[JsonObject] = {
    "name": BRIDGE_NAME,
    "description": "Call a tool that was loaded and is not declared itself. Its schema stands where it was loaded.",
    "parameters": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Name of the loaded tool"},
            "arguments": {"type": "object", "description": "Its arguments, as its schema has them"},
        },
        "required": ["name", "arguments"],
        "additionalProperties": False,
    },
}
"""How `bridge` reaches what is not declared."""
