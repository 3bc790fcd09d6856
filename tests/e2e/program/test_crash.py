"""`kill -9` at every point of a turn (spec trust.md R1, R2; protocol.md P2, P5, P6, P9; reports 20, 21, 28, 30).

What holds after each: what was acknowledged or shown is there; the turn has ended or waits for its answer; the next
request pairs every call with one result, which the strict fake API checks; nothing ran twice.
`tests.support.crash` plays the scenes, once for all tests of a wire format.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.conversation import WIRES, Chat, call_block, log_of, sent, stored_log, text_block, texts
from tests.support.crash import SCENES, After, crash, gone
from tests.support.fake import FakeApi
from tests.support.server import running_server

pytestmark = pytest.mark.asyncio(loop_scope="session")

INTERRUPTED = ("first_token", "mid_text", "mid_call", "in_command", "in_second_call", "after_results", "queued")


@pytest_asyncio.fixture(scope="module", loop_scope="session", params=WIRES)
async def after(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[After]:
    async with crash(request.param, tmp_path_factory.mktemp("crash")) as after:
        yield after


@pytest.mark.parametrize("name", SCENES)
async def test_all_that_was_shown_is_in_the_log_without_a_gap(after: After, name: str) -> None:
    scene = after[name]
    assert scene.log[: len(scene.shown)] == scene.shown
    assert log_of(scene.log, scene.chat_id) == scene.log


@pytest.mark.parametrize("name", INTERRUPTED)
async def test_a_turn_that_was_cut_short_is_shown_as_interrupted(after: After, name: str) -> None:
    scene = after[name]
    assert scene.ending == "interrupted"
    assert (scene.state["status"], scene.state["turn_id"], scene.state["partial"]) == ("idle", None, None)
    assert scene.state["session"]["status"] == "idle"


async def test_killed_before_the_first_token_the_message_is_there(after: After) -> None:
    scene = after["first_token"]
    assert scene.state["messages"][0]["id"] == scene.facts["ack"]["message_id"]
    assert "first_token" in (await after.next_message("first_token")).text


async def test_killed_in_mid_text_what_was_shown_is_there_and_in_the_history(after: After) -> None:
    answer = after["mid_text"].state["messages"][-1]
    assert (answer["role"], answer["status"], texts(answer)) == ("assistant", "interrupted", "Half ")
    assert '"Half ' in (await after.next_message("mid_text")).text


async def test_a_call_that_was_never_whole_is_not_sent(after: After) -> None:
    assert texts(after["mid_call"].state["messages"][-1]) == "I look."
    assert (await after.next_message("mid_call")).calls == []


async def test_a_command_that_ran_is_ended_and_never_run_again(after: After, tmp_path: Path) -> None:
    scene = after["in_command"]
    [result] = scene.state["messages"][-1]["blocks"]
    assert (result["type"], result["status"]) == ("tool_result", "interrupted")
    await gone(scene.facts["grandchild"])
    request = await after.next_message("in_command")
    assert request.calls == ["call_in_command"]
    assert "effect is unknown" in request.results["call_in_command"]
    assert (after.server.home.parent / "in_command").read_text() == "once\n"


async def test_each_of_three_calls_has_one_result_that_says_how_far_it_came(after: After) -> None:
    results = after["in_second_call"].state["messages"][-1]["blocks"]
    assert [result["status"] for result in results] == ["ok", "interrupted", "interrupted"]
    request = await after.next_message("in_second_call")
    assert list(request.results) == request.calls == ["call_one", "call_two", "call_three"]
    one, two, three = request.results.values()
    assert "what the first call read" in one
    assert "effect is unknown" in two
    assert "Not run" in three
    assert (after.server.home.parent / "in_second_call").read_text() == "once\n"


async def test_results_that_were_recorded_are_sent_again_and_not_made_again(after: After) -> None:
    request = await after.next_message("after_results")
    assert "once" in request.results["call_after_results"]
    assert (after.server.home.parent / "after_results").read_text() == "once\n"


@pytest.mark.parametrize("decision", ["once", "session", "deny"])
async def test_an_approval_that_waits_is_answered_once_after_the_crash(after: After, decision: str) -> None:
    """P9, report 30: by any tab, and the turn goes on from it."""
    name = f"asking_{decision}"
    scene, asked, mark = after[name], after[name].facts["asked"], after.server.home.parent / name
    assert (scene.state["status"], scene.state["approvals"], mark.exists()) == ("waiting", [asked], False)
    async with after.server.client() as one, after.server.client() as two:
        first = await Chat.join(one, scene.chat_id, after_seq=scene.log[-1]["seq"])
        second = await Chat.join(two, scene.chat_id, after_seq=scene.log[-1]["seq"])
        await second.act("answer_approval", approval_id=asked["approval_id"], decision=decision)
        assert (await first.event("approval_resolved"))["decision"] == decision
        assert (await first.event("turn_finished"))["reason"] == "done"
        assert (await first.snapshot())["approvals"] == []
    assert (mark.read_text() if mark.exists() else "") == ("" if decision == "deny" else "once\n")
    request = await after.next_message(name)
    assert list(request.results) == request.calls == [f"call_{name}"]


async def test_an_answer_that_was_acknowledged_is_kept_and_its_call_runs_at_most_once(after: After) -> None:
    scene = after["answered"]
    assert scene.state["approvals"] == []
    assert [event["decision"] for event in scene.events("approval_resolved")] == ["once"]
    request = await after.next_message("answered")
    assert list(request.results) == request.calls == ["call_answered"]
    mark = after.server.home.parent / "answered"
    assert (mark.read_text() if mark.exists() else "") in ("", "once\n")


async def test_waiting_messages_are_there_and_are_sent_once_each_with_its_own_override(after: After) -> None:
    scene = after["queued"]
    assert [waiting["text"] for waiting in scene.state["queue"]] == ["first in line", "second in line"]
    async with after.server.client() as client:
        chat = await Chat.join(client, scene.chat_id, scene.log[-1]["seq"])
        for said in ("go on", "first in line", "second in line"):
            await after.fake.say("Yes.", match={"text": said})
        await chat.send("go on")
        for _ in range(3):
            assert (await chat.event("turn_finished"))["reason"] == "done"
        asked = [texts(message) for message in await chat.messages() if message["role"] == "user"]
        assert asked == ["queued", "first in line", "second in line", "go on"]
        safe, normal, again = [event["tools"] for event in client.received(chat.id, "turn_started")]
    assert normal == again
    assert "bash" in normal
    assert "bash" not in safe


async def test_intents_that_were_acknowledged_are_there(after: After) -> None:
    scene = after["switched"]
    assert scene.state["revision"] == scene.facts["ack"]["revision"]
    intent = scene.state["intent"]
    assert (intent["web_search"], intent["toolset"], intent["disabled"]) == (True, "research", ["grep"])


async def test_a_message_that_was_just_acknowledged_is_there_and_its_turn_has_an_end(after: After) -> None:
    scene = after["just_sent"]
    assert scene.events("message_added")[0]["message"]["id"] == scene.facts["ack"]["message_id"]
    assert scene.ending in ("interrupted", "done")
    assert "just_sent" in (await after.next_message("just_sent")).text


async def test_the_same_id_sent_to_the_next_process_has_the_same_ack_and_no_second_effect(after: After) -> None:
    """P5, report 28."""
    message, draft = after["just_sent"], after["switched"]
    async with after.server.client() as client:
        chat = Chat(client, message.chat_id)
        assert await chat.send("just_sent", id=f"sent {after.wire}") == message.facts["ack"]
        said = [texts(sent) for sent in await chat.messages() if sent["role"] == "user"]
        assert said.count("just_sent") == 1
        other = Chat(client, draft.chat_id)
        ack = await other.act("toggle_web_search", value=True, id=f"toggle {after.wire}")
        assert ack["revision"] == 1
        assert (await other.snapshot())["revision"] == draft.facts["ack"]["revision"]


@pytest.mark.parametrize(("wire", "moments"), [("openai", (1, 2, 4, 6, 8, 9)), ("anthropic", (3, 5, 7))])
async def test_killed_at_any_event_of_a_turn_the_chat_goes_on(
    fake: FakeApi, tmp_path: Path, wire: str, moments: tuple[int, ...]
) -> None:
    """One chat, killed again and again, each time a few events later than before."""
    mark = tmp_path / "ran"
    async with running_server(tmp_path, fake, api=wire) as server:
        async with server.client() as client:
            chat = await Chat.create(client, wire, mode="auto")
        for number, moment in enumerate(moments):
            said = {"match": {"text": f"round {number}"}}
            call = call_block("bash", f"call_{number}", command=f"echo {number} >> {mark}")
            await fake.script({"blocks": [text_block("Now ", "the ", "call."), call], **said})
            await fake.script({"blocks": [text_block("It ", "ran.")], **said})
            async with server.client() as client:
                newest = stored_log(server.database, chat.id)[-1]["seq"]
                tab = await Chat.join(client, chat.id, newest)
                await tab.send(f"round {number}")
                await client.until(chat.id, newest + moment)
                await server.kill()
                shown = log_of(client.frames, chat.id)
            await server.start()
            log = log_of(stored_log(server.database, chat.id), chat.id)
            assert [frame for frame in log if newest < frame["seq"]][: len(shown)] == shown
        async with server.client() as client:
            await fake.say("Here.", match={"text": "at last"})
            tab = await Chat.join(client, chat.id, stored_log(server.database, chat.id)[-1]["seq"])
            assert (await tab.turn("at last"))["reason"] == "done"
    lines = mark.read_text().split() if mark.exists() else []
    assert len(set(lines)) == len(lines)
    last = (await sent(fake))[-1]
    assert sorted(last.results) == sorted(last.calls)


async def test_killed_again_while_the_approved_call_runs_it_still_has_one_result(fake: FakeApi, tmp_path: Path) -> None:
    """The turn that waited goes on in the second process, and is cut short there."""
    mark = tmp_path / "ran"
    command = f"echo once >> {mark}; echo now; sleep 300"
    read = call_block("list", "call_1")
    await fake.script({"blocks": [text_block("First."), read, call_block("bash", "call_2", command=command)]})
    async with running_server(tmp_path, fake) as server:
        async with server.client() as client:
            chat = await Chat.create(client, "openai")
            await chat.send("hello")
            asked = await chat.event("approval_requested")
            await server.kill()
        await server.start()
        async with server.client() as client:
            chat = await Chat.join(client, chat.id)
            await chat.act("answer_approval", approval_id=asked["approval_id"], decision="once")
            await chat.event("tool_output_delta")
            await server.kill()
        await server.start()
        async with server.client() as client:
            chat = Chat(client, chat.id)
            state = await chat.snapshot()
            assert (state["status"], state["approvals"]) == ("idle", [])
            assert [block["status"] for block in state["messages"][-1]["blocks"]] == ["ok", "interrupted"]
            await fake.say("Here.", match={"text": "and now?"})
            assert (await chat.turn("and now?"))["reason"] == "done"
    last = (await sent(fake))[-1]
    assert list(last.results) == last.calls == ["call_1", "call_2"]
    assert "effect is unknown" in last.results["call_2"]
    assert mark.read_text() == "once\n"


async def test_no_process_outlives_the_server(fake: FakeApi, tmp_path: Path) -> None:
    """However it ends: those in sessions of their own, and those in the background, included."""
    async with running_server(tmp_path, fake) as server:
        pids: list[int] = []
        for way, end in enumerate((server.kill, server.stop)):
            noted = tmp_path / str(way)
            background = call_block("bash", command=f"echo $$ > {noted}; sleep 300", background=True)
            command = f"until [ -s {noted} ]; do sleep 0.01; done; sleep 300 & echo $$ $!; setsid sleep 300 & echo $!"
            call = call_block("bash", command=f"{command}; wait")
            await fake.script({"blocks": [background, call], "match": {"text": f"way {way}"}})
            async with server.client() as client:
                chat = await Chat.create(client, "openai", mode="auto")
                await chat.send(f"way {way}")
                output = ""
                while len(output.split()) < 3:
                    output += (await chat.event("tool_output_delta"))["text"]
                pids += [*map(int, output.split()), int(noted.read_text()), server.pid]
                await end()
            await server.start()
    assert len(set(pids)) == 10
    for pid in pids:
        await gone(pid)
