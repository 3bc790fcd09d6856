"""`job_output` and `job_stop`: looking at background commands and ending them."""

import asyncio
import codecs
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolOutput, ToolSpec
from openprogram.tools.builtin.job_records import JobRecord
from openprogram.tools.builtin.job_words import duration, fate, short
from openprogram.tools.builtin.jobs import Jobs
from openprogram.tools.builtin.output import readable
from openprogram.tools.decorator import tool

BUDGET: Final = 24_000
"""Bytes of output that one call shows."""

GROUP: Final = "job"


def job_tools(jobs: Jobs) -> tuple[ToolSpec, ToolSpec]:
    """Both tools over the server's background commands."""

    @tool(readonly=True, group=GROUP, presets=("coding", "safe"))
    async def job_output(context: ToolContext, job: str | None = None, tail: int = 0) -> ToolOutput:
        """Show what a background command has printed since the last look, and whether it still runs or its exit code.
        You are told when one ends: no need to poll.

        Args:
            job: Its id; without one, all background commands of this chat are listed
            tail: Show the last so many lines instead
        """
        known = await jobs.records(context.session_id)
        if job is None:
            return ToolOutput.text(_listing(known, jobs))
        record = _named(known, job)
        runs = jobs.runs(job)
        piece = await asyncio.to_thread(_read, Path(record.output), 0 if tail > 0 else jobs.read_to(job), tail, runs)
        jobs.was_read(job, piece.to)
        if not runs:
            await jobs.seen(job)
        return ToolOutput.text(f"{_line(record, runs)}\n{piece.shown}", display=_display(record, runs))

    @tool(group=GROUP, presets=("coding",))
    async def job_stop(context: ToolContext, job: str) -> ToolOutput:
        """Stop a background command with every process it started.

        Args:
            job: Its id
        """
        record = _named(await jobs.records(context.session_id), job)
        if not jobs.runs(job):
            await jobs.seen(job)
            return ToolOutput.text(f"Nothing to stop. {_line(record, runs=False)}", display=_display(record, False))
        await jobs.stop(job)
        await jobs.seen(job)
        record = (await jobs.records(context.session_id))[job]
        return ToolOutput.text(
            f"Stopped, with everything it started. {_line(record, runs=False)}", display=_display(record, False)
        )

    return job_output, job_stop


def _named(known: Mapping[str, JobRecord], job: str) -> JobRecord:
    if job not in known:
        there = ", ".join(known) or "there are none"
        raise ToolFailure(f"This chat has no background command {job[:40]!r} ({there}).")
    return known[job]


def _listing(known: Mapping[str, JobRecord], jobs: Jobs) -> str:
    if not known:
        return "No command was started in the background of this chat."
    return "\n".join(_line(record, jobs.runs(record.id)) for record in known.values())


def _line(record: JobRecord, runs: bool) -> str:
    how = f"running for {duration(time.time() - record.started_at)}" if runs else fate(record)
    return f"{record.id}: {how}; {short(record.command)}"


def _display(record: JobRecord, runs: bool) -> JsonObject:
    return {
        "job": record.id,
        "command": record.command,
        "running": runs,
        "exit_code": record.code,
        "output_file": record.output,
    }


@dataclass(frozen=True, slots=True)
class _Piece:
    """Output as it is shown, and up to which byte it goes."""

    shown: str
    to: int


def _read(log: Path, start: int, tail: int, runs: bool) -> _Piece:
    """The output from byte `start` on, or its last `tail` lines; no more than the budget either way."""
    try:
        with log.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            begin = max(start, size - BUDGET) if tail > 0 else min(start, size)
            stream.seek(begin)
            data = stream.read(BUDGET)
    except OSError as error:
        raise ToolFailure(f"The output cannot be read: {error.strerror}.") from error
    if tail > 0:
        return _Piece(_tail(data, tail, cut=begin > 0) or "(no output yet)", size)
    left = size - begin - len(data)
    data = _whole(data, more=left > 0 or runs)
    text = readable(data) or "(no new output)"
    if left > 0:
        text += f"\n[{left:,} bytes more: look again for them, or take the tail; all of it is in {log}]"
    return _Piece(text, begin + len(data))


def _tail(data: bytes, lines: int, *, cut: bool) -> str:
    if cut:
        data = data[data.find(b"\n") + 1 :]
    return "\n".join(readable(data).split("\n")[-lines:])


def _whole(data: bytes, *, more: bool) -> bytes:
    """Without a character at the end whose rest is still to come."""
    if not more:
        return data
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    pending, _ = decoder.getstate()
    return data[: len(data) - len(pending)]
