"""A chat that outgrows its model's context window: summarised, and going on (spec cache.md C16; report 20).

The model's window has 4,096 tokens, which the strict fake API enforces, as it does the pairing of calls and results.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.conversation import Chat, Sent, call_block, sent, stored_log, text_block, texts
from tests.support.fake import FakeApi
from tests.support.server import Server, running_server
from tests.support.ws import Client, Frame, Refused

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.moves("the conversation is summarised"),
]

SMALL = """
[endpoints.{name}]
api = "{api}"
base_url = "{url}"
key = "test"
models = ["demo-small"]
context_window = 4096
max_output_tokens = 1000
price = {{ input = 10.0, output = 50.0, cache_read = 1.0, cache_write_5m = 12.5, cache_write_1h = 20.0 }}
"""
ASKED = {"match": {"text": "Write the summary"}}
NOTES = "A line of the notes that are kept here.\n" * 85
"""About 1,000 tokens, as a tool shows it: the third reading in a turn is one too many."""


def config(fake: FakeApi) -> str:
    """Both endpoints with the small model."""
    return SMALL.format(name="openai", api="openai-chat", url=fake.openai_url) + SMALL.format(
        name="anthropic", api="anthropic", url=fake.anthropic_url
    )


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def small(tmp_path_factory: pytest.TempPathFactory, fake_process: FakeApi) -> AsyncIterator[Server]:
    directory = tmp_path_factory.mktemp("small")
    async with running_server(directory, fake_process, config=config(fake_process)) as server:
        (server.workspace / "notes.txt").write_text(NOTES)
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def tab(small: Server, fake: FakeApi) -> AsyncIterator[Client]:
    async with small.client() as client:
        yield client


async def begin(client: Client, wire: str) -> Chat:
    """A chat with the small model and one tool."""
    ack = await client.send("create_session", model=f"{wire}/demo-small")
    chat = Chat(client, ack["session_id"])
    await client.subscribe(chat.id)
    await chat.act("pick_tools", tools=["read"])
    return chat


async def reads(fake: FakeApi, *numbers: int) -> None:
    """Steps that read the notes."""
    for number in numbers:
        await fake.script({"blocks": [call_block("read", f"call_{number}", path="notes.txt")]})


async def summary(fake: FakeApi, text: str = "The notes were read.", **more: Any) -> None:
    """What the model answers when it is asked for a summary."""
    await fake.script({"blocks": [text_block(text)], **ASKED, **more})


def asks(request: Sent) -> bool:
    """Whether this is the request for a summary."""
    return "Write the summary" in request.messages[-1][1]


def starts_with_summary(request: Sent, text: str) -> bool:
    """Whether the conversation in it begins with that summary."""
    return "<summary>" in request.messages[0][1] and text in request.messages[0][1]


async def compacted(chat: Chat) -> Frame:
    """The end of the next compaction, and that it went well."""
    event = await chat.event("compacted")
    assert event["outcome"] == "done"
    return event


async def compact(chat: Chat) -> None:
    """Ask for a compaction, and wait until it is over."""
    await chat.act("compact")
    await compacted(chat)
    assert (await chat.event("turn_finished"))["reason"] == "done"


async def test_a_long_turn_is_summarised_between_two_steps_and_goes_on(tab: Client, fake: FakeApi, wire: str) -> None:
    chat = await begin(tab, wire)
    await summary(fake)
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
    await summary(fake)
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
    await summary(fake)
    await reads(fake, 1, 2, 3)
    await fake.say("All read.")
    await chat.turn("Read")
    steps = (await chat.act("inspect_cache"))["steps"]
    (place,) = (number for number, step in enumerate(steps) if step["cause"] == "compaction")
    small = [step for step in steps if step["prompt"] < 2_000]
    assert all(step["cause"] in (None, "compaction") for step in steps[len(small) :])
    assert (steps[place]["plan"], steps[place]["reason"]) == ("rebase", "compacted")
    assert steps[place - 1]["missed"] == 0
    live = [event["cache"]["cause"] for event in tab.received(chat.id, "step_finished")]
    assert live.count("compaction") == 1


async def test_between_turns_the_new_message_stays_behind_the_summary(tab: Client, fake: FakeApi, wire: str) -> None:
    chat = await begin(tab, wire)
    await summary(fake)
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
    await summary(fake)
    first = await chat.act("compact", id=f"c_compact_{wire}")
    assert (await chat.event("compaction_started"))["trigger"] == "asked"
    await compacted(chat)
    assert (await chat.event("turn_finished"))["reason"] == "done"
    assert await chat.act("compact", id=f"c_compact_{wire}") == first
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
    await summary(fake)
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


async def test_stop_ends_it_and_nothing_of_it_stays(tab: Client, fake: FakeApi, wire: str) -> None:  # P7
    chat = await begin(tab, wire)
    await fake.say("half a summary, ", {"text": "never whole", "hold": "h"}, **ASKED)
    await reads(fake, 1, 2, 3)
    await chat.send("Read")
    await fake.wait(held="h")
    await chat.act("stop")
    assert (await chat.event("compacted"))["outcome"] == "stopped"
    assert (await chat.event("turn_finished"))["reason"] == "stopped"
    await fake.wait_closed()
    assert "half a summary" not in str(await chat.messages())
    await summary(fake)
    await fake.say("Yes.")
    assert (await chat.turn("Go on"))["reason"] == "done"
    await compacted(chat)
    last = (await sent(fake))[-1]
    assert list(last.results) == last.calls


async def test_a_branch_from_before_the_cut_has_the_whole_history(tab: Client, fake: FakeApi, wire: str) -> None:  # P8
    chat = await begin(tab, wire)
    for number, said in enumerate(("First question", "Second question"), 1):
        await reads(fake, number)
        await fake.say(f"Answer {number}.")
        await chat.turn(said)
    await summary(fake, "Two questions.")
    await compact(chat)
    await fake.say("Behind it.")
    await chat.turn("Third question")
    whole = await chat.messages()
    second = next(message for message in whole if "Second" in texts(message))
    await fake.say("Another answer.")
    await chat.act("edit_message", message_id=second["id"], text="Second, otherwise")
    await chat.event("turn_finished")
    edited = (await sent(fake))[-1]
    assert "<summary>" not in edited.text
    assert edited.calls == ["call_1"]
    assert "Second, otherwise" in edited.text
    await chat.act("select_branch", message_id=whole[-1]["id"])
    await fake.say("Back.")
    await chat.turn("Fourth question")
    requests = await sent(fake)
    assert starts_with_summary(requests[-1], "Two questions.")
    third = next(request for request in requests if "Third question" in request.text)
    assert requests[-1].messages[: len(third.messages)] == third.messages


async def test_after_a_restart_the_same_bytes_go_out_and_a_second_summary_covers_the_first(
    fake: FakeApi, wire: str, tmp_path: Path
) -> None:  # C13
    async with running_server(tmp_path, fake, config=config(fake)) as server:
        (server.workspace / "notes.txt").write_text(NOTES)
        async with server.client() as client:
            chat = await begin(client, wire)
            await summary(fake, "The first summary.")
            await reads(fake, 1, 2, 3)
            await fake.say("Read.")
            await chat.turn("Read")
            await compacted(chat)
        await server.kill()
        await server.start()
        async with server.client() as client:
            chat = await Chat.join(client, chat.id)
            await fake.say("Yes.")
            await chat.send("And now?")
            await _answered(chat, "Yes.")
            before, after = (await sent(fake))[-2:]
            assert after.extends(before)
            await summary(fake, "The second summary.")
            await reads(fake, 6, 7, 8)
            await fake.say("Read again.")
            await chat.send("Read more")
            await _answered(chat, "Read again.")
        requests = await sent(fake)
        second = [request for request in requests if asks(request)][1]
        assert "The first summary." in second.messages[0][1]
        assert starts_with_summary(requests[-1], "The second summary.")
        assert "The first summary." not in requests[-1].text
        assert "Read more" in requests[-1].text


async def _answered(chat: Chat, text: str) -> list[Frame]:
    """The branch once it ends in that answer."""
    await chat.event("message_added")
    while texts((messages := await chat.messages())[-1]) != text:
        await chat.event("message_added")
    return messages


async def test_killed_within_it_nothing_is_half_done_and_the_turn_can_be_continued(
    fake: FakeApi, wire: str, tmp_path: Path
) -> None:
    """`kill -9` while the model writes the summary; report 20."""
    async with running_server(tmp_path, fake, config=config(fake)) as server:
        (server.workspace / "notes.txt").write_text(NOTES)
        async with server.client() as client:
            chat = await begin(client, wire)
            await fake.say("half a summary, ", {"text": "never whole", "hold": "h"}, **ASKED)
            await reads(fake, 1, 2, 3)
            await chat.send("Read")
            await chat.event("compaction_started")
            await fake.wait(held="h")
            await server.kill()
        await server.start()
        async with server.client() as client:
            chat = await Chat.join(client, chat.id)
            state = await chat.snapshot()
            assert (state["status"], state["turn_id"], state["outcome"]["reason"]) == ("idle", None, "interrupted")
            assert all(message["compaction"] is None for message in state["messages"])
            kinds = [frame["event"]["type"] for frame in stored_log(server.database, chat.id)]
            assert (kinds.count("compaction_started"), kinds.count("compacted")) == (1, 0)
            await summary(fake)
            await fake.say("Done.")
            await chat.act("continue_turn")
            await _answered(chat, "Done.")
        requests = await sent(fake)
        assert starts_with_summary(requests[-1], "The notes were read.")
        assert list(requests[-1].results) == requests[-1].calls


async def test_a_tab_that_comes_in_the_middle_of_it_sees_that_it_is_under_way(
    small: Server, tab: Client, fake: FakeApi, wire: str
) -> None:  # P3
    chat = await begin(tab, wire)
    await fake.say("half a summary, ", {"text": "and the rest", "hold": "h"}, **ASKED)
    await reads(fake, 1, 2, 3)
    await fake.say("Done.")
    await chat.send("Read")
    await fake.wait(held="h")
    async with small.client() as late:
        state = await Chat(late, chat.id).snapshot()
    assert [event["type"] for event in state["partial"]["events"]][-1] == "compaction_started"
    await fake.release("h")
    await compacted(chat)
    assert (await chat.event("turn_finished"))["reason"] == "done"
