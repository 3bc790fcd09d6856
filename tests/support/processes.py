"""Watching processes that a test did not start itself."""

import os
import select
from pathlib import Path

from tests.support.ws import WAIT_S


def wait_gone(pid: int) -> None:
    """Return once no process has this id any more; fail if it lives on."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], WAIT_S)[0], f"process {pid} is still running"
    finally:
        os.close(descriptor)


def read_pipe(path: Path) -> bytes:
    """What is written to a named pipe until its last writer has closed it. Blocks; run in a thread."""
    return path.read_bytes()
