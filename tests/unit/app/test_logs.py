"""The log: one JSON line per event, without secrets and content, and never a failure for who writes it (R18, R22)."""

import errno
import io
import logging
import sys
from collections.abc import Iterator

import orjson
import pytest
import structlog

from openprogram.app.logs import LogStream, configure_logging

KEY = "sk-key-of-somebody"


class Full(io.StringIO):
    """A file on a disk that is full."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a configured process writes to standard error."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(logging.root, "handlers", [])
    configure_logging("info", [KEY])
    yield stream
    structlog.reset_defaults()


def test_a_traceback_tells_where_and_not_with_what(written: io.StringIO) -> None:
    def work(diary: str) -> None:
        raise RuntimeError("it broke")

    try:
        work("dear diary")
    except RuntimeError:
        structlog.get_logger().exception("crashed", session_id="s_1")
    line = orjson.loads(written.getvalue())
    assert (line["event"], line["level"], line["session_id"]) == ("crashed", "error", "s_1")
    [raised] = line["exception"]
    assert (raised["exc_type"], raised["exc_value"], raised["frames"][-1]["name"]) == (
        "RuntimeError",
        "it broke",
        "work",
    )
    assert "diary" not in written.getvalue()


def test_known_secrets_are_in_no_line_whoever_logs(written: io.StringIO) -> None:
    structlog.get_logger().warning("refused", header=f"Bearer {KEY}")
    logging.getLogger("some.library").warning("sent %s", KEY)
    assert KEY not in written.getvalue()
    assert written.getvalue().count("[secret]") == 2


def test_a_log_that_cannot_be_written_fails_nobody() -> None:
    log = LogStream(Full())
    assert log.write("a line\n") == 7
    log.flush()
    assert log.dropped == 2
    closed = io.StringIO()
    closed.close()
    log = LogStream(closed)
    assert log.write("a line\n") == 7
    assert log.dropped == 1
