"""What tools cost on a model that counts otherwise: told, learned from its usage, kept (spec tools.md section 5)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from openprogram.core.jsonio import canonical
from openprogram.tokens import count_tokens
from tests.support.conversation import Chat, sent
from tests.support.fake import FakeApi
from tests.support.server import running_server
from tests.support.ws import Client, Frame

pytestmark = pytest.mark.asyncio(loop_scope="session")

FACTOR = 1.35


async def told(client: Client, session_id: str, right: Callable[[Frame], bool]) -> Frame:
    """What `explain_tools` says once it is `right`; asked again whenever the server tells that it is another one."""
    while True:
        ack = await client.send("explain_tools", session_id=session_id)
        if right(ack["budget"]):
            return ack
        await client.frame("hint", hint="registry_changed")


async def test_prices_become_those_of_the_model_and_stay_so(fake: FakeApi, wire: str, tmp_path: Path) -> None:
    await fake.count_times(FACTOR)
    async with running_server(tmp_path, fake, api="both") as server:
        async with server.client() as client:
            await client.subscribe(None)
            chat = await Chat.create(client, wire)
            before = await told(client, chat.id, lambda budget: None not in (budget["resident"], budget["catalog"]))
            assert (before["budget"]["ratio"], before["budget"]["samples"]) == (1.0, 0)
            await chat.turn("hello")
            after = await told(client, chat.id, lambda budget: budget["samples"] == 1)
        [request] = await sent(fake)
        body, budget = request.record["body"], before["budget"]
        tools = count_tokens(canonical(body["tools"]).decode())
        assert budget["declared"] == len(body["tools"])
        assert budget["resident"] == pytest.approx(tools, rel=0.05)
        assert after["budget"]["ratio"] == pytest.approx(FACTOR, rel=0.05)  # a prompt is more than its texts
        assert after["budget"]["resident"] == pytest.approx(tools * FACTOR, rel=0.05)
        one, same = ({tool["name"]: tool for tool in ack["tools"]}["read"] for ack in (before, after))
        assert same["tokens"] == same["tokens_now"] == pytest.approx(one["tokens"] * FACTOR, rel=0.05)
        await server.stop()
        await server.start()
        async with server.client() as client:
            again = await client.send("explain_tools", session_id=chat.id)
            assert again["budget"] == after["budget"]
