"""The real server as a process of its own.

    async with fake_api() as fake, running_server(tmp_path, fake) as server, server.client() as client:
        session = (await client.send("create_session"))["session_id"]
        await client.subscribe(session)
        await client.send("chat", session_id=session, text="hello")
        await client.event("turn_finished", session)

Without a fake API there is no endpoint, and so the demo model answers. `server.kill()` is kill -9; `server.start()`
starts again on the same data directory and port, so that a browser finds it again. Nothing outlives the block.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Final

from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

from tests.support.fake import FakeApi
from tests.support.ports import reserved_port
from tests.support.tree import ROOT
from tests.support.ws import WAIT_S, Client, Frame

TOKEN: Final = "the-token-of-the-tests"
PROTOCOL: Final = Subprotocol("openprogram.v1")
_FOREIGN: Final = ("ANTHROPIC_", "OPENAI_", "OPENPROGRAM_", "TAVILY_", "BRAVE_", "EXA_", "SERPER_", "SEARXNG_")


class Server:
    """A server process on one data directory. Made by `running_server`."""

    def __init__(
        self, home: Path, environment: Mapping[str, str], options: tuple[str, ...], program: str, port: int
    ) -> None:
        self.home = home
        self.program = program
        self.port = port
        self.public_port: int | None = None
        """Where browsers find it, if there is a relay before it."""
        self.token = TOKEN
        self.environment = environment
        self._options = options
        self._process: asyncio.subprocess.Process | None = None
        self._log: IO[bytes] | None = None

    @property
    def url(self) -> str:
        """Base URL without a trailing slash."""
        return f"http://127.0.0.1:{self.public_port or self.port}"

    @property
    def sign_in_url(self) -> str:
        """What to open in a browser that has not signed in."""
        return f"{self.url}/?token={self.token}"

    @property
    def ws_url(self) -> str:
        """Where the WebSocket is."""
        return f"ws://127.0.0.1:{self.port}/ws"

    @property
    def workspace(self) -> Path:
        """The directory that new chats work in."""
        return self.home / "workspace"

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.home / "openprogram.db"

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        assert self._process is not None, "the server is not running"
        return self._process.pid

    @property
    def log(self) -> str:
        """What the server wrote to standard error, over all its starts."""
        return self._log_path.read_text("utf-8", "replace") if self._log_path.exists() else ""

    async def start(self) -> None:
        """Start, on the same port each time, and wait until it listens."""
        assert self._process is None, "the server is running"
        self._log = self._log_path.open("ab")
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", self.program, "serve", "--home", str(self.home), "--port", str(self.port)),
            *(("--token", self.token) if self.token else ()),
            *self._options,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            cwd=ROOT,
            env=self.environment,
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(WAIT_S):
            line = (await self._process.stdout.readline()).decode()
        assert "is ready: " in line, f"the server did not start: {line}\n{self.log}"

    async def kill(self) -> None:
        """As a power cut would: SIGKILL, nothing is put in order."""
        await self._end(signal.SIGKILL)

    async def ended(self) -> int:
        """Wait until it has ended by itself, or by a signal that the test has sent; returns its exit status."""
        process, self._process = self._process, None
        assert process is not None, "the server is not running"
        try:
            async with asyncio.timeout(WAIT_S):
                await process.communicate()
        finally:
            if self._log is not None:
                self._log.close()
        assert process.returncode is not None
        return process.returncode

    async def stop(self) -> None:
        """Ask it to stop (SIGTERM) and wait until it has."""
        await self._end(signal.SIGTERM)

    @asynccontextmanager
    async def client(self, *, origin: str | None = None) -> AsyncIterator[Client]:
        """A WebSocket with the token, after its `hello`."""
        async with connect(
            self.ws_url,
            subprotocols=[PROTOCOL],
            additional_headers={"authorization": f"Bearer {self.token}"},
            origin=None if origin is None else Origin(origin),
            compression=None,
            max_size=None,
            proxy=None,
            open_timeout=WAIT_S,
            ping_interval=None,  # the server does
        ) as socket:
            client = Client(socket)
            reader = asyncio.create_task(client.read(), name="test client")
            try:
                client.hello = await client.frame("hello")
                yield client
            finally:
                await socket.close()
                await reader

    async def rest(self) -> None:
        """Stop what runs in any chat and wait until nothing does: between two tests that share this server."""
        async with self.client() as client:
            while at_work := [chat["id"] for chat in await _listed(client) if chat["status"] != "idle"]:
                for session_id in at_work:
                    await client.send("stop", session_id=session_id)

    async def aclose(self) -> None:
        """Stop it if it runs."""
        if self._process is not None:
            await self.stop()

    @property
    def _log_path(self) -> Path:
        return self.home.with_name(f"{self.home.name}.log")

    async def _end(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        assert process is not None, "the server is not running"
        if process.returncode is None:
            process.send_signal(number)
        try:
            async with asyncio.timeout(WAIT_S):
                await process.communicate()
        except TimeoutError:
            process.kill()
            await process.communicate()
            raise AssertionError(f"the server did not stop within {WAIT_S:g} s\n{self.log}") from None
        finally:
            if self._log is not None:
                self._log.close()


async def _listed(client: Client) -> list[Frame]:
    chats: list[Frame] = (await client.send("list_sessions", limit=1000))["sessions"]
    return chats


def environment_for(fake: FakeApi | None, api: str = "openai", **variables: str) -> dict[str, str]:
    """This process's environment without any endpoint, key or setting of ours, with the fake API as the endpoint.

    `api` is `openai`, `anthropic` or `both`. Without a fake API the demo model answers.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    if fake is not None and api in ("openai", "both"):
        kept |= {"OPENAI_BASE_URL": fake.openai_url, "OPENAI_API_KEY": "test"}
    if fake is not None and api in ("anthropic", "both"):
        kept |= {"ANTHROPIC_BASE_URL": fake.anthropic_url, "ANTHROPIC_API_KEY": "test"}
    return kept | variables


@asynccontextmanager
async def running_server(
    directory: Path,
    fake: FakeApi | None = None,
    *options: str,
    api: str = "openai",
    config: str | None = None,
    environment: Mapping[str, str] | None = None,
    program: str = "openprogram",
) -> AsyncIterator[Server]:
    """Serve the data directory `directory/home` on a port of its own until the block ends.

    `options` go to `openprogram serve`, `config` into its `config.toml`, `environment` over the variables. `program` is
    the module that is run.
    """
    home = directory / "home"
    home.mkdir(parents=True, exist_ok=True)
    if config is not None:
        (home / "config.toml").write_text(config, "utf-8")
    with reserved_port() as port:
        server = Server(home, environment_for(fake, api, **(environment or {})), options, program, port)
        try:
            await server.start()
            yield server
        finally:
            await server.aclose()
