"""A shell tool with what it needs, and a tree of processes that is hard to end."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from openprogram.core.tooling import ToolSpec
from openprogram.tools.builtin.bash import ShellConfig, bash_tool
from openprogram.tools.builtin.jobs import Jobs
from tests.support.processes import wait_gone
from tests.support.tool_calls import Caller
from tests.support.ws import WAIT_S

# A tree of every kind: a child, one in a session of its own, one whose parent has gone, one that ignores SIGTERM. Each
# writes its id to the file `pids`; the pipe `ready` tells that all have.
TREE = """
note() { echo $1 >> pids; }
sleep 1000 & note $!
setsid sleep 1000 & note $!
(setsid bash -c 'echo $$ >> pids; (sleep 1000 & echo $! >> pids) ; sleep 1000' &)
bash -c 'trap "" TERM HUP INT; echo $$ >> pids; while :; do sleep 1000; done' &
while [ "$(wc -l < pids)" -lt 5 ]; do :; done
echo all > ready
"""


@asynccontextmanager
async def shell(call: Caller, config: ShellConfig | None = None) -> AsyncIterator[ToolSpec]:
    async with Jobs() as jobs:
        yield bash_tool(config or ShellConfig(), call.workspace.parent / "out", jobs)


def prepare_tree(call: Caller) -> Path:
    """What `TREE` needs in the workspace; returns the pipe for `all_started`."""
    (call.workspace / "pids").touch()
    os.mkfifo(call.workspace / "ready")
    return call.workspace / "ready"


async def all_started(ready: Path) -> None:
    """Until every process of the tree runs."""
    assert await asyncio.to_thread(ready.read_bytes) == b"all\n"


async def printed(log: Path, text: bytes) -> None:
    """Wait until a command's file has this; it is made once the command runs."""
    async with asyncio.timeout(WAIT_S):
        while not log.exists() or text not in log.read_bytes():  # noqa: ASYNC110 - no event tells of another program's output
            await asyncio.sleep(0.01)


def assert_tree_gone(call: Caller) -> None:
    """Fail if a process of the tree lives on."""
    found = [int(line) for line in (call.workspace / "pids").read_text().split()]
    assert len(found) == 5
    for pid in found:
        wait_gone(pid)
