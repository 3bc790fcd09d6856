"""Time stamps as the protocol writes them."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], float]
"""Unix time in seconds; injectable so that tests own time."""


def iso_time(unix_seconds: float) -> str:
    """``2026-01-01T00:00:00.000Z``: UTC, milliseconds, sortable as text."""
    return datetime.fromtimestamp(unix_seconds, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
