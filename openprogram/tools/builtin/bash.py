"""`bash`: one shell command, in the foreground or the background."""

import asyncio
import codecs
import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject, scrub
from openprogram.core.tooling import CallPreview, ToolContext, ToolLimits, ToolOutput, ToolSpec
from openprogram.tools.builtin.environment import command_environment
from openprogram.tools.builtin.job_words import ending
from openprogram.tools.builtin.jobs import Jobs
from openprogram.tools.builtin.output import excerpt, output_file
from openprogram.tools.builtin.paths import Roots
from openprogram.tools.builtin.supervised import CommandEnd, CommandLine, Supervised
from openprogram.tools.decorator import tool

LIVE_BYTES: Final = 65_536
"""Output that people see as it appears; the file has all of it (R6)."""

_BUDGET: Final = 28_000
_FIRST_LOOK_S: Final = 0.3
_LEEWAY_S: Final = 15.0


@dataclass(frozen=True, slots=True)
class ShellConfig:
    """How commands run. `keep` names variables that stay in the environment although they look like secrets."""

    timeout_s: int = 120
    max_timeout_s: int = 600
    log_limit: int = 200_000_000
    keep: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Run:
    """A foreground command that is over, how long it took and might have; `end` is None if time ran out."""

    command: str
    log: Path
    allowed: int
    seconds: float
    end: CommandEnd | None


async def preview_bash(arguments: JsonObject, context: ToolContext) -> CallPreview:
    """The exact command; below it, as comments, what else was asked for: that it stays in the background, its time."""
    said = {name: value for name, value in arguments.items() if name != "command" and value is not False}
    more = (f"# {name}: {json.dumps(value)}" for name, value in said.items())
    return CallPreview("command", "\n".join((str(arguments["command"]), *more)))


def bash_tool(config: ShellConfig, output_dir: Path, jobs: Jobs) -> ToolSpec:
    """The tool; output goes to files in `output_dir`, background commands to `jobs`."""
    shell = _Shell(config, output_dir, jobs)

    @tool(
        permission="execute",
        residency="resident",
        presets=("coding",),
        limits=ToolLimits(timeout_s=config.max_timeout_s + _LEEWAY_S),
        preview=preview_bash,
    )
    async def bash(
        context: ToolContext,
        command: str,
        timeout: int = config.timeout_s,  # noqa: ASYNC109 - the model's, not the caller's
        background: bool = False,
    ) -> ToolOutput:
        """Run a shell command in the workspace. Each call is a new shell without terminal or input; what it leaves
        running ends with it.

        Args:
            command: Command line
            timeout: Seconds until it is ended
            background: Return at once and keep it running; its output goes to a file
        """
        if background:
            return await shell.background(context, command)
        return await shell.foreground(context, command, max(1, min(timeout, config.max_timeout_s)))

    return bash


@dataclass(frozen=True, slots=True)
class _Shell:
    """Starts commands and tells how they went."""

    config: ShellConfig
    output_dir: Path
    jobs: Jobs

    async def foreground(self, context: ToolContext, command: str, seconds: int) -> ToolOutput:
        running, log = await self._start(context, command, background=False)
        run = await _watch(context, command, running, log, seconds)
        return await asyncio.to_thread(_show, run)

    async def background(self, context: ToolContext, command: str) -> ToolOutput:
        self.jobs.check_room(context.session_id)
        running, log = await self._start(context, command, background=True)
        job = self.jobs.add(context.session_id, command, log, running)
        job = await self.jobs.settled(job.id, _FIRST_LOOK_S)
        display: JsonObject = {
            "command": command,
            "exit_code": job.end.code if job.end is not None else None,
            "duration_ms": 0,
            "output_file": str(log),
            "job": job.id,
        }
        if job.end is not None:
            text = await asyncio.to_thread(excerpt, log, _BUDGET)
            return ToolOutput.text(f"{job.id} has already ended.\n{text}", display=display)
        return ToolOutput.text(
            f"Started {job.id} in the background. Its output, and at its end how it ended, is in {log}. "
            f"`kill {job.pid}` ends it.",
            display=display,
        )

    async def _start(self, context: ToolContext, command: str, *, background: bool) -> tuple[Supervised, Path]:
        if not command.strip() or "\0" in command:
            raise ToolFailure("The command is empty or has a NUL character in it.")
        roots = Roots.of(context)
        try:
            log = await asyncio.to_thread(output_file, self.output_dir, context.session_id, context.call_id)
        except OSError as error:
            raise ToolFailure(f"There is no place for the command's output: {error}.") from error
        line = CommandLine(
            command=(*_interpreter(), scrub(command)),
            directory=roots.workspace,
            environment=command_environment(os.environ, self.config.keep),
            log=log,
            log_limit=self.config.log_limit,
            live=0 if background else LIVE_BYTES,
            trailer=background,
        )
        try:
            return await Supervised.start(line), log
        except OSError as error:
            raise ToolFailure(f"The command cannot be started: {error.strerror}.") from error


def _interpreter() -> tuple[str, ...]:
    bash = shutil.which("bash")
    return (bash, "--noprofile", "--norc", "-c") if bash is not None else ("/bin/sh", "-c")


async def _watch(context: ToolContext, command: str, running: Supervised, log: Path, seconds: int) -> _Run:
    """Hand on live output until the command has ended, time is up, or the call is cancelled: then nothing is left."""
    began = time.monotonic()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    end: CommandEnd | None = None
    try:
        async with asyncio.timeout(seconds):
            while piece := await running.output():
                if text := decoder.decode(piece):
                    context.output(text)
            end = await running.wait()
    except (TimeoutError, asyncio.CancelledError) as reason:
        await running.end()
        if isinstance(reason, asyncio.CancelledError):
            raise
    finally:
        running.let_go()
    return _Run(command, log, seconds, time.monotonic() - began, end)


def _show(run: _Run) -> ToolOutput:
    display: JsonObject = {
        "command": run.command,
        "exit_code": run.end.code if run.end is not None else None,
        "duration_ms": round(run.seconds * 1000),
        "output_file": str(run.log),
        "timed_out": run.end is None,
    }
    text = "\n".join(part for part in (excerpt(run.log, _BUDGET), *_notes(run)) if part)
    ok = run.end is not None and run.end.code == 0
    return ToolOutput.text(text, display=display) if ok else ToolOutput.error(text, display=display)


def _notes(run: _Run) -> list[str]:
    if run.end is None:
        return [f"[time was up after {run.allowed} s; the command and all it started were ended]"]
    notes = []
    if run.end.left:
        notes.append(f"[{run.end.left} processes that it left running were ended]")
    if run.end.dropped:
        notes.append(f"[{run.end.dropped:,} bytes of output were more than is kept]")
    notes.append(f"[{ending(run.end.code)}]")
    return notes
