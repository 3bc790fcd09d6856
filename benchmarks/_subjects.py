"""What the overhead benchmark runs: the fake API, the relay and the server, each as a process that can be measured."""

import asyncio
import json
import os
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import aiohttp
import websockets

ROOT: Final = Path(__file__).resolve().parent.parent
TOKEN: Final = "benchmark"
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Process:
    """A child process: its CPU seconds and resident megabytes."""

    def __init__(self, process: asyncio.subprocess.Process, first_line: str) -> None:
        self._process = process
        self.first_line = first_line

    @property
    def cpu_s(self) -> float:
        """User and system time so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def rss_mb(self) -> float:
        """Resident memory now."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    async def end(self) -> None:
        """Ask it to end, and wait."""
        if self._process.returncode is None:
            self._process.terminate()
        await self._process.wait()


@asynccontextmanager
async def started(command: Sequence[str], marker: str) -> AsyncIterator[Process]:
    """A process that has printed a line with `marker`; it ends with the block."""
    environment = {key: value for key, value in os.environ.items() if not key.endswith(("_API_KEY", "_BASE_URL"))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *command), cwd=ROOT, env=environment, stdout=asyncio.subprocess.PIPE
    )
    line = ""
    while process.stdout is not None and marker not in line:
        raw = await process.stdout.readline()
        if not raw:
            sys.exit(f"benchmarks: {' '.join(command)} ended at once")
        line = raw.decode()
    found = Process(process, line)
    try:
        yield found
    finally:
        await found.end()


@asynccontextmanager
async def fake_api() -> AsyncIterator[str]:
    """The fake API; gives its base URL."""
    async with started(("-m", "openprogram", "fake-api", "--port", "0"), "base_url") as process:
        yield str(json.loads(process.first_line)["base_url"])


class Subject(Protocol):
    """A server under test: tabs are opened per chat, then chats are started."""

    process: Process

    async def open_tab(self, chat: int) -> websockets.ClientConnection:
        """One more tab of this chat."""
        ...

    async def start(self, chat: int) -> None:
        """Ask for one answer in this chat."""
        ...


class RelaySubject:
    """The bare relay."""

    def __init__(self, process: Process, http: aiohttp.ClientSession) -> None:
        self.process = process
        self._http = http
        self._url = str(json.loads(process.first_line)["url"])

    async def open_tab(self, chat: int) -> websockets.ClientConnection:
        """One more tab of this chat."""
        return await websockets.connect(f"{self._url.replace('http', 'ws')}/ws/{chat}", compression=None)

    async def start(self, chat: int) -> None:
        """Ask for one answer in this chat."""
        async with self._http.post(f"{self._url}/start/{chat}") as response:
            response.raise_for_status()


@asynccontextmanager
async def relay(base_url: str, model: str) -> AsyncIterator[Subject]:
    """The relay in front of this model."""
    command = (str(ROOT / "benchmarks" / "_relay.py"), f"{base_url}/v1", model)
    async with started(command, "url") as process, aiohttp.ClientSession() as http:
        yield RelaySubject(process, http)


class ServerSubject:
    """openprogram itself."""

    def __init__(self, process: Process, control: websockets.ClientConnection, url: str) -> None:
        self.process = process
        self._control = control
        self._url = url
        self._chats: dict[int, str] = {}

    async def open_tab(self, chat: int) -> websockets.ClientConnection:
        """One more tab of this chat."""
        if chat not in self._chats:
            self._chats[chat] = (await self._ask(action="create_session"))["session_id"]
        tab = await connect(self._url)
        frame = {"action": "subscribe", "id": "s", "session_id": self._chats[chat], "after_seq": 0}
        await tab.send(json.dumps(frame))
        while json.loads(await tab.recv()).get("id") != "s":
            continue
        return tab

    async def start(self, chat: int) -> None:
        """Ask for one answer in this chat."""
        await self._ask(action="chat", session_id=self._chats[chat], text="go")

    async def _ask(self, **frame: Any) -> Any:
        client_id = secrets.token_hex(8)
        await self._control.send(json.dumps({"id": client_id, **frame}))
        while True:
            reply = json.loads(await self._control.recv())
            if reply.get("id") == client_id:
                if reply["type"] == "error":
                    sys.exit(f"benchmarks: {reply['message']}")
                return reply


async def connect(url: str) -> websockets.ClientConnection:
    """A socket to the server, its hello read."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    socket = await websockets.connect(url, additional_headers=headers, compression=None, max_size=None)
    await socket.recv()
    return socket


@asynccontextmanager
async def server(base_url: str, model: str, api: str = "openai-chat") -> AsyncIterator[ServerSubject]:
    """The server with one endpoint: this model of the fake API."""
    with tempfile.TemporaryDirectory() as home:
        suffix = "/v1" if api == "openai-chat" else ""
        config = f'[endpoints.bench]\napi = "{api}"\nbase_url = "{base_url}{suffix}"\nkey = "k"\nmodels = ["{model}"]\n'
        Path(home, "config.toml").write_text(config)
        command = ("-m", "openprogram", "serve", "--home", home, "--port", "0", "--token", TOKEN)
        async with started(command, "is ready") as process:
            url = process.first_line.split("is ready: ")[1].strip().rstrip("/").replace("http", "ws") + "/ws"
            control = await connect(url)
            yield ServerSubject(process, control, url)
            await control.close()
