"""Time stamps as the protocol writes them."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], float]
"""Unix time in seconds; injectable so that tests own time."""


def iso_time(unix_seconds: float) -> str:
    """``2026-01-01T00:00:00.000Z``: UTC, milliseconds, sortable as text."""
    moment = datetime.fromtimestamp(unix_seconds, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
