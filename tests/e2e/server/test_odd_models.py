"""Models and endpoints that do odd things: the chat goes on, every call paired (design law 7; T24, P8, C14)."""

from typing import Any, Final

import pytest

from tests.support.conversation import WIRES, Chat, call_block, sent, text_block, texts
from tests.support.fake import FakeApi
from tests.support.ws import Client

pytestmark = pytest.mark.asyncio(loop_scope="session")


def wrong(*chunks: str, name: str = "list", **fields: Any) -> dict[str, Any]:
    """A call whose arguments are exactly this text."""
    return {"type": "tool_use", "name": name, "chunks": list(chunks), **fields}


ODD: Final[dict[str, dict[str, Any]]] = {
    "no such tool": {"blocks": [call_block("no_such_tool", "call_1", x=1)]},
    "a name that no API takes": {"blocks": [call_block("files.read/now", "call_1", path="a")]},
    "a very long name": {"blocks": [call_block("x" * 200, "call_1")]},
    "arguments that are no JSON": {"blocks": [wrong('{"path": ', id="call_1")]},
    "arguments that are no object": {"blocks": [wrong('["a"]', id="call_1")]},
    "no arguments at all": {"blocks": [wrong(id="call_1")]},
    "arguments that do not fit": {"blocks": [call_block("read", "call_1", file=7)]},
    "half a character in the arguments": {"blocks": [wrong('{"path": "\\ud83d"}', name="read", id="call_1")]},
    "the same id twice": {"blocks": [call_block("list", "call_1"), call_block("list", "call_1")]},
    "an empty id": {"blocks": [call_block("list", "")]},
    "an id that no API takes": {"blocks": [call_block("list", "call:1/é " * 9)]},
    "forty calls at once": {"blocks": [call_block("list", f"call_{number}") for number in range(40)]},
    "nothing": {"blocks": []},
    "blanks": {"blocks": [text_block(" \n ")]},
    "text after a call": {"blocks": [call_block("list", "call_1"), text_block("As I said.")]},
    "only reasoning": {"blocks": [{"type": "thinking", "text": "Hm."}]},
    "a refusal": {"blocks": [text_block("I cannot.")], "stop_reason": "refusal"},
    "calls that end the turn": {"blocks": [call_block("list", "call_1")], "stop_reason": "end_turn"},
    "a promise of calls": {"blocks": [text_block("Soon.")], "stop_reason": "tool_use"},
    "a call cut at the limit": {
        "blocks": [text_block("So. "), wrong('{"pa', id="call_1")],
        "stop_reason": "max_tokens",
    },
    "no usage": {"blocks": [text_block("Yes.")], "report_usage": False},
    "odd usage": {"blocks": [text_block("Yes.")], "usage": {"input_tokens": None, "prompt_tokens": None}},
}


@pytest.mark.parametrize("script", ODD.values(), ids=ODD)
async def test_the_chat_goes_on(client: Client, fake: FakeApi, wire: str, script: dict[str, Any]) -> None:
    await fake.script(script)
    await fake.say("Then so.", match={"text": "first"})
    chat = await Chat.create(client, wire, mode="auto")
    finished = await chat.turn("first")
    assert finished["reason"] in ("done", "cut", "error"), finished
    await fake.reset()
    await fake.say("Yes.", match={"text": "second"})
    assert (await chat.turn("second"))["reason"] == "done"
    assert texts((await chat.messages())[-1]) == "Yes."
    [last] = await sent(fake)
    assert list(last.results) == last.calls
    assert len(set(last.calls)) == len(last.calls)


async def test_a_chat_moves_between_endpoints_with_all_its_calls(client: Client, fake: FakeApi) -> None:
    """Each endpoint gets what the other one made in a form that it takes; thinking goes to its own model only."""
    chat = await Chat.create(client, "anthropic", mode="auto")
    for number, wire in enumerate((*WIRES, *reversed(WIRES), *WIRES)):
        await chat.act("set_model", model=f"{wire}/demo")
        thought = {"type": "thinking", "text": f"Thought {number}."}
        calls = [call_block("list", f"call-{number}.{index}") for index in range(2)]
        said = {"match": {"text": f"number {number}"}}
        await fake.script({"blocks": [thought, text_block(f"Answer {number}."), *calls], **said})
        await fake.script({"blocks": [text_block("There.")], **said})
        assert (await chat.turn(f"number {number}"))["reason"] == "done"
    last = (await sent(fake))[-1]
    assert len(last.calls) == 12
    assert list(last.results) == last.calls
    for number in range(6):
        assert f"Answer {number}." in last.text
    assert "Thought 0" not in last.text


async def test_a_call_to_a_tool_that_is_gone_replays_as_it_was(client: Client, fake: FakeApi, wire: str) -> None:  # T24
    await fake.script({"blocks": [call_block("bash", "call_1", command="echo one")]})
    await fake.say("One.")
    chat = await Chat.create(client, wire, mode="auto")
    await chat.turn("first")
    await chat.act("set_tools_profile", toolset="none")
    await fake.say("Two.")
    await chat.turn("second")
    requests = await sent(fake)
    assert requests[-1].results == requests[-2].results == {"call_1": requests[-1].results["call_1"]}
    assert "one" in requests[-1].results["call_1"]
    assert requests[-1].extends(requests[-2])


async def test_branches_are_sent_without_each_other(client: Client, fake: FakeApi, wire: str) -> None:  # P8
    chat = await Chat.create(client, wire, mode="auto")
    await fake.script({"blocks": [call_block("bash", "call_1", command="echo left")]})
    for said in ("Left.", "Middle.", "Right.", "Back."):
        await fake.say(said)
    await chat.turn("first")
    question = (await chat.messages())[0]["id"]
    await chat.act("edit_message", message_id=question, text="first, in other words")
    assert (await chat.event("turn_finished"))["reason"] == "done"
    await chat.act("regenerate", message_id=(await chat.messages())[-1]["id"])
    assert (await chat.event("turn_finished"))["reason"] == "done"
    await chat.act("select_branch", message_id=question)
    await chat.turn("second")
    requests = await sent(fake)
    assert requests[-1].extends(requests[1])
    assert requests[-1].calls == ["call_1"]
    for word in ("other words", "Middle", "Right"):
        assert word not in requests[-1].text
    assert "Middle" not in requests[-2].text
