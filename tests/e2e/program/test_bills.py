"""What a chat is said to have used is what the endpoints bill for it (spec cache.md C17, C13; reports 16, 38)."""

import itertools
from pathlib import Path

import pytest

from tests.support.conversation import Chat, call_block, sent, stored_log
from tests.support.fake import FakeApi
from tests.support.server import Server, running_server
from tests.support.ws import Client

pytestmark = pytest.mark.asyncio(loop_scope="session")

COUNTS = {"uncached": "uncached", "cache_read": "read", "cache_write_5m": "write_5m", "output": "output"}


async def test_the_usage_of_a_chat_is_the_bill_to_the_token_over_both_conventions_and_retries(
    server: Server, client: Client, fake: FakeApi
) -> None:  # C17, report 38: inclusive and exclusive counts, tools, answers that were retried
    chat = await Chat.create(client, "openai")
    for wire in ("openai", "anthropic"):
        await chat.act("set_model", model=f"{wire}/demo")
        await fake.script({"blocks": [call_block("list")]})
        await fake.say("Nothing.")
        await chat.turn("look around " * 400)
        await fake.fail({"kind": "overloaded", "times": 1})
        await fake.say("Again.")
        await chat.turn("and now?")
    records = await fake.requests()
    assert {503, 529} <= {record["status"] for record in records}
    bill = (await fake.bill())["finished"]
    assert bill["read"] > 0
    assert bill["write_5m"] > 0
    usage = (await chat.snapshot())["usage"]
    assert {ours: usage[ours] for ours in COUNTS} == {ours: bill[theirs] for ours, theirs in COUNTS.items()}
    steps = [frame["event"] for frame in stored_log(server.database, chat.id)]
    steps = [event for event in steps if event["type"] == "step_finished"]
    assert len(steps) == bill["answers"] == 6
    for ours in COUNTS:
        assert sum(step["usage"][ours] or 0 for step in steps) == usage[ours]


async def test_a_config_that_is_written_anew_with_the_same_content_moves_no_byte(
    tmp_path: Path, fake: FakeApi, wire: str
) -> None:  # C13, report 16
    config = "# mine\n"
    async with running_server(tmp_path, fake, api=wire, config=config) as server:
        async with server.client() as client:
            chat = await Chat.create(client, wire)
            await fake.script({"blocks": [call_block("list")]})
            for text in ("one", "two"):
                await fake.say("Yes.")
                await chat.turn(text)
        seen = stored_log(server.database, chat.id)[-1]["seq"]
        await server.stop()
        (server.home / "config.toml").write_text(config, "utf-8")
        await server.start()
        async with server.client() as client:
            chat = await Chat.join(client, chat.id, seen)
            await fake.say("Yes.")
            await chat.turn("three")
    requests = await sent(fake)
    assert len(requests) == 4
    assert all(request.extends(one) for one, request in itertools.pairwise(requests))
