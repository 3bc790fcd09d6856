"""Logging: structured lines on standard error, those of libraries too. Content of chats is never logged (R22)."""

import logging
import sys
from collections.abc import Iterable
from typing import Final, TextIO

import structlog

_HIDDEN: Final = "[secret]"


class LogStream:
    """Where log lines go: without the secrets that are known, and never a failure for whoever logs.

    A log that cannot be written (the disk is full, the reader of a pipe has gone) must not take the server down with
    it: such lines are counted in `dropped`.
    """

    def __init__(self, stream: TextIO, secrets: Iterable[str] = ()) -> None:
        self._stream = stream
        self._secrets = tuple(sorted(set(secrets), key=len, reverse=True))
        self.dropped = 0

    def write(self, text: str) -> int:
        """Write a line."""
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        try:
            self._stream.write(text)
        except (OSError, ValueError):  # ValueError: it is closed
            self.dropped += 1
        return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            self.dropped += 1


class _RefusedHandshakes(logging.Filter):
    """Leaves out that uvicorn takes a WebSocket that was refused, with 401 or 403, for a fault of ours."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith("ASGI callable returned without completing handshake")


def configure_logging(level: str, secrets: Iterable[str] = ()) -> None:
    """Set up the whole process. JSON lines, or readable ones where a person watches.

    Tracebacks are without the values of variables, which hold what people wrote and the keys that they entered.
    """
    number = getattr(logging, level.upper())
    readable = sys.stderr.isatty()
    stream = LogStream(sys.stderr, secrets)
    logging.basicConfig(
        stream=stream, level=max(number, logging.WARNING), format="%(levelname)s %(name)s: %(message)s", force=True
    )
    logging.getLogger("uvicorn.error").addFilter(_RefusedHandshakes())
    tracebacks = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *([] if readable else [structlog.processors.ExceptionRenderer(tracebacks)]),
            structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
            if readable
            else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=lambda *_: structlog.WriteLogger(stream),  # type: ignore[arg-type]  # write and flush will do
        cache_logger_on_first_use=True,
    )
