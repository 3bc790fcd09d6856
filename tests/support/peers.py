"""Servers that were not written here: the npm package `@copilotkit/aimock` and the PyPI package `llmock`.

Both speak the Messages API and Chat Completions over real HTTP on loopback. `aimock` answers from fixtures and keeps a
journal of what it was sent; `llmock` calls whatever tool it is offered, breaks on demand, and judges its client.
"""

import asyncio
import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from llmock.testing import LLMockServer

from openprogram.core.prompt import Api
from tests.support.tree import ROOT

PEERS = ROOT / "tests" / "peers"


class Aimock:
    """A running aimock."""

    def __init__(self, base_url: str, http: aiohttp.ClientSession) -> None:
        self.base_url = base_url
        self._http = http

    def address(self, api: Api) -> str:
        """Base URL for that wire format."""
        return self.base_url if api == "anthropic" else f"{self.base_url}/v1"

    async def journal(self) -> list[dict[str, Any]]:
        """What it was sent, in order."""
        async with self._http.get("/__aimock/journal") as response:
            assert response.status == 200
            entries: list[dict[str, Any]] = await response.json()
            return entries


@asynccontextmanager
async def aimock(*options: str, fixtures: Path = PEERS / "fixtures.json") -> AsyncIterator[Aimock]:
    """Start aimock on a free port with these fixtures; unmatched requests are errors. `options` are its own.

    The process ends with its pipe, so it cannot outlive the test run.
    """
    node = await asyncio.to_thread(_install)
    process = await asyncio.create_subprocess_exec(
        *(node, "aimock.mjs", "-p", "0", "-h", "127.0.0.1", "-f", str(fixtures), "--strict", "--validate-on-load"),
        *options,
        cwd=PEERS,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    drain: asyncio.Task[bytes] | None = None
    try:
        said = b""
        while b"listening on " not in (line := await process.stdout.readline()):
            said += line
            assert line, f"aimock did not start:\n{said.decode()}"
        drain = asyncio.create_task(process.stdout.read())
        base_url = line.decode().rpartition("listening on ")[2].strip()
        async with aiohttp.ClientSession(base_url) as http:
            yield Aimock(base_url, http)
    finally:
        process.stdin.close()
        await process.wait()
        if drain is not None:
            await drain


class Llmock:
    """A running llmock. `server.state` takes scenarios; see `llmock.scenarios`."""

    def __init__(self, server: LLMockServer) -> None:
        self.server = server

    def address(self, api: Api) -> str:
        """Base URL for that wire format."""
        return str(self.server.base_url("anthropic" if api == "anthropic" else "openai"))


@contextmanager
def llmock_server() -> Iterator[Llmock]:
    """Start llmock on a free port, in a thread of this process."""
    with LLMockServer() as server:
        yield Llmock(server)


def _install() -> str:
    """`npm ci` where the lock file changed since the last time; returns the path of node.

    Without Node the tests cannot run: they are skipped on a developer's machine and fail in CI.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        reason = "Node and npm are not installed, and the peer server aimock needs them"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    wanted = hashlib.sha256((PEERS / "package-lock.json").read_bytes()).hexdigest()
    stamp = PEERS / "node_modules" / ".installed"
    with (PEERS / ".npm-ci.lock").open("w") as lock:  # test workers start at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.read_text() != wanted:
            done = subprocess.run([npm, "ci"], cwd=PEERS, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"npm ci failed in {PEERS}:\n{done.stderr}"
            stamp.write_text(wanted)
    return node
