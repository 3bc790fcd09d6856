"""A forward proxy on loopback through which a browser reaches public addresses and no others (R16).

A browser that resolves and redirects by itself cannot be judged from outside: what it is told to open is not what it
dials. Behind this proxy it dials nothing. Every request, subresource, redirect and WebSocket comes here with a host
name, which is resolved once, judged, and dialled at the judged address.
"""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from types import TracebackType
from typing import Final

from yarl import URL

from openprogram.net.addresses import AddressPolicy
from openprogram.net.errors import NetFailure
from openprogram.net.guarded import Resolve, checked_url, reachable, system_resolve

_HEAD_BYTES: Final = 65_536
_CHUNK: Final = 65_536
_HEAD_S: Final = 60.0
_CONNECT_S: Final = 15.0
_REMEMBERED: Final = 200
_DROPPED: Final = frozenset({b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive"})


_Accepted = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class GuardedProxy:
    """`async with GuardedProxy() as proxy`: it serves at `proxy.url` until the block ends. HTTP/1.1 with CONNECT."""

    def __init__(self, policy: AddressPolicy | None = None, resolve: Resolve = system_resolve) -> None:
        self._policy = policy or AddressPolicy()
        self._resolve = resolve
        self._refusals: OrderedDict[str, str] = OrderedDict()
        self._accepted: asyncio.Queue[_Accepted | None] = asyncio.Queue()
        self._server: asyncio.Server | None = None
        self._owner: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "GuardedProxy":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_HEAD_BYTES)
        self._owner = asyncio.create_task(self._own(self._server), name="guarded proxy")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._owner is not None
        self._accepted.put_nowait(None)
        await self._owner

    @property
    def url(self) -> str:
        """Where it serves."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def refusal(self, host: str) -> str | None:
        """Why this host was refused lately, if it was."""
        return self._refusals.get(host)

    async def check(self, url: str) -> URL:
        """The URL parsed, if it may be opened now. Raises `NetFailure`."""
        target = checked_url(url)
        assert target.host is not None
        assert target.port is not None
        try:
            await reachable(target.host, target.port, self._resolve, self._policy)
        except OSError as error:
            raise NetFailure("unreachable", f"there is no host {target.host}") from error
        return target

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is not None and self._server.is_serving():
            self._accepted.put_nowait((reader, writer))
        else:
            writer.close()

    async def _own(self, server: asyncio.Server) -> None:
        """The one task that connections belong to: those who enter and leave the block may be two others (law 10)."""
        tasks: set[asyncio.Task[None]] = set()
        try:
            async with asyncio.TaskGroup() as group:
                while (accepted := await self._accepted.get()) is not None:
                    task = group.create_task(self._serve(*accepted), name="proxied connection")
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
                server.close()
                for task in tasks:
                    task.cancel()
        finally:
            server.close()
            while not self._accepted.empty():
                if (late := self._accepted.get_nowait()) is not None:
                    late[1].close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_S):
                head = await reader.readuntil(b"\r\n\r\n")
            await self._forward(head, reader, writer)
        except NetFailure as failure:
            await _answer(writer, 403, failure.message)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError) as error:
            await _answer(writer, 502, f"not reachable ({type(error).__name__})")
        finally:
            await _closed(writer)

    async def _forward(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
        if method == "CONNECT":
            host, _, number = target.rpartition(":")
            port = int(number)
            if not 0 < port < 65_536:
                raise ValueError("no such port")
            far_reader, far_writer = await self._dial(host.strip("[]"), port)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _tunnel(reader, writer, far_reader, far_writer)
            return
        url = checked_url(target)
        assert url.host is not None
        assert url.port is not None
        far_reader, far_writer = await self._dial(url.host, url.port)
        far_writer.write(_rewritten(f"{method} {url.raw_path_qs} HTTP/1.1".encode("latin-1"), head))
        await _tunnel(reader, writer, far_reader, far_writer, answers=True)

    async def _dial(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            addresses = await reachable(host, port, self._resolve, self._policy)
        except NetFailure as failure:
            self._refusals[host] = failure.message
            self._refusals.move_to_end(host)
            while len(self._refusals) > _REMEMBERED:
                self._refusals.popitem(last=False)
            raise
        async with asyncio.timeout(_CONNECT_S):
            return await asyncio.open_connection(addresses[0], port, limit=_HEAD_BYTES)


def _rewritten(first: bytes, head: bytes) -> bytes:
    """A head with another first line, and without what concerns one connection only: each carries one exchange."""
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")[1:]
    kept = [line for line in lines if line.split(b":", 1)[0].strip().lower() not in _DROPPED]
    return b"\r\n".join([first, *kept, b"Connection: close"]) + b"\r\n\r\n"


async def _tunnel(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    far_reader: asyncio.StreamReader,
    far_writer: asyncio.StreamWriter,
    *,
    answers: bool = False,
) -> None:
    """Pass bytes both ways until the far side ends. `answers`: its answers' heads are rewritten, too."""
    upward = asyncio.create_task(_pass(reader, far_writer))
    try:
        if answers:
            await _pass_heads(far_reader, writer)
        await _pass(far_reader, writer)
    finally:
        upward.cancel()
        far_writer.close()
        await asyncio.wait({upward})


async def _pass_heads(far_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The final answer's head and those of what comes before it (100 Continue)."""
    while True:
        head = await far_reader.readuntil(b"\r\n\r\n")
        first = head.split(b"\r\n", 1)[0]
        interim = first.split(b" ")[1:2] in ([b"100"], [b"102"], [b"103"])
        writer.write(head if interim else _rewritten(first, head))
        if not interim:
            return


async def _pass(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(_CHUNK):
            sink.write(data)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
    except OSError:
        sink.close()  # the other side went away


async def _closed(writer: asyncio.StreamWriter) -> None:
    """Close it, and let go of its socket."""
    writer.close()
    with suppress(OSError):  # the other side was faster
        await writer.wait_closed()


async def _answer(writer: asyncio.StreamWriter, status: int, text: str) -> None:
    body = text.encode()
    head = f"HTTP/1.1 {status} Refused\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
    try:
        await writer.drain()
    except OSError:
        writer.close()  # the browser has gone
