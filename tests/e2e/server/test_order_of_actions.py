"""What one action of a tab waits for holds up none that does not need it (P1, P5, P7, P12): a real socket before real
chats, whose endpoint is silent and whose disk is away for as long as the test wants."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from openprogram.core.events import MessageAdded, TurnFinished
from openprogram.server.lanes import MAX_UNDER_WAY
from openprogram.sessions import projects
from tests.support.agent import FakeTool, held
from tests.support.edge import reached
from tests.support.script import MODEL, Gate, call, say, use
from tests.support.sessions import Chats, opened
from tests.support.ws import Client, Refused


@asynccontextmanager
async def tab_of(chats: Chats) -> AsyncIterator[Client]:
    async with reached(chats.service, chats.store, chats.bus) as edge, edge.client() as client:
        yield client


async def draft(client: Client) -> str:
    return str((await client.send("create_session"))["session_id"])


@contextmanager
def silent(chats: Chats) -> Iterator[Gate]:
    """Within the block no endpoint tells its models: who asks stands at the gate."""
    chats.catalog.hangs = gate = Gate()
    try:
        yield gate
    finally:
        chats.catalog.hangs = None
        gate.open()


def order(client: Client, *ids: str) -> list[str]:
    """These actions in the order of their answers, as far as those have come."""
    return [frame["id"] for frame in client.frames if frame["type"] in ("ack", "error", "pong") and frame["id"] in ids]


@contextmanager
def away(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Within the block no project file can be read: the disk does not answer."""
    back = threading.Event()
    read = projects._read

    def stalled(path: Path) -> projects._Found:
        back.wait()
        return read(path)

    monkeypatch.setattr(projects, "_read", stalled)
    try:
        yield
    finally:
        back.set()


async def test_a_stop_a_switch_and_a_ping_wait_for_no_endpoint(tmp_path: Path) -> None:  # P1, P7
    gate = Gate()
    tool = FakeTool("read", held(gate))
    async with opened(tmp_path, call(use("read")), tools=[tool]) as chats, tab_of(chats) as client:
        session = await draft(client)
        await client.send("chat", session_id=session, text="look")
        await gate.reached()
        with silent(chats) as endpoint:
            model = await client.post("set_model", session_id=session, model=MODEL.id)
            await endpoint.reached()
            toggle = await client.post("toggle_web_search", session_id=session, value=True)
            mode = await client.post("set_permission_mode", session_id=session, mode="ask")
            stop = await client.post("stop", session_id=session)
            ping = await client.post("ping")
            for sent in (toggle, mode, stop, ping):
                await client.answer(sent)
            assert (await chats.until(session, TurnFinished)).reason == "stopped"
            assert order(client, model) == []
        await client.answer(model)


async def test_a_stop_and_a_switch_wait_for_no_disk(  # P1, P7
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, say("Never."), tools=[FakeTool("read")]) as chats, tab_of(chats) as client:
        session = await draft(client)
        with away(monkeypatch):
            explain = await client.post("explain_tools", session_id=session)
            await client.send("chat", session_id=session, text="look")
            ack = await client.send("toggle_web_search", session_id=session, value=True)
            assert ack["revision"] == 1
            await client.send("stop", session_id=session)
            assert (await chats.until(session, TurnFinished)).reason == "stopped"
            assert (await client.subscribe(session, snapshot=True))["type"] == "ack"
            assert (await client.frame("snapshot"))["state"]["revision"] == 1
        await client.answer(explain)


async def test_a_message_goes_to_the_model_chosen_before_it(tmp_path: Path) -> None:
    other = replace(MODEL, id="other/model")
    async with opened(tmp_path, say("Hi."), say("Hi.")) as chats, tab_of(chats) as client:
        session = await draft(client)
        chats.catalog.model = other
        with silent(chats) as endpoint:
            model = await client.post("set_model", session_id=session, model=other.id)
            await endpoint.reached()
            chat = await client.post("chat", session_id=session, text="hello")
            elsewhere = await client.send("create_session")
            assert elsewhere["session_id"] != session
            assert order(client, model, chat) == []
        await client.answer(chat)
        assert order(client, model, chat) == [model, chat]
        assert (await chats.row(session)).info.model == other.id
        await chats.until(session, TurnFinished)
        answer = (await chats.of(session, MessageAdded))[-1].message
        assert (answer.role, answer.model) == ("assistant", other.id)


