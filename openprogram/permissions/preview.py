"""What a person is shown of a call before allowing it: exactly what will happen, no summary."""

import difflib
import json
from typing import Final

from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import CallPreview, ToolSpec

_NO_NEWLINE: Final = "\n\\ No newline at end of file\n"


def default_preview(spec: ToolSpec, arguments: JsonObject) -> CallPreview:
    """The preview of a tool that has none of its own: its command, or its arguments as JSON."""
    command = arguments.get("command")
    if spec.permission == "execute" and isinstance(command, str) and arguments.keys() == {"command"}:
        return CallPreview("command", command)
    return CallPreview("call", json.dumps(arguments, indent=2, ensure_ascii=False))


def unified_diff(path: str, old: str | None, new: str) -> str:
    """A unified diff as `git diff` writes it, from `old` (None: no such file yet) to `new`; empty where they are equal.

    Lines end at line feeds only, so that a changed carriage return is a change.
    """
    lines = difflib.unified_diff(
        _lines(old or ""),
        _lines(new),
        "/dev/null" if old is None else f"a/{path}",
        f"b/{path}",
    )
    return "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in lines)


def _lines(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines
