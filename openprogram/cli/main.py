"""`openprogram`: serve, cache, rebase, export, replay, fake-api, version.

What goes wrong is one line on standard error, and an exit status.

0  done    1  the server could not go on    2  wrong options or configuration    130  interrupted
"""

import argparse
import sys
from collections.abc import Sequence

from openprogram import __version__
from openprogram.cli.options import inspect_commands


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["fake-api"]:  # it has a command line of its own
        from openprogram.fakeapi.main import main as fake_api  # noqa: PLC0415  (only this command needs it)

        return fake_api(arguments[1:])
    options = _parser().parse_args(arguments)
    if options.command == "version":
        print(__version__)
        return 0
    if options.command == "serve":
        from openprogram.cli.serve import run  # noqa: PLC0415  (`version` and wrong options answer at once)
    elif options.command == "rebase":
        from openprogram.cli.rebase import run  # noqa: PLC0415
    else:
        from openprogram.cli.inspect import run  # noqa: PLC0415
    return run(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="openprogram", description="A self-hosted chat server for tool-using agents.")
    parser.add_argument("--version", action="version", version=__version__, help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="run the server", description="Run the server until Ctrl-C or SIGTERM.")
    serve.add_argument("--home", metavar="DIR", help="data directory (OPENPROGRAM_HOME; default ~/.openprogram)")
    serve.add_argument("--host", help="address to listen on (OPENPROGRAM_HOST; default 127.0.0.1)")
    serve.add_argument("--port", type=int, help="port; 0 takes a free one (OPENPROGRAM_PORT; default 8790)")
    serve.add_argument("--token", help="what a client must know (OPENPROGRAM_TOKEN; default: random, kept in DIR)")
    serve.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another name this server is reached by; may be repeated (OPENPROGRAM_ALLOW_HOSTS)",
    )
    serve.add_argument(
        "--public-url", metavar="URL", help="address of this server behind a proxy (OPENPROGRAM_PUBLIC_URL)"
    )
    inspect_commands(commands)
    commands.add_parser("fake-api", add_help=False, help="run the imitation of model APIs and the demo model")
    commands.add_parser("version", help="print the version")
    return parser
