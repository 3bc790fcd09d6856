"""`openprogram serve`: settings from the options, then the server, then an exit status."""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from typing import Final

import structlog

from openprogram import __version__
from openprogram.app.compose import compose
from openprogram.app.logs import configure_logging
from openprogram.app.serve import serve
from openprogram.app.settings import Flags, Settings, load_settings
from openprogram.core.errors import ConfigError, OpenProgramError
from openprogram.tools.leaving import GRACE_S

FAILED: Final = 1
MISCONFIGURED: Final = 2
INTERRUPTED: Final = 130

_log = structlog.get_logger(__name__)


def run(options: argparse.Namespace) -> int:
    """Serve until a signal; returns the exit status. Expected failures are told in a line, without a traceback."""
    flags = Flags(
        home=options.home,
        host=options.host,
        port=options.port,
        token=options.token,
        allow_hosts=tuple(options.allow_host),
        public_url=options.public_url,
    )
    status = 0
    try:
        settings = load_settings(flags, os.environ)
        configure_logging(settings.log_level, settings.secrets)
        asyncio.run(_to_the_end(settings))
    except* OpenProgramError as group:
        for error in _leaves(group):
            status = complain(error)
    except* KeyboardInterrupt:
        status = INTERRUPTED
    return status


async def _to_the_end(settings: Settings) -> None:
    """Serve; then end this process, whatever does not. Everything is stored and closed by then."""
    await serve(settings, compose, announce)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others and (deaf := (await asyncio.wait(others, timeout=GRACE_S))[1]):
        _log.warning("ended_without", tasks=sorted(task.get_name() for task in deaf))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)  # `asyncio.run` would wait for them for ever


def announce(address: str) -> None:
    """Tell whoever started this where to go."""
    print(f"openprogram {__version__} is ready: {address}", flush=True)


def complain(error: OpenProgramError) -> int:
    """Tell a person what happened and what to do; returns the exit status."""
    print(f"openprogram: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"  {error.hint}", file=sys.stderr)
    return MISCONFIGURED if isinstance(error, ConfigError) else FAILED


def _leaves(group: BaseExceptionGroup[OpenProgramError]) -> Iterator[OpenProgramError]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