async def test_switches_of_one_chat_are_flipped_in_the_order_sent(tmp_path: Path) -> None:  # T8
    async with opened(tmp_path, tools=[FakeTool("read")]) as chats, tab_of(chats) as client:
        session = await draft(client)
        values = [number % 3 != 1 for number in range(30)]
        sent = [await client.post("set_tools_enabled", session_id=session, value=value) for value in values]
        sent.append(await client.post("set_tools_enabled", session_id=session, value=None))
        await client.answer(sent[-1])
        assert order(client, *sent) == sent
        assert (await chats.store.intent(session)).intent.enabled is None


async def test_a_turn_that_was_asked_for_before_the_stop_is_stopped_when_it_begins(tmp_path: Path) -> None:  # P7
    gate = Gate()
    tool = FakeTool("read", held(gate))
    async with opened(tmp_path, call(use("read")), tools=[tool]) as chats, tab_of(chats) as client:
        session = await draft(client)
        with silent(chats) as endpoint:
            await client.post("set_model", session_id=session, model=MODEL.id)
            await endpoint.reached()
            chat = await client.post("chat", session_id=session, text="look")
            await client.send("stop", session_id=session)
            later = await client.post("rename_session", session_id=session, title="after all")
            assert order(client, chat, later) == []
        await client.answer(chat)
        assert (await chats.until(session, TurnFinished)).reason == "stopped"
        await client.answer(later)


@pytest.mark.parametrize("action", ["set_model", "chat"])
async def test_two_frames_of_one_id_at_once_have_one_effect_and_two_equal_acks(  # P5
    tmp_path: Path, action: str
) -> None:
    async with opened(tmp_path, say("Hi.")) as chats, tab_of(chats) as client:
        session = await draft(client)
        with silent(chats) as endpoint:
            await client.post("set_model", session_id=session, model=MODEL.id)
            await endpoint.reached()
            fields = {"model": MODEL.id} if action == "set_model" else {"text": "hello"}
            for _ in range(2):
                await client.post(action, id="twin", session_id=session, **fields)
            await client.post("toggle_web_search", id="twin", session_id=session, value=True)
        one, two = await client.answer("twin"), await client.answer("twin")
        assert one == two
        with pytest.raises(Refused, match="id_conflict"):
            await client.answer("twin")
        said = [added.message for added in await chats.of(session, MessageAdded) if added.message.role == "user"]
        assert len(said) == (action == "chat")
        await chats.rest(session)


async def test_what_was_sent_before_the_tab_went_is_done(tmp_path: Path) -> None:
    async with opened(tmp_path, say("Hi.")) as chats, reached(chats.service, chats.store, chats.bus) as edge:
        with silent(chats) as endpoint:
            async with edge.client() as client:
                session = await draft(client)
                await client.post("set_model", session_id=session, model=MODEL.id)
                await client.post("chat", session_id=session, text="hello")
                await endpoint.reached()
        assert (await chats.until(session, TurnFinished)).reason == "done"


async def test_actions_under_way_are_bounded_by_not_reading_more(tmp_path: Path) -> None:  # P11
    async with opened(tmp_path) as chats, tab_of(chats) as client:
        session = await draft(client)
        with silent(chats) as endpoint:
            for _ in range(MAX_UNDER_WAY):
                await client.post("set_model", session_id=session, model=MODEL.id)
            await client.post("ping", id="more than it takes")
            await endpoint.reached()
            assert len(chats.service._under_way) == 1  # the others wait for it
            assert order(client, "more than it takes") == []
        await client.answer("more than it takes")
        await client.until_answered(MAX_UNDER_WAY + 2)
