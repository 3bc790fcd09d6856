"""Every token is explained: rows, causes, prices and totals against what the endpoint itself counted (spec cache.md
C17 to C20), over a real server and the fake API, in both wire formats.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.support.conversation import Chat, call_block, sent
from tests.support.fake import FakeApi
from tests.support.quick import QUICK
from tests.support.server import running_server
from tests.support.ws import Client, Frame

pytestmark = pytest.mark.asyncio(loop_scope="session")

PRICED = """
[endpoints.priced]
api = "{api}"
base_url = "{url}"
key = "sk-very-secret-key-of-mine"
models = ["demo"]
price = {{ input = 10.0, output = 50.0, cache_read = 1.0, cache_write_5m = 12.5, cache_write_1h = 20.0 }}
"""
LONG = "Tell me more. " * 400


async def rows(chat: Chat) -> list[Frame]:
    """The rows of `inspect_cache`."""
    found: list[Frame] = (await chat.act("inspect_cache"))["steps"]
    return found


def billed(requests: list[Any]) -> dict[str, int]:
    """What the fake API counted over all requests."""
    names = ("uncached", "read", "write_5m", "write_1h")
    return {name: sum(request.record["cache"][name] for request in requests) for name in names}


async def test_toggles_miss_nothing_and_say_so_before_they_are_flipped(
    client: Client, fake: FakeApi, wire: str
) -> None:  # C2, C19
    chat = await Chat.create(client, wire, mode="auto")
    price = await chat.act("preview_toggle", toggle="toggle_web_search", value=True)
    assert (price["tokens"], price["cost"], price["reason"]) == (0, 0.0, "first_request")
    for said, toggle in (
        ("first", {"toggle": "toggle_web_search", "value": True}),
        ("second", {"toggle": "set_tools_profile", "toolset": "safe"}),
        ("third", {"toggle": "set_tool_disabled", "name": "grep", "value": True}),
        ("fourth", {"toggle": "set_tools_enabled", "value": False}),
    ):
        await fake.say("Yes.")
        await chat.turn(said)
        price = await chat.act("preview_toggle", **toggle)
        assert (price["tokens"], price["cost"], price["reason"]) == (0, 0.0, "unchanged")
        await chat.act(str(toggle.pop("toggle")), **toggle)
    await fake.say("Yes.")
    await chat.turn("fifth")
    steps = await rows(chat)
    assert [(step["missed"], step["cause"], step["difference"]) for step in steps] == [
        (None, None, None),
        *[(0, None, None)] * 4,
    ]
    rounded = 128 if wire == "openai" else 0  # that endpoint reads in whole blocks
    assert all(now["reused"] * before["prompt"] >= before["prompt"] - rounded for before, now in pairwise(steps))
    assert "withdrawn:web_search" in [name for step in steps for name in step["moved"]]


async def test_what_is_billed_is_what_is_counted(client: Client, fake: FakeApi, wire: str) -> None:  # C17
    chat = await Chat.create(client, wire, mode="auto")
    await fake.script({"blocks": [call_block("list", "call_1")]})
    await fake.script({"fault": {"kind": "overloaded"}})
    for _ in range(3):
        await fake.say("Yes.")
    await chat.turn("first")
    await chat.turn(LONG)
    requests = await sent(fake)
    ack = await chat.act("inspect_cache")
    usage = ack["totals"]["usage"]
    counted = billed([request for request in requests if request.record["cache"]])
    ours = {"uncached": usage["uncached"], "read": usage["cache_read"] or 0}
    ours |= {"write_5m": usage["cache_write_5m"] or 0, "write_1h": usage["cache_write_1h"] or 0}
    assert sum(ours.values()) == sum(counted.values())
    assert ours["read"] == counted["read"]
    if wire == "anthropic":
        assert ours == counted
    mine = [one for one in (await client.send("usage"))["spending"] if one["session_id"] == chat.id]
    assert [(one["requests"], one["usage"], one["kind"], one["unpriced"]) for one in mine] == [(3, usage, "step", 3)]


async def test_a_loaded_tool_is_one_miss_that_names_the_tool(client: Client, fake: FakeApi) -> None:  # C18
    chat = await Chat.create(client, "openai", mode="auto")
    await fake.say("Yes.")
    await chat.turn(LONG)
    await chat.act("set_tools_profile", toolset="full")
    await fake.script({"blocks": [call_block("tool_search", "call_1", query="select:worktree_list")]})
    await fake.say("There.")
    await chat.turn("search")
    steps = await rows(chat)
    assert [step["cause"] for step in steps] == [None, None, "discovery"]
    difference = steps[-1]["difference"]
    assert (difference["section"], difference["name"], difference["byte"]) == ("tools", "worktree_list", 0)
    assert (difference["before"], difference["room"]) == ("", 0)
    assert "worktree_list" in difference["after"] or "worktree" in difference["after"]
    assert steps[-1]["missed"] > 0


@pytest.mark.moves("a message is edited: the prompt leaves its branch")
async def test_an_edited_message_is_named_with_the_first_byte_that_differs(
    client: Client, fake: FakeApi, wire: str
) -> None:  # C18
    chat = await Chat.create(client, wire)
    for said in (LONG, "What is the time in Rome?"):
        await fake.say("Yes.")
        await chat.turn(said)
    message = next(one for one in await chat.messages() if "Rome" in str(one["blocks"]))
    await fake.say("No.")
    await chat.act("edit_message", message_id=message["id"], text="What is the time in Riga?")
    await chat.event("turn_finished")
    steps = await rows(chat)
    difference = steps[-1]["difference"]
    assert difference["section"] == "messages"
    assert difference["before"][: difference["room"]] == difference["after"][: difference["room"]]
    assert difference["before"][difference["room"] :].startswith("ome?")
    assert difference["after"][difference["room"] :].startswith("iga?")
    live = [event["cache"] for event in client.received(chat.id, "step_finished")]
    assert [(one["missed"], one["cause"]) for one in live] == [(step["missed"], step["cause"]) for step in steps]
    assert steps[-1]["cause"] in ("edit", None)  # None where the endpoint reads up to the difference in whole blocks
    detail = await chat.act("inspect_step", turn_id=steps[-1]["turn_id"], step=steps[-1]["step"])
    assert detail["step"] == steps[-1]
    assert detail["compared_with"] == [steps[-2]["turn_id"], steps[-2]["step"]]
    changed = [segment["name"] for segment in detail["segments"] if not segment["kept"]]
    assert difference["name"] in changed


async def test_an_endpoint_that_forgets_in_time_is_the_cause_itself(
    client: Client, fake: FakeApi, wire: str
) -> None:  # C18
    chat = await Chat.create(client, wire)
    await fake.say("Yes.")
    await chat.turn(LONG)
    await fake.advance(4000)
    await fake.say("Yes.")
    await chat.turn("second")
    first, second = await rows(chat)
    assert (second["cause"], second["difference"]) == ("provider", None)
    assert second["missed"] == first["prompt"]


async def test_a_miss_costs_money_where_the_price_is_known_and_the_next_send_has_its_price(
    tmp_path: Path, fake: FakeApi
) -> None:  # C19
    config = PRICED.format(api="anthropic", url=fake.anthropic_url)
    async with running_server(tmp_path, config=config) as server, server.client() as client:
        chat = await Chat.create(client, "priced")
        assert (await chat.act("inspect_cache"))["cache"]["state"] == "none"
        await fake.say("Yes.")
        await chat.turn(LONG)
        await fake.advance(4000)
        await fake.say("Yes.")
        await chat.turn("second")
        ack = await chat.act("inspect_cache")
        first, second = ack["steps"]
        rate = 12.5 - 1.0
        assert second["lost"] == pytest.approx(first["prompt"] * rate / 1e6)
        assert second["cost_so_far"] == pytest.approx(first["cost"] + second["cost"]) == ack["totals"]["cost"]
        state = ack["cache"]
        assert (state["state"], state["model"]) == ("warm", "priced/demo")
        assert state["tokens"] == second["prompt"] + second["usage"]["output"]
        assert state["cost_cold"] > state["cost_warm"] > 0


@pytest.mark.parametrize("api", ["anthropic", "openai-chat", "openai-responses"])
async def test_an_exported_body_is_the_one_that_was_sent_without_secrets(
    tmp_path: Path, fake: FakeApi, api: str
) -> None:  # C20
    config = PRICED.format(api=api, url=fake.anthropic_url if api == "anthropic" else fake.openai_url)
    async with running_server(tmp_path, config=config) as server, server.client() as client:
        chat = await Chat.create(client, "priced")
        for said in ("My name is Ada.", "The key is sk-very-secret-key-of-mine, keep it."):
            await fake.say("Yes.")
            await chat.turn(said)
        bodies = [
            (await chat.act("inspect_step", turn_id=step["turn_id"], step=step["step"], body=True))["body"]
            for step in await rows(chat)
        ]
    first, second = [record["body"] for record in await fake.requests() if (record["body"] or {}).get("stream")]
    assert orjson.dumps(bodies[0]) == orjson.dumps(first)
    removed = orjson.dumps(second).replace(b"sk-very-secret-key-of-mine", b"[secret removed]")
    assert orjson.dumps(bodies[1]) == removed


async def test_another_model_costs_the_whole_prompt_and_going_back_only_what_is_new(
    client: Client, fake: FakeApi
) -> None:  # C19
    chat = await Chat.create(client, "openai")
    await fake.say("Yes.")
    await chat.turn(LONG)
    [step] = await rows(chat)
    price = await chat.act("preview_toggle", toggle="set_model", model="anthropic/demo")
    assert (price["tokens"], price["reason"]) == (step["prompt"], "model_changed")
    await chat.act("set_model", model="anthropic/demo")
    await fake.say("Yes.")
    await chat.turn("second")
    back = await chat.act("preview_toggle", toggle="set_model", model="openai/demo")
    assert back["tokens"] < step["prompt"]
    assert (await rows(chat))[-1]["reason"] == "model_changed"


async def test_the_demo_misses_nothing_and_costs_nothing(tmp_path: Path) -> None:
    """Whoever tries the program without a key sees a cache that holds, not a provider that forgets."""
    async with running_server(tmp_path, program=QUICK) as server, server.client() as client:
        chat = await Chat.join(client, (await client.send("create_session"))["session_id"])
        for said in ("list the files here", "read README.md", "write a long markdown answer", "list the files here"):
            await chat.turn(said)
        steps = await rows(chat)
    assert len(steps) >= 6
    assert [(step["missed"], step["cause"], step["cost"]) for step in steps[1:]] == [(0, None, 0.0)] * (len(steps) - 1)
