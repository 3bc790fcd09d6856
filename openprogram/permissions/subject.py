"""What a call is about, as a permission sees it, and what "allow for this chat" would cover of it.

Grants are compared by equality and nothing else: no globbing, no prefixes, no shell parsing that could be fooled. A
grant for `ls` is a grant for the command `ls`, so it never covers `ls && rm -rf x`.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from openprogram.core.jsonio import JsonObject, canonical
from openprogram.core.storage import ANYWHERE
from openprogram.core.tooling import ToolSpec, WrittenPaths
from openprogram.session_config.project_file import PROJECT_FILE

WORKSPACE_WIDE: Final = "**"
"""The grant of a writing tool for every path inside the workspace and its extra directories."""

_SETTINGS: Final = PROJECT_FILE.partition("/")[0]

WHOLE_TOOL: Final = "*"
"""The grant of a tool whose calls are about nothing narrower than the tool."""

_HARMLESS: Final = frozenset({"description", "timeout", "timeout_s"})
"""Arguments beside a command that do not change what it does. A command in the background is another one: it goes on
when the call is over, and nobody waits for it."""

_MORE: Final = "&"
"""What the pattern of a command with other arguments begins with. No shell runs a line that begins so, and one that
does is marked all the same: no command reads like the grant of another."""

Resolve = Callable[[str], str]
"""An absolute path to the one that it leads to; follows symbolic links where it can look at the disk."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A command, paths to be written, or the call as such. `pattern` is the narrowest grant that covers it.

    `inside` tells of paths whether they all lie in the workspace or an extra directory, `steers` whether one of them is
    where a project says what its chats may do.
    """

    kind: Literal["command", "paths", "tool"]
    pattern: str
    inside: bool = False
    steers: bool = False


def subject(
    spec: ToolSpec, arguments: JsonObject, roots: Sequence[Path], resolve: Resolve = os.path.normpath
) -> Subject:
    """The subject of a call. `roots` are the workspace and the extra directories; relative paths are of the first.

    A tool that may execute is about its `command`, one that writes about the paths that it declares to write; any other
    is about itself.
    Raises `ValueError` or `OSError` where that cannot be told: the caller asks then.
    """
    match spec.permission:
        case "execute" if "command" in arguments:
            return Subject("command", _command(arguments))
        case "write" if spec.writes:
            return _paths(_written(spec.writes, arguments), roots, resolve)
        case _ if spec.preview is not None:  # each call is another thing, and shown as such: nothing covers the next
            return Subject("tool", "")
        case _:
            return Subject("tool", WHOLE_TOOL)


def holds_in(spec: ToolSpec, workspace: Path) -> str:
    """The directory that a grant of this tool is bound to: the same command, or path, is another thing elsewhere."""
    return ANYWHERE if spec.permission in ("none", "network") else str(workspace)


def covers(pattern: str, what: Subject) -> bool:
    """Whether a grant of this pattern allows the subject."""
    if what.kind == "paths" and pattern == WORKSPACE_WIDE:
        return what.inside and not what.steers
    return bool(pattern) and pattern == what.pattern


def other_arguments(arguments: JsonObject) -> JsonObject:
    """What stands beside a command and changes what it does."""
    return {
        key: value
        for key, value in arguments.items()
        if key != "command" and key not in _HARMLESS and not (key == "background" and value is False)
    }


def _command(arguments: JsonObject) -> str:
    command = _text(arguments, "command")
    if not command.strip():
        raise ValueError("the command is empty")
    rest = other_arguments(arguments)
    if not rest and not command.startswith(_MORE):
        return command
    try:
        return f"{_MORE}{canonical(rest).decode()} {command}"
    except TypeError as error:
        raise ValueError(f"what comes with the command cannot be written down: {error}") from error


def _written(writes: tuple[str, ...] | WrittenPaths, arguments: JsonObject) -> Sequence[str]:
    if isinstance(writes, tuple):
        return [_text(arguments, name) for name in writes]
    return writes(arguments)


def _paths(texts: Sequence[str], roots: Sequence[Path], resolve: Resolve) -> Subject:
    for text in texts:
        if not text or "\0" in text or "\n" in text or text.startswith("~"):
            raise ValueError(f"{text!r} is no plain path")
    named = [Path(os.path.normpath(roots[0] / text)) for text in texts]
    paths = [Path(resolve(str(roots[0] / text))) for text in texts]
    allowed = [resolve(str(root)) for root in roots]
    inside = all(any(path.is_relative_to(root) for root in allowed) for path in paths)
    return Subject("paths", "\n".join(map(str, paths)), inside, any(map(_steers, (*named, *paths))))


def _steers(path: Path) -> bool:
    """Whether this is a project's file, or the folder that it would come with, or a repository's own files, some of
    which git runs: of this project or of one below it, which may be another chat's. Some disks do not tell A from a."""
    parts = tuple(part.casefold() for part in path.parts)
    return ".git" in parts or parts[-1:] == (_SETTINGS,) or "/".join(parts[-2:]) == PROJECT_FILE


def _text(arguments: JsonObject, name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a text")
    return value
