"""Starting the programs of `store_process`."""

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path
from typing import Any

from tests.support.tree import ROOT


async def start(what: str, path: Path, *more: str) -> Process:
    """A child that runs one of the programs; its lines come on stdout, a traceback of its death on stderr."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.store_process", what, str(path), *more),
        cwd=ROOT,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )


async def lines_of(child: Process) -> list[dict[str, Any]]:
    """All that it says until it ends well."""
    out, err = await child.communicate()
    assert child.returncode == 0, err.decode()
    return [json.loads(line) for line in out.splitlines()]
