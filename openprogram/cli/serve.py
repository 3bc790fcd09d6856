"""`openprogram serve`: settings from the options, then the server, then an exit status."""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from typing import Final

from openprogram import __version__
from openprogram.app.compose import compose
from openprogram.app.logs import configure_logging
from openprogram.app.serve import serve
from openprogram.app.settings import Flags, load_settings
from openprogram.core.errors import ConfigError, OpenProgramError

FAILED: Final = 1
MISCONFIGURED: Final = 2
INTERRUPTED: Final = 130


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
        asyncio.run(serve(settings, compose, announce))
    except* OpenProgramError as group:
        for error in _leaves(group):
            status = complain(error)
    except* KeyboardInterrupt:
        status = INTERRUPTED
    return status


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
