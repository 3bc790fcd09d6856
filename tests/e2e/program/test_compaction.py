"""A chat that outgrows its model's context window: summarised, and going on (spec cache.md C16)."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.compaction import ASKED, asks, begin, compacted, reads, small_server, starts_with_summary, summarises
from tests.support.conversation import Chat, call_block, sent, texts
from tests.support.fake import FakeApi
from tests.support.server import Server
from tests.support.ws import Client, Refused

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.moves("the conversation is summarised"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def small(tmp_path_factory: pytest.TempPathFactory, fake_process: FakeApi) -> AsyncIterator[Server]:
    async with small_server(tmp_path_factory.mktemp("small"), fake_process) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def tab(small: Server, fake: FakeApi) -> AsyncIterator[Client]:
    async with small.client() as client:
        yield client


async def test_a_long_turn_is_summarised_between_two_steps_and_goes_on(tab: Client, fake: FakeApi, wire: str) -> None:
    chat = await begin(tab, wire)
    await summarises(fake)
    await reads(fake, 1, 2, 3)
    await fake.say("All read.")
    assert (await chat.turn("Read the notes again and again"))["reason"] == "done"
    await compacted(chat)
    requests = await sent(fake)
    (place,) = (number for number, request in enumerate(requests) if asks(request))
    assert requests[place].extends(requests[place - 1])
    behind = requests[place + 1]
    assert starts_with_summary(behind, "The notes were read.")
    assert "Read the notes again and again" in behind.text
    assert behind.record["cache"]["prompt"] < requests[place].record["cache"]["prompt"]
    assert list(requests[-1].results) == requests[-1].calls
    assert len(requests) == 5
    messages = await chat.messages()
    assert [message["role"] for message in messages].count("tool") == 3


async def test_its_cost_and_its_saving_are_told_and_every_token_is_counted(
    tab: Client, fake: FakeApi, wire: str
) -> None:  # C17
    chat = await begin(tab, wire)
    await summarises(fake)
    await reads(fake, 1, 2, 3)
    await fake.say("All read.")
    await chat.turn("Read")
    event = await compacted(chat)
    (message,) = (one for one in await chat.messages() if one["compaction"] is not None)
    about = message["compaction"]
    assert about["cost"] == event["cost"] > 0
    assert about["tokens_before"] > about["tokens_after"]
    assert about["saving"] == pytest.approx((about["tokens_before"] - about["tokens_after"]) / 1e6)
    ack = await chat.act("inspect_cache")
    assert ack["totals"]["requests"] == 5
    bill = [request.record["cache"] for request in await sent(fake)]
    usage = ack["totals"]["usage"]
    ours = usage["uncached"] + (usage["cache_read"] or 0) + (usage["cache_write_5m"] or 0)
    assert ours == sum(one["uncached"] + one["read"] + one["write_5m"] for one in bill)
    mine = [one for one in (await tab.send("usage"))["spending"] if one["session_id"] == chat.id]
    assert sorted((one["kind"], one["requests"]) for one in mine) == [("step", 4), ("summary", 1)]
    assert (await chat.snapshot())["cost"] == pytest.approx(ack["totals"]["cost"])


async def test_the_miss_behind_it_is_put_down_to_the_compaction(tab: Client, fake: FakeApi, wire: str) -> None:  # C18
    chat = await begin(tab, wire)
    await summarises(fake)
    await reads(fake, 1, 2, 3)
    await fake.say("All read.")
    await chat.turn("Read")
    steps = (await chat.act("inspect_cache"))["steps"]
    (place,) = (number for number, step in enumerate(steps) if step["cause"] == "compaction")
    small = [step for step in steps if step["prompt"] < 2_000]
    assert all(step["cause"] in (None, "compaction") for step in steps[len(small) :])
    assert (steps[place]["plan"], steps[place]["reason"]) == ("rebase", "compacted")
    assert (steps[place - 1]["missed"], steps[place - 1]["reason"]) == (0, "summary")
    live = [event["cache"]["cause"] for event in tab.received(chat.id, "step_finished")]
    assert live.count("compaction") == 1


async def test_between_turns_the_new_message_stays_behind_the_summary(tab: Client, fake: FakeApi, wire: str) -> None:
    chat = await begin(tab, wire)
    await summarises(fake)
    await reads(fake, 1, 2)
    await fake.say("Read.")
    await chat.turn("Read them")
    await fake.say("word " * 300)
    await chat.turn("Say much")
    await fake.say("Yes.")
    await chat.turn("And this is new")
    await compacted(chat)
    last = (await sent(fake))[-1]
    assert starts_with_summary(last, "The notes were read.")
    assert "And this is new" in last.text
    assert "Read them" not in last.text


async def test_the_user_may_ask_for_it_and_twice_is_once(tab: Client, fake: FakeApi, wire: str) -> None:  # P5
    chat = await begin(tab, wire)
    with pytest.raises(Refused) as refused:
        await chat.act("compact")
    assert refused.value.code == "bad_field"
    await reads(fake, 1)
    await fake.say("Read.")
    await chat.turn("Read")
    await summarises(fake)
    assert (await chat.act("inspect_cache"))["cache"]["state"] == "warm"
    first = await chat.act("compact", id=f"c_compact_{wire}")
    assert (await chat.event("compaction_started"))["trigger"] == "asked"
    await compacted(chat)
    assert (await chat.event("turn_finished"))["reason"] == "done"
    assert await chat.act("compact", id=f"c_compact_{wire}") == first
    cache = (await chat.act("inspect_cache"))["cache"]
    assert (cache["state"], cache["tokens"]) == ("cold", None)
    await fake.say("Yes.")
    await chat.turn("And now?")
    requests = await sent(fake)
    assert sum(map(asks, requests)) == 1
    assert starts_with_summary(requests[-1], "The notes were read.")


async def test_an_endpoint_that_finds_it_too_long_gets_it_shorter_within_the_same_step(
    tab: Client, fake: FakeApi, wire: str
) -> None:  # P13
    chat = await begin(tab, wire)
    await reads(fake, 1)
    await fake.say("Read.")
    await chat.turn("Read")
    await fake.script({"fault": {"kind": "context_too_long"}, "match": {"text": "And now"}})
    await summarises(fake)
    await fake.say("Yes.")
    ended = await chat.turn("And now?")
    assert ended["reason"] == "done", (ended, tab.received(chat.id)[-12:])
    assert (await chat.event("compaction_started"))["trigger"] == "refused"
    await compacted(chat)
    assert texts((await chat.messages())[-1]) == "Yes."
    assert starts_with_summary((await sent(fake, accepted=False))[-1], "The notes were read.")


async def test_what_cannot_be_made_to_fit_ends_in_what_to_do_and_the_chat_goes_on(
    tab: Client, fake: FakeApi, wire: str
) -> None:
    chat = await begin(tab, wire)
    ended = await chat.turn("word " * 5000)
    assert (ended["reason"], ended["error"]["code"], ended["error"]["action"]) == (
        "error",
        "context_too_long",
        "choose_model",
    )
    first = (await chat.messages())[0]
    await fake.say("Shorter.")
    await chat.act("edit_message", message_id=first["id"], text="word")
    assert (await chat.event("turn_finished"))["reason"] == "done"


async def test_a_summary_that_is_refused_leaves_the_chat_as_it_was(tab: Client, fake: FakeApi, wire: str) -> None:
    chat = await begin(tab, wire)
    await reads(fake, 1)
    await fake.say("Read.")
    await chat.turn("Read")
    before = await chat.messages()
    await fake.script({"fault": {"kind": "no_credit"}, **ASKED})
    await chat.act("compact")
    assert (await chat.event("compacted"))["outcome"] == "failed"
    ended = await chat.event("turn_finished", reason="error")
    assert (ended["error"]["code"], ended["error"]["action"]) == ("compaction_failed", "add_credit")
    assert await chat.messages() == before
    await fake.say("Yes.")
    assert (await chat.turn("And now?"))["reason"] == "done"
    requests = await sent(fake, accepted=False)
    assert requests[-1].extends(requests[1])


async def test_signed_reasoning_of_what_is_kept_goes_back_only_where_it_is_still_valid(
    tab: Client, fake: FakeApi
) -> None:  # C14
    """On a model that binds thinking to the prompt before it, in the middle of a turn: the strict fake checks each."""
    ack = await tab.send("create_session", model="binding/claude-opus-5-5")
    chat = Chat(tab, ack["session_id"])
    await tab.subscribe(chat.id)
    for number in range(1, 4):
        thought = {"type": "thinking", "text": f"Thought {number}."}
        await fake.script({"blocks": [thought, call_block("list", f"call_{number}")]})
    await fake.script({"fault": {"kind": "context_too_long"}})
    await summarises(fake, "Files were listed.")
    await fake.script({"blocks": [{"type": "thinking", "text": "Thought 4."}, call_block("list", "call_4")]})
    await fake.say("Done.")
    assert (await chat.turn("List the files four times"))["reason"] == "done"
    await compacted(chat)
    requests = await sent(fake, accepted=False)
    assert [request.record["rule"] for request in requests if request.record["rule"]] == []
    assert "Thought 3." in requests[3].text
    assert all("Thought 3." not in request.text for request in requests[5:])
    assert "Thought 4." in requests[-1].text
