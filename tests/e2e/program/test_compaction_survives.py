"""What is left of a summary that was cut short, and what branches and restarts make of one that was not (spec cache.md
C13, C16; protocol.md P3, P7 to P9; report 20).
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.compaction import (
    ASKED,
    answered,
    asks,
    begin,
    compact,
    compacted,
    reads,
    small_server,
    starts_with_summary,
    summarises,
)
from tests.support.conversation import Chat, sent, stored_log, texts
from tests.support.fake import FakeApi
from tests.support.server import Server
from tests.support.ws import Client

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
    await summarises(fake)
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
    await summarises(fake, "Two questions.")
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
    async with small_server(tmp_path, fake) as server:
        async with server.client() as client:
            chat = await begin(client, wire)
            await summarises(fake, "The first summary.")
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
            await answered(chat, "Yes.")
            before, after = (await sent(fake))[-2:]
            assert after.extends(before)
            await summarises(fake, "The second summary.")
            await reads(fake, 6, 7, 8)
            await fake.say("Read again.")
            await chat.send("Read more")
            await answered(chat, "Read again.")
        requests = await sent(fake)
        second = [request for request in requests if asks(request)][1]
        assert "The first summary." in second.messages[0][1]
        assert starts_with_summary(requests[-1], "The second summary.")
        assert "The first summary." not in requests[-1].text
        assert "Read more" in requests[-1].text


async def test_killed_within_it_nothing_is_half_done_and_the_turn_can_be_continued(
    fake: FakeApi, wire: str, tmp_path: Path
) -> None:
    """`kill -9` while the model writes the summary; report 20."""
    async with small_server(tmp_path, fake) as server:
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
            await summarises(fake)
            await fake.say("Done.")
            await chat.act("continue_turn")
            await answered(chat, "Done.")
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
