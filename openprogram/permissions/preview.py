"""What a person is shown of a call whose tool has no preview of its own: exactly what was asked for, no summary."""

import json

from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import CallPreview, ToolSpec


def default_preview(spec: ToolSpec, arguments: JsonObject) -> CallPreview:
    """The bare command of a tool that may execute, else the arguments as JSON."""
    command = arguments.get("command")
    if spec.permission == "execute" and isinstance(command, str) and arguments.keys() == {"command"}:
        return CallPreview("command", command)
    return CallPreview("call", json.dumps(arguments, indent=2, ensure_ascii=False))
