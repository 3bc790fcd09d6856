"""The provider's own web search behind the chip, over a real server and the strict fake API (tools.md T4)."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from openprogram.fakeapi.web_search import offered
from tests.support.conversation import Chat, stored_log
from tests.support.fake import FakeApi
from tests.support.server import running_server
from tests.support.ws import Client

pytestmark = pytest.mark.asyncio(loop_scope="session")

CONFIG = """
[endpoints.searching]
api = "{api}"
base_url = "{url}"
key = "sk-very-secret-key-of-mine"
models = ["{model}"]
web_search = "hosted"

[endpoints.other]
api = "openai-chat"
base_url = "{openai}"
key = "sk-very-secret-key-of-mine"
models = ["demo"]
"""
LONG = "Tell me more. " * 400
PAGE = {"url": "https://example.org/weather", "title": "The weather in Rome"}
FOUND: dict[str, Any] = {
    "blocks": [
        {"type": "text", "text": "I will look. "},
        {"type": "web_search", "query": "weather in Rome", "pages": [PAGE]},
        {"type": "text", "text": "It is sunny.", "cites": [PAGE]},
    ]
}
PLACES = [("anthropic", "claude-opus-5"), ("openai-responses", "gpt-5.6")]


def config(fake: FakeApi, api: str, model: str) -> str:
    url = fake.anthropic_url if api == "anthropic" else fake.openai_url
    return CONFIG.format(api=api, url=url, model=model, openai=fake.openai_url)


async def out(fake: FakeApi) -> list[dict[str, Any]]:
    """The model requests so far, in whichever wire format."""
    return [record for record in await fake.requests() if (record["body"] or {}).get("stream")]


async def created(client: Client, model: str) -> Chat:
    ack = await client.send("create_session", model=f"searching/{model}")
    return await Chat.join(client, ack["session_id"])


def searching(api: str, requests: list[Any]) -> list[bool]:
    """Of each request whether it lets the provider search."""
    wire: Any = "anthropic" if api == "anthropic" else "responses"
    return [offered(wire, request["body"]) for request in requests]


def hosted(messages: list[Any]) -> list[Any]:
    return [block for message in messages for block in message["blocks"] if block["type"] == "hosted"]


@pytest.mark.moves("the search leaves the request where it cannot be masked, and the chat another model")
@pytest.mark.parametrize(("api", "model"), PLACES, ids=[place[0] for place in PLACES])
async def test_a_search_is_seen_kept_counted_sent_back_verbatim_and_off_when_the_chip_is(
    tmp_path: Path, fake: FakeApi, api: str, model: str
) -> None:  # T4, C14
    async with running_server(tmp_path, config=config(fake, api, model)) as server, server.client() as client:
        chat = await created(client, model)
        await chat.act("toggle_web_search", value=True)
        await fake.script(FOUND)
        await chat.turn(LONG)
        live = client.received(chat.id, "hosted_added")
        kinds = ["search", "found", "sources"] if api == "anthropic" else ["search", "sources"]
        assert [event["hosted"]["kind"] for event in live] == kinds
        kept = hosted(await chat.messages())
        assert kept == [event["hosted"] for event in live]
        assert kept[0]["query"] == "weather in Rome"
        assert kept[-1]["sources"] == [PAGE]
        session_id, seen = chat.id, stored_log(server.database, chat.id)[-1]["seq"]
    async with running_server(tmp_path, config=config(fake, api, model)) as server, server.client() as client:
        chat = await Chat.join(client, session_id, seen)
        await fake.say("Yes.")
        await chat.turn("second")
        await chat.act("toggle_web_search", value=False)
        await fake.script(FOUND)
        await chat.turn("third")
        await fake.say("Yes.")
        await chat.act("set_model", model="other/demo")
        await chat.turn("fourth")
        steps = (await chat.act("inspect_cache"))["steps"]
    requests = await out(fake)
    assert [request["status"] for request in requests] == [200] * 4
    assert searching(api, requests) == [True, True, False, False]
    assert [step["usage"]["searches"] for step in steps] == [1, None, None, None]
    first, second, _, fourth = requests
    assert second["cache"]["common_prefix"] >= first["cache"]["prompt"]
    assert (steps[1]["missed"], steps[2]["reason"], steps[2]["cause"]) == (0, "search_off", "toggle")
    words = str(fourth["body"]["messages"])
    assert "searched the web for: weather in Rome" in words
    assert PAGE["url"] in words
    assert "encrypted" not in words


@pytest.mark.parametrize(("api", "model"), PLACES[:1], ids=["anthropic"])
async def test_an_answer_that_pauses_goes_on_by_itself(tmp_path: Path, fake: FakeApi, api: str, model: str) -> None:
    async with running_server(tmp_path, config=config(fake, api, model)) as server, server.client() as client:
        chat = await created(client, model)
        await chat.act("toggle_web_search", value=True)
        search = {"type": "web_search", "query": "x", "pages": None, "id": "srvtoolu_1"}
        await fake.script({"blocks": [{"type": "text", "text": "Wait."}, search], "stop_reason": "pause_turn"})
        await fake.script(
            {"blocks": [{"type": "web_found", "id": "srvtoolu_1", "pages": [PAGE]}, {"type": "text", "text": "There."}]}
        )
        await fake.say("Yes.")
        await chat.turn("one")
        await chat.turn("two")
        kinds = [block["kind"] for block in hosted(await chat.messages())]
    requests = await out(fake)
    assert kinds == ["search", "pause", "found"]
    assert [request["status"] for request in requests] == [200] * 3
    bodies = [request["body"]["messages"] for request in requests]
    assert [body[-1]["role"] for body in bodies] == ["user", "assistant", "user"]
    assert [message["role"] for message in bodies[2]] == ["user", "assistant", "user"]
    for before, after in pairwise(requests):
        assert after["cache"]["common_prefix"] >= before["cache"]["prompt"]


async def test_by_default_the_programs_own_tool_searches(tmp_path: Path, fake: FakeApi) -> None:
    own = config(fake, "anthropic", "claude-opus-5").replace('web_search = "hosted"', "")
    search = {"SEARXNG_URL": fake.base_url}
    async with running_server(tmp_path, config=own, environment=search) as server, server.client() as client:
        chat = await created(client, "claude-opus-5")
        await chat.act("toggle_web_search", value=True)
        await fake.script(FOUND)
        await chat.turn("one")
        assert "search" not in [block["kind"] for block in hosted(await chat.messages())]
    [request] = await out(fake)
    assert searching("anthropic", [request]) == [False]
    assert "web_search" in [tool["name"] for tool in request["body"]["tools"]]
