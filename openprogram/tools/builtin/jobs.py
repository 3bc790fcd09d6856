"""Commands in the background: each has an id and an output file, and all end with the server."""

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Final

import structlog

from openprogram.core.errors import ToolFailure
from openprogram.core.news import News
from openprogram.tools.builtin.job_records import EARLIER, EndedBy, JobRecord, read_records, write_record
from openprogram.tools.builtin.job_words import news_of
from openprogram.tools.builtin.output import outputs_of
from openprogram.tools.builtin.supervised import CommandEnd, Supervised

_log = structlog.get_logger(__name__)

PER_SESSION: Final = 16
"""Jobs of one chat that may run at once."""

_REMEMBERED: Final = 200
_CHATS: Final = 100
"""So many chats' earlier jobs are held in memory; those of others are read again when they are asked for."""


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
    """All background commands of this server: `async with Jobs(output_dir) as jobs`; leaving the block ends every one.

    `output_dir` holds the records of earlier runs of the server; None: there are none. Listeners are called on the
    event loop with each job that has ended behind everybody's back: not while a call waits for it, not at shutdown.
    """

    def __init__(self, output_dir: Path | None = None) -> None:
        self._output_dir = output_dir
        self._listeners: list[Callable[[Job], None]] = []
        self._jobs: dict[str, Job] = {}
        self._records: dict[str, JobRecord] = {}
        self._running: dict[str, Supervised] = {}
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._awaited: set[str] = set()
        self._stopped: set[str] = set()
        self._read_to: dict[str, int] = {}
        self._earlier: dict[str, dict[str, JobRecord]] = {}
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

    def subscribe(self, listener: Callable[[Job], None]) -> Callable[[], None]:
        """Have `listener` called with jobs that end; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def check_room(self, session_id: str) -> None:
        """Raise `ToolFailure` if this chat may not start another job."""
        if self._group is None:
            raise ToolFailure("The server is shutting down; no command is started any more.")
        if sum(self._jobs[job].session_id == session_id for job in self._running) >= PER_SESSION:
            raise ToolFailure(f"{PER_SESSION} commands already run in the background of this chat; end one first.")

    def add(self, session_id: str, command: str, output: Path, running: Supervised) -> Job:
        """Take over a running command; it is watched to its end. The caller waits with `settled` for a first look."""
        if self._group is None:
            running.let_go()
            raise ToolFailure("The server is shutting down; the command was ended.")
        job = Job(f"job_{secrets.token_hex(4)}", session_id, command, output, running.pid)
        self._jobs[job.id] = job
        self._records[job.id] = JobRecord(job.id, command, str(output), time.time())
        self._running[job.id] = running
        self._awaited.add(job.id)
        self._watches[job.id] = self._group.create_task(self._watch(job, running), name=job.id)
        self._forget()
        return job

    async def settled(self, job_id: str, seconds: float) -> Job:
        """The job once it has ended, which its caller then tells, or as it is after that time."""
        watch = self._watches.get(job_id)
        if watch is not None:
            await asyncio.wait({watch}, timeout=seconds)
        self._awaited.discard(job_id)
        job = self._jobs[job_id]
        if job.end is not None:
            await self.seen(job_id)
        return job

    def of(self, session_id: str) -> tuple[Job, ...]:
        """The chat's jobs of this run of the server, ended ones included, oldest first."""
        return tuple(job for job in self._jobs.values() if job.session_id == session_id)

    async def records(self, session_id: str) -> dict[str, JobRecord]:
        """The chat's jobs by id, oldest first, those of earlier runs of the server included."""
        if session_id not in self._earlier and not self._may_have_earlier(session_id):
            return {job.id: self._records[job.id] for job in self.of(session_id)}
        if session_id not in self._earlier:
            found = await asyncio.to_thread(self._read_earlier, session_id)
            self._earlier.setdefault(session_id, {record.id: record for record in found})
        earlier = self._earlier[session_id] = self._earlier.pop(session_id)  # the one used last stands last
        while len(self._earlier) > _CHATS:
            del self._earlier[next(iter(self._earlier))]
        return {**earlier, **{job.id: self._records[job.id] for job in self.of(session_id)}}

    def runs(self, job_id: str) -> bool:
        """Whether it runs at this moment."""
        return job_id in self._running

    async def news(self, session_id: str) -> tuple[News, ...]:
        """Jobs that have ended, where no call has told the model of it."""
        found = (await self.records(session_id)).values()
        return tuple(news_of(record) for record in found if not (self.runs(record.id) or record.seen))

    async def seen(self, job_id: str) -> None:
        """The model was handed this job's end."""
        kept = next((held for held in (self._records, *self._earlier.values()) if job_id in held), None)
        if kept is not None and not kept[job_id].seen:
            kept[job_id] = replace(kept[job_id], seen=True)
            await asyncio.to_thread(write_record, kept[job_id])

    def read_to(self, job_id: str) -> int:
        """How many bytes of the job's output were read."""
        return self._read_to.get(job_id, 0)

    def was_read(self, job_id: str, to: int) -> None:
        """The output was read so far."""
        self._read_to[job_id] = to

    def outputs(self) -> frozenset[Path]:
        """The files that running jobs write to, and their records."""
        logs = [(job_id, self._jobs[job_id].output) for job_id in self._running]
        return frozenset(path for job_id, log in logs for path in (log, log.with_name(f"{job_id}.json")))

    async def stop(self, job_id: str) -> None:
        """End a job and everything it started; nothing happens to one that has ended or never was."""
        if (running := self._running.get(job_id)) is not None:
            self._stopped.add(job_id)
            running.let_go()
        if (watch := self._watches.get(job_id)) is not None:
            await asyncio.wait({watch})

    def _may_have_earlier(self, session_id: str) -> bool:
        """Whether reading is worth a thread: a chat that never ran a command has no directory."""
        return self._output_dir is not None and outputs_of(self._output_dir, session_id).is_dir()

    def _read_earlier(self, session_id: str) -> tuple[JobRecord, ...]:
        return () if self._output_dir is None else read_records(outputs_of(self._output_dir, session_id))

    def _forget(self) -> None:
        """Ended jobs are remembered for a while, not for ever."""
        ended = [job_id for job_id in self._jobs if job_id not in self._running]
        for job_id in ended[:-_REMEMBERED]:
            forgotten, record = self._jobs.pop(job_id), self._records.pop(job_id)
            if (earlier := self._earlier.get(forgotten.session_id)) is not None:
                earlier[job_id] = record
                while len(earlier) > EARLIER:
                    del earlier[next(iter(earlier))]
            self._read_to.pop(job_id, None)

    async def _watch(self, job: Job, running: Supervised) -> None:
        try:
            await self._until_ended(job, running)
        finally:
            del self._watches[job.id]

    async def _until_ended(self, job: Job, running: Supervised) -> None:
        await asyncio.to_thread(write_record, self._records[job.id])
        try:
            end = await running.wait()
        except ToolFailure as failure:
            _log.error("job_lost", job=job.id, session_id=job.session_id, problem=failure.message)
            end = CommandEnd(code=-1)
        finally:
            running.let_go()
            del self._running[job.id]
        ended = replace(job, end=end)
        self._jobs[job.id] = ended
        by: EndedBy = "server" if self._group is None else "stop" if job.id in self._stopped else "itself"
        self._stopped.discard(job.id)
        record = replace(self._records[job.id], ended_at=time.time(), ended_by=by, code=end.code)
        self._records[job.id] = record
        await asyncio.to_thread(write_record, record)
        if by == "itself" and job.id not in self._awaited:
            for listener in tuple(self._listeners):
                listener(ended)
