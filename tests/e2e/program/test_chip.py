"""The switch is free: no toggle moves a byte of what the provider has cached (spec cache.md C1 to C3); and off is off
(spec tools.md T4, T21).

Requests are compared as they arrived at the endpoint, in both wire formats.
"""

from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.conversation import Chat, Sent, call_block, sent, text_block
from tests.support.fake import FakeApi
from tests.support.quick import QUICK
from tests.support.server import running_server
from tests.support.ws import Client

pytestmark = pytest.mark.asyncio(loop_scope="session")


def assert_free(requests: list[Sent]) -> None:
    """Every request is the one before with more behind it, and the simulated cache read all that it could."""
    for before, after in pairwise(requests):
        assert after.tools == before.tools
        assert after.system == before.system
        assert after.extends(before)
        assert after.record["cache"]["common_prefix"] >= before.record["cache"]["prompt"] - 1
    assert all(request.record["cache"]["read"] > 0 for request in requests[1:])


async def test_toggles_before_between_and_in_turns_cost_nothing(client: Client, fake: FakeApi, wire: str) -> None:
    chat = await Chat.create(client, wire, mode="auto")
    for value in (True, False, True):
        await chat.act("toggle_web_search", value=value)
    await fake.say("One.")
    await chat.turn("first")
    await chat.act("toggle_web_search", value=False)
    await fake.script({"blocks": [text_block("I look. ", {"text": "Now.", "hold": "h"}), call_block("list")]})
    await fake.say("Two.")
    await chat.send("second")
    await chat.event("text_delta", text="I look. ")
    await chat.act("toggle_web_search", value=True)
    await chat.act("set_tool_disabled", name="grep", value=True)
    await fake.release("h")
    await chat.event("turn_finished")
    await chat.act("set_tools_profile", toolset="safe")
    await fake.say("Three.")
    await chat.turn("third")
    await chat.act("set_tools_profile", toolset=None)
    await chat.act("set_tool_disabled", name="grep", value=False)
    await chat.act("toggle_web_search", value=None)
    await fake.say("Four.")
    await chat.turn("fourth")
    await chat.act("set_tools_enabled", value=False)
    await fake.say("Five.")
    await chat.turn("fifth")
    requests = await sent(fake)
    assert len(requests) == 6
    assert_free(requests)
    steps = client.received(chat.id, "step_started")
    assert [step["plan"]["kind"] for step in steps] == ["rebase", *["keep"] * 5]
    assert [step["kept"] > 0 for step in steps] == [False, *[True] * 5]


async def test_the_model_is_told_of_what_is_off_and_on_again_in_the_newest_message(
    client: Client, fake: FakeApi, wire: str
) -> None:
    chat = await Chat.create(client, wire)
    for said, value in (("first", None), ("second", True), ("third", False)):
        if value is not None:
            await chat.act("toggle_web_search", value=value)
        await fake.say("Yes.")
        await chat.turn(said)
    first, second, third = await sent(fake)
    assert "Switched off, calls will be refused: web_search." in first.messages[-1][1]
    assert "Switched on again: web_search." in second.messages[-1][1]
    assert "Switched off, calls will be refused: web_search." in third.messages[-1][1]
    assert_free([first, second, third])


async def test_on_off_on_between_turns_nets_to_nothing(client: Client, fake: FakeApi, wire: str) -> None:  # C3
    chat = await Chat.create(client, wire)
    await chat.act("toggle_web_search", value=True)
    await fake.say("Yes.")
    await chat.turn("first")
    for value in (False, True, False, True):
        await chat.act("toggle_web_search", value=value)
    await fake.say("Yes.")
    await chat.turn("second")
    first, second = await sent(fake)
    assert_free([first, second])
    added = second.messages[len(first.messages) :]
    assert [role for role, _ in added] == ["assistant", "user"]
    assert "witched" not in added[-1][1]
    steps = client.received(chat.id, "step_started")
    assert steps[-1]["causes"] == []


async def test_with_the_chip_off_a_search_is_refused_whatever_the_model_was_shown(
    client: Client, fake: FakeApi, wire: str
) -> None:  # T4, report 6
    await fake.script({"blocks": [call_block("web_search", "call_1", query="secret plans")]})
    await fake.say("Then not.")
    chat = await Chat.create(client, wire, mode="auto")
    await chat.act("toggle_web_search", value=False)
    await chat.turn("search the web")
    [finished] = client.received(chat.id, "tool_call_finished")
    assert finished["status"] == "denied"
    assert "web_search" in (await sent(fake))[-1].results["call_1"]
    assert not any(record["path"].startswith("/search") for record in await fake.requests())


async def test_the_chip_on_is_an_offer_and_forces_no_search(
    client: Client, fake: FakeApi, wire: str
) -> None:  # report 8
    await fake.say("You are welcome.")
    chat = await Chat.create(client, wire, mode="auto")
    await chat.act("toggle_web_search", value=True)
    assert (await chat.turn("thanks"))["reason"] == "done"
    [request] = await sent(fake)
    assert "web_search" in request.tool_names
    choice = request.record["body"].get("tool_choice", "auto")
    assert choice in ("auto", {"type": "auto"})
    assert client.received(chat.id, "tool_call_started") == []
    # What was typed goes to the model and nowhere else.
    assert not any(record["path"].startswith("/search") for record in await fake.requests())


