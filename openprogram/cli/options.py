"""The command lines of `openprogram cache`, `rebase`, `export` and `replay`; importing them costs nothing."""

import argparse
from typing import Final

NEWEST: Final = "last"
"""Stands for the chat that was used last."""


def inspect_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The command lines of this module."""
    cache = commands.add_parser(
        "cache", help="what a chat's requests cost, and why", description="What a chat's requests cost, and why."
    )
    chat = cache.add_mutually_exclusive_group(required=True)
    chat.add_argument("session", nargs="?", metavar="SESSION", help=f"a chat's id, or `{NEWEST}`")
    chat.add_argument("--all", action="store_true", help="all chats: which tools make the next request miss the cache")
    rebase = commands.add_parser(
        "rebase",
        help="have a chat's tools declared anew with its next request, by the running server",
        description="Costs the cached prompt once, and drops what is declared and no longer used.",
    )
    rebase.add_argument("session", metavar="SESSION", help="a chat's id")
    rebase.add_argument("--price", action="store_true", help="only tell what it would cost and save")
    rebase.add_argument("--host", help="where the server listens (OPENPROGRAM_HOST; default 127.0.0.1)")
    rebase.add_argument("--port", type=int, help="its port (OPENPROGRAM_PORT; default 8790)")
    rebase.add_argument("--token", help="what a client must know (OPENPROGRAM_TOKEN; default: the one in DIR)")
    export = commands.add_parser("export", help="print the body of a request as it was sent, without secrets")
    again = commands.add_parser("replay", help="send the body of a request again, and print what it used")
    for parser in (export, again):
        parser.add_argument("session", metavar="SESSION", help=f"a chat's id, or `{NEWEST}`")
        parser.add_argument("step", type=int, metavar="N", help="the request's number in `openprogram cache SESSION`")
    where = again.add_mutually_exclusive_group()
    where.add_argument("--endpoint", metavar="NAME", help="a configured endpoint (default: the one it was sent to)")
    where.add_argument("--base-url", metavar="URL", help="any other one that speaks the same API, such as a fake API")
    for parser in (cache, rebase, again):
        parser.add_argument("--json", action="store_true", help="JSON for machines")
    for parser in (cache, rebase, export, again):
        parser.add_argument("--home", metavar="DIR", help="data directory (OPENPROGRAM_HOME; default ~/.openprogram)")
