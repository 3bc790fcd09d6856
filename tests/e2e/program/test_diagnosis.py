"""What the provider says itself of its cache stands beside our own verdict, and asking costs nothing (cache.md C18)."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.conversation import Chat, stored_log
from tests.support.fake import FakeApi
from tests.support.server import running_server

pytestmark = pytest.mark.asyncio(loop_scope="session")

CONFIG = """
[endpoints.asked]
api = "{api}"
base_url = "{url}"
key = "sk-very-secret-key-of-mine"
models = ["{model}"]
strategy = "append"
cache_diagnosis = true
"""
LONG = "Tell me more. " * 400
PLACES = [("anthropic", "claude-opus-5", "messages_changed"), ("openai-responses", "gpt-5.6", "input_changed")]


async def out(fake: FakeApi) -> list[dict[str, Any]]:
    """The model requests so far, in whichever wire format."""
    return [record for record in await fake.requests() if (record["body"] or {}).get("stream")]


@pytest.mark.moves("a message is edited: the prompt leaves its branch")
@pytest.mark.parametrize(("api", "model", "word"), PLACES, ids=[place[0] for place in PLACES])
async def test_the_providers_word_stands_beside_ours_over_a_restart(
    tmp_path: Path, fake: FakeApi, api: str, model: str, word: str
) -> None:
    url = fake.anthropic_url if api == "anthropic" else fake.openai_url
    config = CONFIG.format(api=api, url=url, model=model)
    async with running_server(tmp_path, config=config) as server, server.client() as client:
        chat = await Chat.join(client, (await client.send("create_session", model=f"asked/{model}"))["session_id"])
        for said in (LONG, "What is the time in Rome?"):
            await fake.say("Yes.")
            await chat.turn(said)
        session_id, seen = chat.id, stored_log(server.database, chat.id)[-1]["seq"]
    async with running_server(tmp_path, config=config) as server, server.client() as client:
        chat = await Chat.join(client, session_id, seen)
        await fake.say("Yes.")
        await chat.turn("And in Oslo?")
        message = next(one for one in await chat.messages() if "Rome" in str(one["blocks"]))
        await fake.say("No.")
        await chat.act("edit_message", message_id=message["id"], text="What is the time in Riga?")
        await chat.event("turn_finished")
        steps = (await chat.act("inspect_cache"))["steps"]
        detail = await chat.act("inspect_step", turn_id=steps[-1]["turn_id"], step=1, body=True)
    requests = await out(fake)
    *kept, edited = [step["provider"] for step in steps]
    hit = None if api == "anthropic" else {"said": "cache_hit", "missed": None}
    assert kept == [None, hit, hit]
    assert edited["said"] == word
    assert edited["missed"] > 0
    assert detail["step"]["provider"] == edited
    assert steps[-1]["cause"] in ("edit", None), "None where the endpoint reads in whole blocks up to the difference"
    assert detail["body"] == requests[-1]["body"]
    assert not detail["settings_changed"], "that another answer is named is no change"
    for before, after in pairwise(requests[:-1]):
        assert after["cache"]["common_prefix"] >= before["cache"]["prompt"]
        assert after["cache"]["read"] == before["cache"]["prompt"]


async def test_an_endpoint_of_which_it_is_not_known_is_not_asked(tmp_path: Path, fake: FakeApi) -> None:
    config = CONFIG.format(api="anthropic", url=fake.anthropic_url, model="claude-opus-5")
    config = config.replace("cache_diagnosis = true", "")
    async with running_server(tmp_path, config=config) as server, server.client() as client:
        chat = await Chat.join(client, (await client.send("create_session", model="asked/claude-opus-5"))["session_id"])
        for _ in range(2):
            await fake.say("Yes.")
            await chat.turn(LONG)
        assert [step["provider"] for step in (await chat.act("inspect_cache"))["steps"]] == [None, None]
    assert [request["body"].get("diagnostics") for request in await out(fake)] == [None, None]
