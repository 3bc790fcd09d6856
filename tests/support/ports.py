"""Ports that stay a test's own while nobody listens on them."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port of 127.0.0.1 where connections are refused, and that the system gives to nobody else until the block ends.

    A program that is told this port can listen on it as often as it likes: both sockets have SO_REUSEADDR, and this
    one never listens.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        yield port
