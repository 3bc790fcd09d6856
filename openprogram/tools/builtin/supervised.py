"""One command under its reaper, as the server sees it."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog
from pydantic import TypeAdapter, ValidationError

from openprogram.core.errors import ToolFailure

_log = structlog.get_logger(__name__)

GRACE_S: Final = 0.3
"""Seconds between SIGTERM and SIGKILL; short, since Stop has one second for everything."""

_REAPER: Final = Path(__file__).with_name("reaper.py")
_PATIENCE_S: Final = 3.0
_CHUNK: Final = 65_536


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """How a command ended: its exit code (minus the signal's number if one ended it), how many processes it left
    behind, which were then ended, and how many bytes of output its log did not take."""

    code: int
    left: int = 0
    dropped: int = 0


_END: TypeAdapter[CommandEnd] = TypeAdapter(CommandEnd)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What to run and where. `log` takes all output up to `log_limit` bytes, `live` bytes are also handed on."""

    command: Sequence[str]
    directory: Path
    environment: Mapping[str, str]
    log: Path
    log_limit: int
    live: int = 0
    trailer: bool = False


class Supervised:
    """A command that runs. It ends by itself, with `end`, or with the server, however that ends."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._report = b""

    @classmethod
    async def start(cls, line: CommandLine) -> "Supervised":
        """Start it. Raises `OSError` if not even that can be done."""
        options = (str(line.log), str(line.live), str(line.log_limit), str(GRACE_S), "1" if line.trailer else "0")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            _REAPER,
            *options,
            *line.command,
            cwd=line.directory,
            env=line.environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """The reaper's process id: SIGTERM to it ends the command with everything it started."""
        return self._process.pid

    async def output(self) -> bytes:
        """The next piece of live output; empty once the command and all that it started have ended."""
        assert self._process.stdout is not None
        return await self._process.stdout.read(_CHUNK)

    async def wait(self) -> CommandEnd:
        """Until it has ended; may be asked again, also after it was cancelled.

        Raises `ToolFailure` if the reaper itself broke, which tells nothing of the command.
        """
        assert self._process.stderr is not None
        while await self.output():
            continue
        while piece := await self._process.stderr.read(_CHUNK):
            self._report += piece
        await self._process.wait()
        try:
            return _END.validate_json(self._report)
        except ValidationError as error:
            last = self._report.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1]
            raise ToolFailure(
                f"The command could not be watched to its end: {last or 'its watcher was killed'}."
            ) from error

    async def end(self) -> None:
        """End it and everything it started: SIGTERM, then SIGKILL. Returns when nothing of it is left."""
        self.let_go()
        try:
            async with asyncio.timeout(GRACE_S + _PATIENCE_S):
                await self.wait()
        except TimeoutError:
            _log.error("command_not_ended", pid=self.pid)
        except ToolFailure as failure:
            _log.error("command_lost", pid=self.pid, problem=failure.message)

    def let_go(self) -> None:
        """Close the lifeline without waiting: the reaper then ends the command."""
        assert self._process.stdin is not None
        self._process.stdin.close()