async def test_switched_off_in_mid_turn_it_is_refused_at_once_and_back_on_it_runs(
    client: Client, fake: FakeApi, wire: str
) -> None:  # T21
    chat = await Chat.create(client, wire, mode="auto")
    await chat.act("toggle_web_search", value=True)
    for number in (1, 2):
        search = call_block("web_search", f"call_{number}", query="tides")
        await fake.script({"blocks": [text_block("So ", {"text": "now.", "hold": f"h{number}"}), search]})
    await fake.say("Well.")
    await chat.send("search")
    await fake.wait(held="h1")
    await chat.act("toggle_web_search", value=False)
    await fake.release("h1")
    assert (await chat.event("tool_call_finished"))["status"] == "denied"
    await fake.wait(held="h2")
    await chat.act("toggle_web_search", value=True)
    await fake.release("h2")
    assert (await chat.event("tool_call_finished"))["status"] == "ok"
    await chat.event("turn_finished")
    requests = await sent(fake)
    assert_free(requests)
    assert "switched web_search off" in requests[-1].results["call_1"]
    assert "[demo]" in requests[-1].results["call_2"]


async def test_switched_on_in_mid_turn_it_waits_for_the_next_turn(client: Client, fake: FakeApi, wire: str) -> None:
    """T21: nothing beyond the contract is ever added to a turn."""
    chat = await Chat.create(client, wire, mode="auto")
    search = call_block("web_search", "call_1", query="tides")
    await fake.script({"blocks": [text_block("So ", {"text": "now.", "hold": "h"}), search]})
    await fake.say("Well.")
    await chat.send("search")
    await fake.wait(held="h")
    assert (await chat.act("toggle_web_search", value=True))["applies"] == "next_turn"
    await fake.release("h")
    assert (await chat.event("tool_call_finished"))["status"] == "denied"
    await chat.event("turn_finished")
    await fake.script({"blocks": [call_block("web_search", "call_2", query="tides")]})
    await fake.say("There.")
    await chat.turn("again")
    assert [event["status"] for event in client.received(chat.id, "tool_call_finished")] == ["denied", "ok"]
    assert_free(await sent(fake))


async def test_a_steered_message_is_a_boundary_where_the_switch_counts(
    client: Client, fake: FakeApi, wire: str
) -> None:  # P6, T21
    chat = await Chat.create(client, wire, mode="auto")
    await fake.script({"blocks": [text_block("So ", {"text": "now.", "hold": "h"}), call_block("list", "call_1")]})
    await fake.script({"blocks": [call_block("web_search", "call_2", query="tides")]})
    await fake.say("There.")
    await chat.send("list")
    await fake.wait(held="h")
    await chat.act("toggle_web_search", value=True)
    await chat.send("rather search", mode="steer")
    await fake.release("h")
    assert (await chat.event("turn_finished"))["reason"] == "done"
    assert (await chat.event("turn_finished"))["reason"] == "done"
    assert [event["status"] for event in client.received(chat.id, "tool_call_finished")] == ["ok", "ok"]
    requests = await sent(fake)
    assert_free(requests)
    assert len(requests) == 3


async def test_the_chip_shows_what_is_and_not_what_was_clicked(tmp_path: Path, fake: FakeApi) -> None:  # T4, report 7
    """Without a search service it is unavailable and says why; from the moment there is one it is on, in every tab."""
    async with running_server(tmp_path, fake) as server, server.client() as client, server.client() as other:
        await other.subscribe(None)
        chat = await Chat.create(client, "openai", mode="auto")
        await fake.say("Yes.")
        await chat.turn("first")
        await chat.act("toggle_web_search", value=True)
        chip = (await chat.event("intent_changed"))["effective"]["web_search"]
        assert chip["state"] == "unavailable"
        assert chip["reason"]
        await fake.script({"blocks": [call_block("web_search", "call_1", query="tides")]})
        await fake.say("Then not.")
        await chat.turn("search")
        assert [event["status"] for event in client.received(chat.id, "tool_call_finished")] == ["denied"]
        await client.send("set_setting", key="keyless_search_consent", value=True)
        await other.frame("hint", hint="registry_changed")
        await other.frame("hint", hint="settings_changed")
        assert (await Chat(other, chat.id).snapshot())["effective"]["web_search"]["state"] == "on"
        await fake.say("Now it is there.")
        await chat.turn("third")
    requests = await sent(fake)
    assert requests[-1].tool_names == requests[0].tool_names  # C2: it is told by name and loads when it is called
    assert requests[-1].messages[: len(requests[-2].messages)] == requests[-2].messages
    assert "More tools that can be loaded: web_search." in requests[-1].messages[-1][1]


async def test_offline_with_the_demo_the_chip_can_be_seen_working(tmp_path: Path) -> None:
    async with running_server(tmp_path, program=QUICK) as server, server.client() as client:
        ack = await client.send("create_session")
        chat = await Chat.join(client, ack["session_id"])
        await chat.act("toggle_web_search", value=True)
        assert (await chat.event("intent_changed"))["effective"]["web_search"]["state"] == "on"
        assert (await chat.turn("search the web for tides"))["reason"] == "done"
        [finished] = client.received(chat.id, "tool_call_finished")
        assert finished["status"] == "ok"
        assert "[demo]" in finished["result"]["content"][0]["text"]
        await chat.act("toggle_web_search", value=False)
        await chat.turn("search the web for tides")
        assert len(client.received(chat.id, "turn_finished")) == 2
        assert all(event["status"] != "ok" for event in client.received(chat.id, "tool_call_finished")[1:])
