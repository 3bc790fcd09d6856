"""Taking a stranger's file apart in a process of its own.

A file may be made to hang, to swallow memory or to crash what reads it: then only that process goes, which has set
itself bounds by the system.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.files import explained, open_file
from openprogram.tools.builtin.paths import Place

TIMEOUT_S: Final = 60.0
MAX_FILE: Final = 200_000_000
"""Bytes of a file that is handed over at all."""

_HEAD: Final = 1_024
_KEPT_ENV: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")


async def take_apart(script: Path, place: Place, arguments: Sequence[str], signs: Sequence[bytes], kind: str) -> bytes:
    """What the script writes when it is given the file as its standard input; nothing if it crashed.

    One of `signs` has to be in the beginning of the file, else it is no `kind`. Raises `ToolFailure`. The process ends
    with this call.
    """
    with explained(place), open_file(place) as stream:
        size = os.fstat(stream.fileno()).st_size
        head = stream.read(_HEAD)
        if not any(sign in head for sign in signs):
            raise ToolFailure(f"{place.shown} is no {kind}.")
        if size > MAX_FILE:
            raise ToolFailure(f"{place.shown} is larger than {MAX_FILE:,} bytes.")
        os.lseek(stream.fileno(), 0, os.SEEK_SET)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            script,
            *arguments,
            env={name: os.environ[name] for name in _KEPT_ENV if name in os.environ},
            stdin=stream.fileno(),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            output, _ = await process.communicate()
    except TimeoutError as error:
        raise ToolFailure(f"{place.shown} takes too long to take apart.") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    return output if process.returncode == 0 else b""
