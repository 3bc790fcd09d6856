"""Endpoints that fail: a typed event with what to do; the chat goes on (spec protocol.md P13, P14; report 46)."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio

from tests.support.conversation import Chat, call_block, sent, text_block, texts
from tests.support.fake import FakeApi
from tests.support.ports import reserved_port
from tests.support.quick import QUICK
from tests.support.server import Server, running_server
from tests.support.ws import Client, Frame, Refused

pytestmark = pytest.mark.asyncio(loop_scope="session")

BEFORE_ANYTHING: Final = (
    ({"kind": "unauthorised"}, "bad_key", "fix_key"),
    ({"kind": "forbidden"}, "bad_key", "fix_key"),
    ({"kind": "no_credit"}, "no_credit", "add_credit"),
    ({"kind": "quota"}, "no_credit", "add_credit"),
    ({"kind": "rate_limit", "retry_after": 3600}, "rate_limited", "wait"),
    ({"kind": "model_not_found"}, "model_not_found", "choose_model"),
    ({"kind": "context_too_long"}, "context_too_long", "choose_model"),  # there is nothing to summarise yet
)

WHILE_IT_STREAMS: Final = (
    ({"kind": "cut", "after": 2}, ("stream_cut",), ("retry",)),
    ({"kind": "drop", "after": 2}, ("stream_cut",), ("retry",)),
    ({"kind": "bad_json", "after": 2}, ("bad_response",), ("check_endpoint",)),
    ({"kind": "stream_error", "after": 2}, ("overloaded", "endpoint_down"), ("retry",)),
)


async def goes_on(chat: Chat, fake: FakeApi) -> None:
    """The next message works, and the chat is at rest."""
    await fake.say("Yes.", match={"text": "and now?"})
    assert (await chat.turn("and now?"))["reason"] == "done"
    assert (await chat.snapshot())["status"] == "idle"
    assert texts((await chat.messages())[-1]) == "Yes."


def failure(finished: Frame, code: str, action: str) -> Frame:
    """The error of a turn that ended so."""
    assert finished["reason"] == "error", finished
    error: Frame = finished["error"]
    assert (error["code"], error["action"]) == (code, action), error
    assert error["message"]
    assert "Traceback" not in error["message"]
    return error


@pytest.mark.parametrize(("fault", "code", "action"), BEFORE_ANYTHING)
async def test_a_refusal_says_what_to_do(
    client: Client, fake: FakeApi, wire: str, fault: dict[str, Any], code: str, action: str
) -> None:
    await fake.script({"fault": fault})
    chat = await Chat.create(client, wire)
    error = failure(await chat.turn("hello"), code, action)
    assert wire in error["message"] or code == "context_too_long"
    if code == "rate_limited":
        assert error["retry_after_s"] == 3600
    assert len(await sent(fake, accepted=False)) == 1  # nothing of this kind passes by itself
    await goes_on(chat, fake)


@pytest.mark.parametrize(("fault", "codes", "actions"), WHILE_IT_STREAMS)
async def test_an_answer_that_breaks_off_is_kept_and_never_taken_for_whole(
    client: Client, fake: FakeApi, wire: str, fault: dict[str, Any], codes: tuple[str, ...], actions: tuple[str, ...]
) -> None:
    await fake.script({"blocks": [text_block("Half ", "of ", "it ", "was ", "said.")], "fault": fault})
    chat = await Chat.create(client, wire)
    finished = await chat.turn("hello")
    error = failure(finished, finished["error"]["code"], finished["error"]["action"])
    assert error["code"] in codes
    assert error["action"] in actions
    answer = (await chat.messages())[-1]
    assert (answer["role"], answer["status"]) == ("assistant", "error")
    assert texts(answer).startswith("Half of ")
    assert texts(answer) == client.text(chat.id, answer["id"])  # what is kept is what was shown, once
    assert len(await sent(fake)) == 1  # it was shown, so it is not sent again (P14)
    await goes_on(chat, fake)
    assert "Half of " in (await sent(fake))[-1].text


async def test_an_answer_that_breaks_off_in_a_call_runs_nothing(
    client: Client, fake: FakeApi, tmp_path: Path, wire: str
) -> None:
    call = call_block("bash", "call_1", command=f"touch {tmp_path / 'ran'}")
    await fake.script({"blocks": [text_block("I run it."), call], "fault": {"kind": "cut", "after": 3}})
    chat = await Chat.create(client, wire, mode="auto")
    failure(await chat.turn("run it"), "stream_cut", "retry")
    await goes_on(chat, fake)
    assert (await sent(fake))[-1].calls == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["rate_limit", "overloaded", "server_error", "cut", "drop"])
async def test_what_passes_by_itself_is_tried_again_and_nothing_is_shown_twice(
    client: Client, fake: FakeApi, wire: str, kind: str
) -> None:  # P14
    await fake.script({"blocks": [text_block("a")], "fault": {"kind": kind, "after": 0, "retry_after": 0}})
    await fake.say("Said ", "once.")
    chat = await Chat.create(client, wire)
    assert (await chat.turn("hello"))["reason"] == "done"
    [notice] = [event for event in client.received(chat.id, "notice") if event["code"] == "retry"]
    assert "attempt 1" in notice["message"]
    assert client.text(chat.id) == "Said once."
    assert [message["role"] for message in await chat.messages() if message["role"] != "notice"] == [
        "user",
        "assistant",
    ]
    assert len(client.received(chat.id, "step_finished")) == 1
    await goes_on(chat, fake)


async def test_a_failure_after_a_tool_call_keeps_its_result_and_does_not_run_it_again(
    client: Client, fake: FakeApi, tmp_path: Path, wire: str
) -> None:  # P14
    mark = tmp_path / "ran"
    await fake.script({"blocks": [call_block("bash", "call_1", command=f"echo once >> {mark}")]})
    await fake.script({"fault": {"kind": "no_credit"}})
    chat = await Chat.create(client, wire, mode="auto")
    failure(await chat.turn("run it"), "no_credit", "add_credit")
    await fake.say("Done.")
    await chat.act("continue_turn")
    assert (await chat.event("turn_finished"))["reason"] == "done"
    assert list((await sent(fake))[-1].results) == ["call_1"]
    assert mark.read_text() == "once\n"


async def test_a_cut_answer_can_be_continued(client: Client, fake: FakeApi, wire: str) -> None:
    await fake.script({"blocks": [text_block("One, two, ")], "stop_reason": "max_tokens"})
    chat = await Chat.create(client, wire)
    assert (await chat.turn("count"))["reason"] == "cut"
    await fake.say("three.")
    await chat.act("continue_turn")
    assert (await chat.event("turn_finished"))["reason"] == "done"
    first, second = await sent(fake)
    assert second.extends(first)
    with pytest.raises(Refused, match="bad_field"):
        await chat.act("continue_turn")


@pytest_asyncio.fixture(loop_scope="session")
async def impatient(tmp_path: Path, fake: FakeApi) -> AsyncIterator[Server]:
    """A server whose endpoints may be silent for a second only; `gone` has nobody behind its address."""
    with reserved_port() as port:
        async with running_server(tmp_path, config=_impatient(fake, port), program=QUICK) as server:
            yield server


def _impatient(fake: FakeApi, nobodys: int) -> str:
    endpoints = (
        ("openai", "openai-chat", fake.openai_url),
        ("anthropic", "anthropic", fake.anthropic_url),
        ("gone", "openai-chat", f"http://127.0.0.1:{nobodys}/v1"),
    )
    return "".join(
        f'[endpoints.{name}]\napi = "{api}"\nbase_url = "{url}"\nkey = "test"\nmodels = ["demo"]\nstall_timeout_s = 1\n'
        for name, api, url in endpoints
    )


async def test_silence_is_an_end_too(impatient: Server, fake: FakeApi) -> None:
    async with impatient.client() as client:
        for wire in ("openai", "anthropic"):
            await fake.script({"blocks": [text_block("Half ", "of ", "it.")], "fault": {"kind": "stall", "after": 1}})
            chat = await Chat.create(client, wire)
            failure(await chat.turn("hello"), "stream_cut", "retry")
            assert texts((await chat.messages())[-1]) == "Half "
            await fake.wait_closed()
            await goes_on(chat, fake)
            await fake.reset()


async def test_an_endpoint_that_is_not_there_is_tried_again_and_then_named(impatient: Server, fake: FakeApi) -> None:
    async with impatient.client() as client:
        chat = await Chat.create(client, "gone")
        error = failure(await chat.turn("hello"), "endpoint_down", "check_endpoint")
        assert "gone" in error["message"]
        assert "http://127.0.0.1:" in error["message"]
        assert len(client.received(chat.id, "notice")) == 4
        await chat.act("set_model", model="openai/demo")
        await goes_on(chat, fake)
        assert "hello" in (await sent(fake))[-1].text


async def test_without_any_model_a_message_is_kept_and_the_choices_are_told(tmp_path: Path, fake: FakeApi) -> None:
    async with AsyncExitStack() as stack:
        address = {"OPENAI_BASE_URL": f"http://127.0.0.1:{stack.enter_context(reserved_port())}/v1"}
        server = await stack.enter_async_context(running_server(tmp_path, environment=address, program=QUICK))
        client = await stack.enter_async_context(server.client())
        assert client.hello["default_model"] is None
        ack = await client.send("chat", session_id=None, text="hello")
        chat = await Chat.join(client, ack["session_id"])
        finished = await chat.event("turn_finished")
        assert (finished["reason"], finished["error"]["code"]) == ("error", "no_endpoint")
        assert "openai" in finished["error"]["message"]
        await chat.act("set_model", model="demo/demo")
        await chat.act("continue_turn")
        assert (await chat.event("turn_finished"))["reason"] == "done"
