"""Commands in the background: each has an id and an output file, and all end with the server."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

import structlog

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.supervised import CommandEnd, Supervised

_log = structlog.get_logger(__name__)

PER_SESSION: Final = 16
"""Jobs of one chat that may run at once."""

_REMEMBERED: Final = 200


@dataclass(frozen=True, slots=True)
class Job:
    """A command in the background; `end` is None while it runs."""

    id: str
    session_id: str
    command: str
    output: Path
    pid: int
    end: CommandEnd | None = None


class Jobs:
    """All background commands of this server: `async with Jobs() as jobs`; leaving the block ends every one.

    `on_end` is called on the event loop with each job that has ended.
    """

    def __init__(self, on_end: Callable[[Job], None] | None = None) -> None:
        self._on_end = on_end
        self._jobs: dict[str, Job] = {}
        self._running: dict[str, Supervised] = {}
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None

    async def __aenter__(self) -> "Jobs":
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        group, self._group = self._group, None
        for running in self._running.values():
            running.let_go()
        if group is not None:
            await group.__aexit__(kind, error, trace)

    def check_room(self, session_id: str) -> None:
        """Raise `ToolFailure` if this chat may not start another job."""
        if self._group is None:
            raise ToolFailure("The server is shutting down; no command is started any more.")
        if sum(self._jobs[job].session_id == session_id for job in self._running) >= PER_SESSION:
            raise ToolFailure(f"{PER_SESSION} commands already run in the background of this chat; end one first.")

    def add(self, session_id: str, command: str, output: Path, running: Supervised) -> Job:
        """Take over a running command; it is watched to its end."""
        if self._group is None:
            running.let_go()
            raise ToolFailure("The server is shutting down; the command was ended.")
        job = Job(f"job_{secrets.token_hex(4)}", session_id, command, output, running.pid)
        self._jobs[job.id] = job
        self._running[job.id] = running
        self._watches[job.id] = self._group.create_task(self._watch(job, running), name=job.id)
        self._forget()
        return job

    async def settled(self, job_id: str, seconds: float) -> Job:
        """The job once it has ended, or as it is after that time."""
        watch = self._watches.get(job_id)
        if watch is not None:
            await asyncio.wait({watch}, timeout=seconds)
        return self._jobs[job_id]

    def of(self, session_id: str) -> tuple[Job, ...]:
        """The chat's jobs, ended ones included, oldest first."""
        return tuple(job for job in self._jobs.values() if job.session_id == session_id)

    def outputs(self) -> frozenset[Path]:
        """The files that running jobs write to."""
        return frozenset(self._jobs[job_id].output for job_id in self._running)

    async def stop(self, job_id: str) -> None:
        """End a job and everything it started; nothing happens to one that has ended or never was."""
        if (running := self._running.get(job_id)) is not None:
            running.let_go()
        if (watch := self._watches.get(job_id)) is not None:
            await asyncio.wait({watch})

    def _forget(self) -> None:
        """Ended jobs are remembered for a while, not for ever."""
        ended = [job_id for job_id in self._jobs if job_id not in self._running]
        for job_id in ended[:-_REMEMBERED]:
            del self._jobs[job_id]

    async def _watch(self, job: Job, running: Supervised) -> None:
        try:
            end = await running.wait()
        except ToolFailure as failure:
            _log.error("job_lost", job=job.id, session_id=job.session_id, problem=failure.message)
            end = CommandEnd(code=-1)
        finally:
            running.let_go()
            del self._running[job.id]
            del self._watches[job.id]
        ended = Job(job.id, job.session_id, job.command, job.output, job.pid, end)
        self._jobs[job.id] = ended
        if self._on_end is not None:
            self._on_end(ended)
