"""A start that cannot succeed says in one message what is wrong and what to do, and ends (spec trust.md R3, R4, R9)."""

import asyncio
import os
import shutil
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.conversation import Chat, texts
from tests.support.fake import FakeApi
from tests.support.server import Server, environment_for, running_server
from tests.support.tree import ROOT
from tests.support.ws import WAIT_S

pytestmark = pytest.mark.asyncio(loop_scope="session")

FAILED, MISCONFIGURED = 1, 2


@dataclass(frozen=True, slots=True)
class Ended:
    """How a start ended."""

    status: int
    output: str
    errors: str

    def says(self, status: int, *words: str) -> None:
        """It ended so, nothing claims that it is ready, and the one message has these words."""
        assert self.status == status, self
        assert self.output == ""
        assert "Traceback" not in self.errors, self.errors
        told = [line for line in self.errors.splitlines() if line.startswith("openprogram")]
        assert len(told) == 1, self.errors
        for word in words:
            assert word in self.errors, (word, self.errors)


async def start(home: Path | str, *options: str, environment: Mapping[str, str] | None = None) -> Ended:
    """`openprogram serve`, until it ends by itself. File modes count, even where the tests run as root."""
    port = () if "OPENPROGRAM_PORT" in (environment or {}) else ("--port", "0")
    arguments = ("-m", "openprogram", "serve", "--home", str(home), *port, *options)
    process = await asyncio.create_subprocess_exec(
        *(*_unprivileged(), sys.executable, *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env=environment_for(None, **(environment or {})),
    )
    try:
        async with asyncio.timeout(WAIT_S):
            output, errors = await process.communicate()
    except TimeoutError:
        process.kill()
        output, errors = await process.communicate()
        raise AssertionError(f"it started: {output.decode()}{errors.decode()}") from None
    return Ended(process.returncode or 0, output.decode(), errors.decode())


def _unprivileged() -> tuple[str, ...]:
    """Root may read and write everything, unless it gives that up."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("the tests run as root, and there is no setpriv to give its rights up")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search")


@contextmanager
def mode(path: Path, bits: int) -> Iterator[None]:
    """The path with this mode, for a while."""
    before = path.stat().st_mode
    path.chmod(bits)
    try:
        yield
    finally:
        path.chmod(before)


@pytest.mark.parametrize("bits", [0o000, 0o500])
async def test_a_home_that_cannot_be_read_or_written(tmp_path: Path, bits: int) -> None:
    with mode(tmp_path, bits):
        (await start(tmp_path)).says(MISCONFIGURED, str(tmp_path), "cannot be", "--home")


async def test_a_home_that_cannot_be_made(tmp_path: Path) -> None:
    for bits in (0o000, 0o500):
        with mode(tmp_path, bits):
            (await start(tmp_path / "new")).says(MISCONFIGURED, str(tmp_path / "new"), "Permission denied", "--home")


async def test_a_home_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("not a directory")
    (await start(tmp_path / "home")).says(MISCONFIGURED, "not a directory", "--home")
    (await start(tmp_path / "home" / "below")).says(MISCONFIGURED, "Not a directory", "--home")


@pytest.mark.parametrize("name", ["config.toml", "openprogram.db"])
async def test_a_file_in_it_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("")
    with mode(path, 0o000):
        (await start(tmp_path)).says(FAILED if name.endswith(".db") else MISCONFIGURED, str(path), "ermission")


@pytest.mark.parametrize("name", ["config.toml", "token", "lock", "openprogram.db", "workspace"])
async def test_a_directory_where_a_file_belongs_or_the_reverse(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "workspace":
        path.write_text("a file")
    else:
        path.mkdir()
    ended = await start(tmp_path)
    ended.says(ended.status, str(path))
    assert ended.status in (FAILED, MISCONFIGURED)


async def test_a_database_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "openprogram.db").write_bytes(b"this is no database, " * 500)
    (await start(tmp_path)).says(FAILED, "openprogram.db")


@asynccontextmanager
async def with_a_chat(directory: Path, fake: FakeApi) -> AsyncIterator[tuple[Server, Chat]]:
    """A server that has a chat and was stopped."""
    async with running_server(directory, fake) as server:
        async with server.client() as client:
            chat = await Chat.create(client, "openai")
            await fake.say("Yes.", times=2)
            await chat.turn("keep this")
        await server.stop()
        yield server, chat
        await server.start()


async def test_a_damaged_database_is_named_and_left_alone(tmp_path: Path, fake: FakeApi) -> None:  # R4
    async with with_a_chat(tmp_path, fake) as (server, chat):
        whole = server.database.read_bytes()
        broken = whole[:1024] + bytes(len(whole) // 2) + whole[1024 + len(whole) // 2 :]
        server.database.write_bytes(broken)
        (await start(server.home)).says(FAILED, str(server.database), "damaged")
        assert server.database.read_bytes() == broken
        server.database.write_bytes(whole)
    assert chat.id


async def test_a_newer_database_is_named_and_left_alone(tmp_path: Path, fake: FakeApi) -> None:  # R3
    async with with_a_chat(tmp_path, fake) as (server, _):
        with closing(sqlite3.connect(server.database)) as db:
            db.execute("INSERT INTO migrations VALUES (9999, 'of the future', '2099-01-01T00:00:00.000Z')")
            db.commit()
        (await start(server.home)).says(FAILED, str(server.database), "newer version")
        with closing(sqlite3.connect(server.database)) as db:
            db.execute("DELETE FROM migrations WHERE number = 9999")
            db.commit()


async def test_one_chat_with_a_damaged_log_keeps_no_other_from_being_served(tmp_path: Path, fake: FakeApi) -> None:
    async with running_server(tmp_path, fake) as server:
        async with server.client() as client:
            chats = [await Chat.create(client, "openai") for _ in range(2)]
            for number, chat in enumerate(chats):
                await fake.say("Half ", {"text": "of it", "hold": "h"}, match={"text": f"number {number}"})
                await chat.send(f"number {number}")
                await chat.event("text_delta")
            await server.kill()
        with closing(sqlite3.connect(server.database)) as db:
            of_chat = "WHERE chat = (SELECT n FROM sessions WHERE id = ?)"
            db.execute(f'UPDATE events SET payload = \'{{"type":"nothing"}}\' {of_chat}', (chats[0].id,))
            db.commit()
        await server.start()
        async with server.client() as client:
            healthy = await Chat(client, chats[1].id).snapshot()
            assert (healthy["status"], texts(healthy["messages"][-1])) == ("idle", "Half ")
            listed = (await client.send("list_sessions"))["sessions"]
            assert {session["id"] for session in listed} == {chat.id for chat in chats}


async def test_a_directory_that_another_server_has_is_left_to_it(tmp_path: Path, fake: FakeApi) -> None:
    """Its running turn goes on; once it is gone, however it went, the directory is free."""
    async with running_server(tmp_path, fake) as server, server.client() as client:
        chat = await Chat.create(client, "openai")
        await fake.say("Half ", {"text": "of it", "hold": "h"})
        await chat.send("hello")
        await chat.event("text_delta")
        (await start(server.home)).says(MISCONFIGURED, str(server.pid), str(server.home), "--home")
        await fake.release("h")
        assert (await chat.event("turn_finished"))["reason"] == "done"
        await server.kill()
        await server.start()


async def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        (await start(tmp_path, "--port", port)).says(MISCONFIGURED, port, "--port")


async def test_an_address_of_another_machine(tmp_path: Path) -> None:
    (await start(tmp_path, "--host", "192.0.2.1", "--token", "t")).says(MISCONFIGURED, "192.0.2.1")


async def test_an_address_that_others_reach_needs_a_token(tmp_path: Path) -> None:  # R9
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        (await start(tmp_path, "--host", host)).says(MISCONFIGURED, host, "--token")


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("[server]\nport = 'x'\n", 2, "server.port"),
        ("\n[server]\nprot = 8790\n", 3, "server.prot"),
        ("[endpoints.local]\napi = 'soap'\nbase_url = 'http://127.0.0.1:1/v1'\n", 2, "api"),
        ("[endpoints.local]\napi = 'openai-chat'\n", 1, "base_url"),
        ("[endpoints.local]\napi = 'openai-chat'\nbase_url = 'ftp://x'\n", 3, "base_url"),
        ("[endpoints.a]\napi = 'openai-chat'\nbase_url = 'http://h/v1'\nkey_env = 'NO_SUCH_KEY'\n", 4, "NO_SUCH_KEY"),
        ("[chat]\npermission_mode = 'bypass'\n", 2, "permission_mode"),
        ("[server\n", 1, "line 1"),
    ],
)
async def test_a_config_file_with_a_fault_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, word: str
) -> None:
    (tmp_path / "config.toml").write_text(text)
    (await start(tmp_path)).says(MISCONFIGURED, str(tmp_path / "config.toml"), f"line {line}", word)


async def test_a_config_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe\x00")
    (await start(tmp_path)).says(MISCONFIGURED, "config.toml", "UTF-8")


@pytest.mark.parametrize(
    ("environment", "word"),
    [
        ({"OPENPROGRAM_PORT": "no"}, "OPENPROGRAM_PORT"),
        ({"OPENPROGRAM_TOKEN": "with a space"}, "OPENPROGRAM_TOKEN"),
        ({"OPENAI_BASE_URL": "not a url"}, "OPENAI_BASE_URL"),
        ({"ANTHROPIC_API_KEY": "two\nlines"}, "ANTHROPIC_API_KEY"),
    ],
)
async def test_a_variable_that_cannot_be_used(tmp_path: Path, environment: dict[str, str], word: str) -> None:
    (await start(tmp_path, environment=environment)).says(MISCONFIGURED, word)


@pytest.mark.parametrize(
    "option", ["--nonsense", "--port=x", "--port=99999", "--public-url=nowhere", "--allow-host=a b"]
)
async def test_an_option_that_is_none(tmp_path: Path, option: str) -> None:
    (await start(tmp_path, option)).says(MISCONFIGURED, option.partition("=")[0].strip("-"))


async def test_after_each_of_these_the_same_directory_serves(tmp_path: Path, fake: FakeApi) -> None:
    """Nothing half made is left behind."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("[server]\nport = 'x'\n")
    (await start(home)).says(MISCONFIGURED, "line 2")
    (home / "config.toml").unlink()
    (await start(home, "--host", "192.0.2.1", "--token", "t")).says(MISCONFIGURED, "192.0.2.1")
    async with running_server(tmp_path, fake) as server, server.client() as client:
        await fake.say("Yes.")
        assert (await (await Chat.create(client, "openai")).turn("hello"))["reason"] == "done"
