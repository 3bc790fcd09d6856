"""Plan mode at its seam: a reminder in the newest message, and a tool that loads like any other (spec cache.md C6).

The mode itself is not there yet; its tool and its words are stand-ins.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Final

import pytest

from openprogram.agent.deferral import worth_keeping
from openprogram.core.events import StepStarted
from openprogram.core.surface import Capability, Strategy
from openprogram.surface.strategies import TRAITS
from tests.support.agent import Chat, FakeTool
from tests.support.deferral import below, chat_with, deferred, say_more, select, system
from tests.support.script import Script, call, say, use

EXIT: Final = "exit_plan_mode"
ON: Final = f"Plan mode is on: change nothing. When the plan stands, call {EXIT}."
OFF: Final = "Plan mode is off."


async def turn(chat: Chat, reminder: str, *scripts: Script) -> None:
    """The person says something with the mode switched, and the model answers so."""
    if len(chat.history.messages) > 1:
        say_more(chat, "Go on.")
    if reminder:
        chat.history.append(below(chat, "notice", reminder))
    chat.provider.scripts[:] = scripts
    await chat.run()


@pytest.mark.parametrize("strategy", TRAITS)
async def test_entering_and_leaving_plan_mode_moves_no_tool_and_its_exit_loads_like_any_other(
    strategy: Strategy,
) -> None:
    chat = chat_with(FakeTool("bash"), deferred(EXIT), deferred("weather"), scripts=())
    chat.model = replace(chat.model, capability=Capability(strategy=strategy))
    await turn(chat, "", say("Hello."))
    await turn(chat, ON, call(select(EXIT)), call(use(EXIT)), say("Out."))
    await turn(chat, ON, say("In again."))
    await turn(chat, OFF, say("Out again."))
    assert [result.status for result in chat.results] == ["ok", "ok"]
    steps = chat.emit.of(StepStarted)
    grown = [number for number, step in enumerate(steps) if EXIT in step.plan.added]
    assert grown == ([2] if TRAITS[strategy].adds != "never" else [])  # the request behind the search, once
    requests = chat.provider.requests
    for number, (before, after) in enumerate(pairwise(requests), start=1):
        assert system(after) == system(before)
        assert after.messages[: len(before.messages)] == before.messages
        assert after.tools == before.tools or (strategy == "append" and number in grown)
    assert not any(step.plan.masked for step in steps)
    assert [message.text for message in requests[-1].messages if message.text in (ON, OFF)] == [ON, ON, OFF]
    assert worth_keeping(chat.loaded, (await chat.prepare()).contract, requests[-1].messages, None) == chat.loaded.names
