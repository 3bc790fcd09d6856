"""A TCP relay that can go silent: as a network does that lost its state, a proxy that hangs, or a laptop that slept.

async with relay(server.port) as proxy:
    ...                  # talk to 127.0.0.1:proxy.port
    proxy.silence()      # connections stay open, and nothing passes any more; new connections work
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial


class Relay:
    """A running relay. `connections` counts those that were made so far."""

    def __init__(self) -> None:
        self.port = 0
        self.target = 0
        self.connections = 0
        self._silenced = 0

    def silence(self) -> None:
        """Nothing passes through the connections of now any more, in either direction; neither end is told."""
        self._silenced = self.connections

    def passes(self, number: int) -> bool:
        """Whether the connection with this number still carries anything."""
        return number > self._silenced

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection until an end closes it."""
        self.connections += 1
        passes = partial(self.passes, self.connections)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_pump(reader, far_writer, passes))
                tasks.create_task(_pump(far_reader, writer, passes))
        finally:
            for each in (writer, far_writer):
                each.close()
                with suppress(ConnectionError):
                    await each.wait_closed()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, passes: Callable[[], bool]) -> None:
    with suppress(ConnectionError):  # an end that is gone is what this is about
        while data := await reader.read(65_536):
            if passes():
                writer.write(data)
                await writer.drain()
        if passes():
            writer.write_eof()


@asynccontextmanager
async def relay(target: int = 0) -> AsyncIterator[Relay]:
    """Relay a free port on loopback to `target`, which may be set later, until the block ends."""
    running = Relay()
    running.target = target
    served: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(running.serve(reader, writer))
        served.add(task)
        task.add_done_callback(served.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    running.port = server.sockets[0].getsockname()[1]
    try:
        yield running
    finally:
        server.close()
        for task in served:
            task.cancel()
        await asyncio.gather(*served, return_exceptions=True)
