"""`openprogram cache`, `export` and `replay`, beside a running server and without one (spec cache.md C19, C20)."""

import asyncio
import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from openprogram.cli.main import main
from tests.support.conversation import Chat, call_block, sent
from tests.support.fake import FakeApi, fake_api
from tests.support.ports import reserved_port
from tests.support.server import environment_for, running_server
from tests.support.tree import ROOT


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    returncode: int
    stdout: str
    stderr: str


LONG = "Tell me more. " * 400
CONFIG = """
[endpoints.priced]
api = "anthropic"
base_url = "{url}"
key = "sk-very-secret-key-of-mine"
models = ["demo"]
price = {{ input = 10.0, output = 50.0, cache_read = 1.0, cache_write_5m = 12.5, cache_write_1h = 20.0 }}
"""


async def run(*arguments: str, home: Path) -> Done:
    """Run a command on a data directory, in this process and a thread of its own."""
    out, err = io.StringIO(), io.StringIO()

    def work() -> int:
        with redirect_stdout(out), redirect_stderr(err):
            try:
                return main([*arguments, "--home", str(home)])
            except SystemExit as wrong:
                return int(wrong.code or 0)

    status = await asyncio.to_thread(work)
    return Done(status, out.getvalue(), err.getvalue())


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No endpoint, key or setting of this process."""
    kept = environment_for(None)
    for name in set(os.environ) - set(kept):
        monkeypatch.delenv(name)


async def talked(folder: Path, fake: FakeApi) -> tuple[Path, str]:
    """A data directory with a chat of three requests, the last of which the endpoint had forgotten."""
    async with (
        running_server(folder, config=CONFIG.format(url=fake.anthropic_url)) as server,
        server.client() as client,
    ):
        chat = await Chat.create(client, "priced", mode="auto")
        await fake.script({"blocks": [call_block("list", "call_1")]})
        await fake.say("Yes.")
        await chat.turn(f"The key is sk-very-secret-key-of-mine. {LONG}")
        await chat.act("set_tool_disabled", name="grep", value=True)
        await fake.advance(4000)
        await fake.say("Yes.")
        await chat.turn("second")
        during = await run("cache", chat.id, home=server.home)
        assert during.returncode == 0, during.stderr
    after = await run("cache", "last", home=server.home)
    assert after.stdout == during.stdout, "it needs no server"
    return server.home, chat.id


async def test_the_terminal_tells_what_was_read_what_was_lost_and_why(tmp_path: Path) -> None:
    async with fake_api() as fake:
        home, session_id = await talked(tmp_path, fake)
        text = (await run("cache", session_id, home=home)).stdout
        told = orjson.loads((await run("cache", session_id, "--json", home=home)).stdout)
        tools = orjson.loads((await run("cache", "--all", "--json", home=home)).stdout)
        table = (await run("cache", "--all", home=home)).stdout
    assert [step["cause"] for step in told["steps"]] == [None, None, "provider"]
    assert all(f"{step['prompt']:,}" in text for step in told["steps"])
    assert "provider" in text
    print(text)
    assert "withdrawn:grep" in text
    assert f"${told['totals']['cost']:.4f}" in text
    assert "█" in text
    assert told["cache"]["state"] in ("warm", "cold")
    assert tools["chats"] == 1
    rates = {tool["name"]: (tool["chat_share"], tool["requests_after"], tool["missed"]) for tool in tools["tools"]}
    assert rates == {"list": (1.0, 1, 0), "": (1.0, 1, 1)}
    assert "(no tool)" in table


async def test_an_exported_request_is_what_was_sent_and_can_be_sent_again(tmp_path: Path) -> None:
    async with fake_api(moves="an exported request is sent again") as fake:
        home, session_id = await talked(tmp_path, fake)
        bodies = [request.record["body"] for request in await sent(fake)]
        exported = [await run("export", session_id, str(number), home=home) for number in (1, 2, 3)]
        replayed = await run("replay", session_id, "2", "--json", home=home)
        again = await run("replay", session_id, "2", "--base-url", fake.base_url, home=home)
        requests = await sent(fake)
    assert "sk-very-secret-key-of-mine" not in "".join(done.stdout for done in exported)
    secret, removed = b"sk-very-secret-key-of-mine", b"[secret removed]"
    assert [done.stdout.strip().encode() for done in exported] == [
        orjson.dumps(body).replace(secret, removed) for body in bodies
    ]
    assert [request.record["body"] for request in requests[3:]] == [bodies[1]] * 2, replayed.stderr + again.stderr
    usage = orjson.loads(replayed.stdout)
    assert usage["usage"]["uncached"] is not None
    assert usage["cost"] > 0
    assert "output" in again.stdout


async def test_what_cannot_be_told_is_said_in_a_line(tmp_path: Path) -> None:
    nothing = await run("cache", "s_none", home=tmp_path)
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert "there are no chats in" in nothing.stderr
    with reserved_port() as port:
        async with fake_api("--port", str(port)) as fake:
            home, session_id = await talked(tmp_path, fake)
        for arguments, words in (
            (("cache", "s_none"), "there is no chat 's_none'"),
            (("export", session_id, "9"), "3 requests on record"),
            (("replay", session_id, "1", "--endpoint", "nobody"), "there is no endpoint 'nobody'"),
            (("replay", session_id, "1"), "cannot be reached"),
        ):
            done = await run(*arguments, home=home)
            assert (done.returncode, done.stdout) == (1, ""), arguments
            assert words in done.stderr, done.stderr
            assert "Traceback" not in done.stderr
    assert (await run("cache", home=home)).returncode == 2


async def test_a_terminal_of_any_encoding_shows_a_chat_and_obeys_nothing_in_it(tmp_path: Path) -> None:
    async with fake_api() as fake, running_server(tmp_path, config=CONFIG.format(url=fake.anthropic_url)) as server:
        async with server.client() as client:
            chat = await Chat.create(client, "priced")
            await fake.say("Yes.")
            await chat.turn("漢字")
            await chat.act("rename_session", title="\x1b[2J漢字")
        old = {**server.environment, "PYTHONIOENCODING": "latin-1"}
        shown, listed, told = [
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "openprogram", *arguments, "--home", str(server.home)),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=ROOT,
                env=old,
            )
            for arguments in (("cache", chat.id), ("cache", "s_none"), ("export", chat.id, "1"))
        ]
        (out, _), (_, complaint), (body, _) = [await one.communicate() for one in (shown, listed, told)]
    assert shown.returncode == 0
    assert chat.id.encode() in out
    assert "漢字" in str(orjson.loads(body))
    assert b"\x1b" not in out + complaint


async def test_what_looks_like_a_vendors_key_is_exported_by_nobody(tmp_path: Path) -> None:  # C20
    foreign = "sk-proj-0123456789abcdefghijklmn"
    async with fake_api() as fake, running_server(tmp_path, config=CONFIG.format(url=fake.anthropic_url)) as server:
        async with server.client() as client:
            chat = await Chat.create(client, "priced")
            await fake.say("Yes.")
            await chat.turn(f"My other key is {foreign}, and sk-learn is none.")
        exported = await run("export", chat.id, "1", home=server.home)
    assert foreign not in exported.stdout
    assert "[secret removed], and sk-learn is none." in exported.stdout
