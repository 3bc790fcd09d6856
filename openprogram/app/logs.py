"""Logging: structured lines on standard error, those of libraries too. Content of chats is never logged (R22)."""

import logging
import sys

import structlog


def configure_logging(level: str) -> None:
    """Set up the whole process. JSON lines, or readable ones where a person watches."""
    number = getattr(logging, level.upper())
    readable = sys.stderr.isatty()
    logging.basicConfig(
        stream=sys.stderr, level=max(number, logging.WARNING), format="%(levelname)s %(name)s: %(message)s", force=True
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *([] if readable else [structlog.processors.dict_tracebacks]),
            structlog.dev.ConsoleRenderer() if readable else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
