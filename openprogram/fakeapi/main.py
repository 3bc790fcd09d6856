"""`openprogram fake-api`: the command line of the fake API's own process."""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
import threading
from collections.abc import Sequence

import orjson
import uvicorn

from openprogram.fakeapi.app import create_app, is_loopback
from openprogram.fakeapi.state import DEFAULT_PACE, FakeState
from openprogram.tokens import count_tokens


def main(argv: Sequence[str]) -> int:
    """Serve until a signal, or until standard input closes with `--exit-with-stdin`.

    Prints one line of JSON, `{"base_url": ...}`, when it is listening. Returns the exit status: 0
    after an orderly end, 2 where it cannot listen.
    """
    options = _parser().parse_args(argv)
    host = f"[{options.host}]" if ":" in options.host else options.host
    if not is_loopback(host):
        return _complain(f"--host {options.host}: the fake API has no authentication and serves loopback only")
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    # The protocol is named, or asyncio leaves Nagle's algorithm on and the first delta comes 40 ms late.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((options.host, options.port))
    except OSError as error:
        listener.close()
        return _complain(f"cannot listen on {options.host} port {options.port}: {error.strerror}")
    state = FakeState(pace=options.pace)
    app = create_app(state, control=options.control)
    config = uvicorn.Config(app, log_level="critical", access_log=False, backlog=2048, ws="none", lifespan="off")
    asyncio.run(_serve(_AnnouncingServer(config, host), listener, options.exit_with_stdin))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="openprogram fake-api",
        description="Serve the demo model and a strict imitation of the providers' APIs on loopback.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="loopback address to listen on (%(default)s)")
    parser.add_argument("--port", type=_port, default=0, help="port; 0 takes a free one (%(default)s)")
    parser.add_argument(
        "--pace",
        type=float,
        default=DEFAULT_PACE,
        help="speed of the demo model in tokens a second; 0 is as fast as possible (%(default)s)",
    )
    parser.add_argument("--exit-with-stdin", action="store_true", help="end when standard input closes")
    parser.add_argument(
        "--no-control",
        dest="control",
        action="store_false",
        help="serve no /__fake/ control surface, so that no answer can be scripted",
    )
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to 65535")
    return int(text)


def _complain(message: str) -> int:
    print(f"openprogram fake-api: {message}", file=sys.stderr)
    return 2


class _AnnouncingServer(uvicorn.Server):
    """uvicorn, with one line on standard output once it accepts connections."""

    def __init__(self, config: uvicorn.Config, host: str) -> None:
        super().__init__(config)
        self._host = host

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say where."""
        await super().startup(sockets)
        if self.should_exit or not sockets:
            return
        base_url = f"http://{self._host}:{sockets[0].getsockname()[1]}"
        sys.stdout.write(orjson.dumps({"base_url": base_url}).decode() + "\n")
        sys.stdout.flush()


async def _serve(server: uvicorn.Server, listener: socket.socket, exit_with_stdin: bool) -> None:
    loop = asyncio.get_running_loop()
    # The first request would wait for the vocabulary otherwise; loading it needs no answer.
    threading.Thread(target=count_tokens, args=("",), daemon=True).start()
    if exit_with_stdin:
        threading.Thread(target=_watch_stdin, args=(loop, server), daemon=True).start()
    await server.serve(sockets=[listener])


def _watch_stdin(loop: asyncio.AbstractEventLoop, server: uvicorn.Server) -> None:
    """Block until standard input ends (its other side is gone), then end without waiting for streams."""
    while os.read(0, 4096):
        pass
    loop.call_soon_threadsafe(_stop, server)


def _stop(server: uvicorn.Server) -> None:
    server.should_exit = True
    server.force_exit = True
