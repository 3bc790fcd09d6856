"""Forcing a rebase over a real server: from a tab, another tab, and the terminal, over a restart (spec cache.md C4)."""

import asyncio
import io
from contextlib import redirect_stdout
from pathlib import Path

import orjson
import pytest

from openprogram.cli.main import main
from tests.support.conversation import Chat, sent, stored_log
from tests.support.fake import FakeApi
from tests.support.server import running_server

pytestmark = pytest.mark.asyncio(loop_scope="session")

CONFIG = """
[endpoints.priced]
api = "anthropic"
base_url = "{url}"
key = "sk-very-secret-key-of-mine"
models = ["demo"]
price = {{ input = 10.0, output = 50.0, cache_read = 1.0, cache_write_5m = 12.5, cache_write_1h = 20.0 }}
"""
LONG = "Tell me more. " * 2000


async def terminal(*arguments: str) -> str:
    """What `openprogram` prints."""
    out = io.StringIO()

    def work() -> int:
        with redirect_stdout(out):
            return main(arguments)

    assert await asyncio.to_thread(work) == 0
    return out.getvalue()


@pytest.mark.moves("the user forces a rebase")
async def test_what_two_tabs_and_the_terminal_are_told_of_a_rebase_is_what_is_billed_after_a_restart(
    tmp_path: Path, fake: FakeApi
) -> None:  # C4, C18, C19
    config = CONFIG.format(url=fake.anthropic_url)
    async with running_server(tmp_path, config=config) as server, server.client() as client, server.client() as other:
        chat = await Chat.create(client, "priced", mode="auto")
        tab = await Chat.join(other, chat.id)
        await fake.say("Yes.")
        await chat.turn(LONG)
        for name in ("bash", "grep"):
            await chat.act("set_tool_disabled", name=name, value=True)
        await fake.say("Yes.")
        await chat.turn("second")
        where = ("--home", str(server.home), "--port", str(server.port), "--token", server.token)
        price = orjson.loads(await terminal("rebase", chat.id, "--price", "--json", *where))
        assert price["reason"] == "forced"
        assert price["saved_tokens"] > 100
        assert price["saved_cost"] == pytest.approx(price["saved_tokens"] * 1.0 / 1e6)
        assert not (await chat.act("inspect_cache"))["cache"]["forced"]
        ack = await chat.act("force_rebase")
        assert {name: ack[name] for name in ("tokens", "cost", "saved_tokens", "saved_cost")} == {
            name: price[name] for name in ("tokens", "cost", "saved_tokens", "saved_cost")
        }
        told = await tab.event("notice")
        assert (told["code"], f"{ack['tokens']:,}" in told["message"]) == ("rebase_forced", True)
        assert (await tab.act("inspect_cache"))["cache"]["forced"]
        assert (await tab.act("force_rebase"))["tokens"] == ack["tokens"]
        text = await terminal("cache", chat.id, "--home", str(server.home))
        assert "as you asked" in text
        assert f"{ack['tokens']:,} tokens now" in await terminal("rebase", chat.id, *where)
        session_id, seen = chat.id, stored_log(server.database, chat.id)[-1]["seq"]
    async with running_server(tmp_path, config=config) as server, server.client() as client:
        chat = await Chat.join(client, session_id, seen)
        await fake.say("Yes.")
        await chat.turn("third")
        await fake.say("Yes.")
        await chat.turn("fourth")
        *_, before, forced, after = (await chat.act("inspect_cache"))["steps"]
        requests = await sent(fake)
    assert (forced["reason"], forced["cause"], after["missed"]) == ("forced", "user", 0)
    billed = [request.record["cache"] for request in requests][-2]
    assert billed["read"] == forced["usage"]["cache_read"]
    assert 0 <= ack["tokens"] - forced["missed"] < 0.02 * before["prompt"]
    assert ack["cost"] == pytest.approx(ack["tokens"] * (12.5 - 1.0) / 1e6)
    names = [[tool["name"] for tool in request.record["body"]["tools"]] for request in requests]
    assert {"bash", "grep"} <= set(names[1])
    assert not {"bash", "grep"} & set(names[2])
