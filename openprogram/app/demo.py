"""The built-in demo: the fake API with its scripted model, in a process of its own, started when it is first needed."""

import asyncio
import sys
from typing import Final

import structlog

from openprogram.core.errors import NoEndpoint
from openprogram.core.jsonio import decode_object

ENDPOINT: Final = "demo"
MODEL: Final = "demo"
COMMAND: Final = (
    *(sys.executable, "-m", "openprogram", "fake-api"),
    *("--host", "127.0.0.1", "--port", "0", "--exit-with-stdin", "--no-control"),
)
_START_S: Final = 30.0
_END_S: Final = 5.0

_log = structlog.get_logger(__name__)


class DemoProcess:
    """Starts the fake API on loopback once, and again if it died; it ends with this process (its standard input)."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._base_url = ""

    async def base_url(self) -> str:
        """Where the demo listens. Raises `NoEndpoint` if it cannot be started."""
        async with self._lock:
            if self._process is None or self._process.returncode is not None:
                self._process, self._base_url = await self._start()
            return self._base_url

    async def aclose(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), _END_S)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _start(self) -> tuple[asyncio.subprocess.Process, str]:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        base_url = ""
        try:
            base_url = await asyncio.wait_for(_announced(process), _START_S)
        except TimeoutError:
            raise NoEndpoint("the demo model did not start", hint="see the server log") from None
        finally:
            if not base_url:  # also where whoever needed it was stopped: nobody would know of the process
                await _end(process)
        _log.info("demo_started", pid=process.pid, base_url=base_url)
        return process, base_url


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()


async def _announced(process: asyncio.subprocess.Process) -> str:
    """The address that the process prints when it listens."""
    line = await process.stdout.readline() if process.stdout is not None else b""
    if not line:
        raise NoEndpoint("the demo model ended at once", hint="see the server log")
    return str(decode_object(line)["base_url"])
