"""A background command in words: how it goes or how it ended, for models and for people. Pure."""

import signal
from typing import Final

from openprogram.core.news import News
from openprogram.tools.builtin.job_records import JobRecord

_COMMAND_CHARS: Final = 80


def ending(code: int) -> str:
    """How a command ended, by its exit code or minus the number of the signal that ended it."""
    if code >= 0:
        return f"exit code {code}"
    return f"ended by {signal.Signals(-code).name}" if -code in signal.valid_signals() else f"ended by signal {-code}"


def short(command: str) -> str:
    """The command on one line, cut to what a line has room for."""
    line = " ".join(command.split())
    return line if len(line) <= _COMMAND_CHARS else f"{line[: _COMMAND_CHARS - 1]}…"


def fate(record: JobRecord) -> str:
    """How a command that does not run any more ended."""
    if record.code is None or record.ended_at is None:
        return "cut off when the server ended without warning; how far it came is not recorded"
    seconds = f"after {duration(record.ended_at - record.started_at)}"
    match record.ended_by:
        case "server":
            return f"ended with the server, {seconds}, before it was done"
        case "stop":
            return f"stopped on request {seconds}"
        case "itself" | None:
            return f"{ending(record.code)} {seconds}"


def duration(seconds: float) -> str:
    """A length of time: `8 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def news_of(record: JobRecord) -> News:
    """What the model is told when it is over."""
    return News(record.id, f"{fate(record)} ({short(record.command)})")
