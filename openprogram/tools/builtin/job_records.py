"""What is kept of a background command in a file, so that it can be told of honestly after a restart."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import structlog
from pydantic import TypeAdapter, ValidationError

from openprogram.core.jsonio import encode

_log = structlog.get_logger(__name__)

EARLIER: Final = 20
"""So many commands of earlier runs of the server are remembered per chat, the newest ones."""

EndedBy = Literal["itself", "stop", "server"]


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A background command. `ended_by` None: it runs, or nobody lived to write down how it ended; `code` likewise.

    `seen`: the chat's model was handed its end. Times are Unix seconds.
    """

    id: str
    command: str
    output: str
    started_at: float
    ended_at: float | None = None
    ended_by: EndedBy | None = None
    code: int | None = None
    seen: bool = False


_RECORD: Final = TypeAdapter(JobRecord)


def write_record(record: JobRecord) -> None:
    """Put the record beside the command's output, whole or not at all. A disk that refuses is logged."""
    target = Path(record.output).with_name(f"{record.id}.json")
    unfinished = target.with_suffix(".tmp")
    try:
        unfinished.write_bytes(encode(record))
        unfinished.replace(target)
    except OSError as error:
        _log.warning("job_not_recorded", job=record.id, error=str(error))


def read_records(directory: Path) -> tuple[JobRecord, ...]:
    """The newest records in a chat's output directory, oldest first; what cannot be read is left out and logged."""
    try:
        found = [entry for entry in os.scandir(directory) if entry.name.startswith("job_")]
    except OSError:
        return ()  # a chat that never ran a command has no directory
    records = (_read(Path(entry.path)) for entry in found if entry.name.endswith(".json"))
    known = sorted((record for record in records if record is not None), key=lambda record: record.started_at)
    return tuple(known[-EARLIER:])


def _read(path: Path) -> JobRecord | None:
    try:
        return _RECORD.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        _log.warning("job_record_unreadable", path=str(path), error=str(error))
        return None
