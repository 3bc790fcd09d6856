"""The directory that a chat works in: chosen by a person, checked before it is stored, never made from a typo."""

import asyncio
import os
from concurrent.futures import Executor
from pathlib import Path

from openprogram.core.errors import BadField
from openprogram.sessions.hub import Defaults
from openprogram.sessions.projects import PATIENCE_S

_FIELD = "workspace"
_OF_THE_SYSTEM = ("/proc", "/sys")


async def checked(defaults: Defaults, text: str, threads: Executor | None = None) -> str:
    """The directory as it is stored: absolute, without `.`, `..`, a slash at its end, or a symbolic link.

    What is allowed in a directory holds in that very one (spec trust.md R17), wherever a link to it leads later.
    Raises `BadField` unless it is a directory that this server may enter, and outside of its own data. The look at the
    disk happens in one of `threads` (None: of the loop's own), as the disk may be away.
    """
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await asyncio.get_running_loop().run_in_executor(threads, _checked, defaults, text)
    except TimeoutError as error:
        raise BadField(f"the disk of {text[:200]} does not answer", field=_FIELD, hint="choose another one") from error


def _checked(defaults: Defaults, text: str) -> str:
    path = Path(os.path.normpath(os.path.expanduser(text)))
    if "\0" in text or not path.is_absolute():
        raise BadField(
            f"{text[:200]!r} is not an absolute path", field=_FIELD, hint="write the whole path, beginning with /"
        )
    try:
        if not path.exists():
            raise BadField(
                f"there is no directory {path} on the server", field=_FIELD, hint="check the spelling, or make it first"
            )
        if not path.is_dir():
            raise BadField(
                f"{path} is a file, not a directory", field=_FIELD, hint="choose the directory that it is in"
            )
        real = path.resolve()
    except OSError as error:
        raise BadField(f"{path} cannot be used: {error.strerror or error}", field=_FIELD) from error
    if not os.access(real, os.R_OK | os.X_OK):
        raise BadField(
            f"the server may not read {path}", field=_FIELD, hint="change its owner or mode, or choose another one"
        )
    if any(real.is_relative_to(system) for system in _OF_THE_SYSTEM):
        raise BadField(
            f"{path} shows the system's own state, and the server's variables with its keys",
            field=_FIELD,
            hint="choose a directory with files of yours",
        )
    if _shows_private(defaults, real):
        raise BadField(
            f"{path} holds the server's own keys and chats",
            field=_FIELD,
            hint=f"choose a directory without {defaults.home} in it",
        )
    return str(real)


def _shows_private(defaults: Defaults, real: Path) -> bool:
    """Whether files of the data directory would be in it, besides the default workspace there (spec trust.md R18).

    Reading needs nobody's word, so a chat there could read the keys.
    """
    if defaults.home is None or real.is_relative_to(defaults.workspace.resolve()):
        return False
    home = defaults.home.resolve()
    return real.is_relative_to(home) or home.is_relative_to(real)
