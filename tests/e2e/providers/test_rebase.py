"""What a forced rebase is said to cost is what the strict fake API then bills, for any chat (cache.md C4, C19)."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openprogram.core.events import StepStarted
from openprogram.core.prompt import Api
from openprogram.core.surface import Strategy
from tests.support.agent import FakeTool
from tests.support.changes import WORDS, chat_at, turn, uses
from tests.support.fake import FakeApi

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLACES: tuple[tuple[Strategy, Api, str], ...] = (
    ("append", "anthropic", "claude-opus-5-5"),
    ("append", "openai-chat", "gpt-4.1"),
    ("bridge", "openai-responses", "gpt-5.4"),
    ("inline_changes", "anthropic", "claude-opus-5-5"),
    ("additional_tools", "openai-responses", "gpt-5.6"),
)
ROUNDING = 128
"""The OpenAI formats read in steps of so many tokens."""
SWITCHED = ("bash", "read", "tool_0", "tool_1")


def declarations(record: dict[str, Any]) -> list[str]:
    """The names of a request's tools."""
    return [str(tool.get("name") or tool["function"]["name"]) for tool in record["body"].get("tools", ())]


offs = st.lists(st.sampled_from(SWITCHED), max_size=3, unique=True).map(tuple)


@pytest.mark.moves("the user forces a rebase")
@pytest.mark.parametrize(("strategy", "api", "model"), PLACES, ids=[f"{place[0]}-{place[1]}" for place in PLACES])
@given(tools=st.integers(0, 20), program=st.lists(offs, min_size=1, max_size=3), discovers=st.booleans())
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_the_loss_of_a_forced_rebase_is_the_loss_that_is_billed(
    fake: FakeApi,
    strategy: Strategy,
    api: Api,
    model: str,
    tools: int,
    program: list[tuple[str, ...]],
    discovers: bool,
) -> None:
    await fake.reset()
    async with chat_at(fake, strategy, api, model) as chat:
        chat.model = replace(chat.model, counting=replace(chat.model.counting, ratio=1.0))  # the fake counts in o200k
        more = [FakeTool(f"tool_{number}", description=WORDS[:400]).spec for number in range(tools)]
        chat.registry.put("plugin:more", more)
        await turn(chat, fake)
        if discovers:
            await turn(chat, fake, uses("tool_search", query="select:weather"))
        for off in program:
            await turn(chat, fake, off=off)
        assert chat.surfaces.current is not None
        chat.surfaces.forced_epoch = chat.surfaces.current.epoch
        await turn(chat, fake, off=program[-1])
        await turn(chat, fake, off=program[-1])
        *earlier, before, forced, after = await fake.requests()
    plans = [started.plan for started in chat.emit.of(StepStarted)]
    assert [plan.reason for plan in plans].count("forced") == 1
    assert (plans[-2].reason, plans[-1].kind) == ("forced", "keep")
    prompt = before["cache"]["prompt"]
    billed = prompt - min(forced["cache"]["read"], prompt)
    predicted = plans[-2].predicted_loss
    if predicted is None:  # the tools stay and what stood between the messages goes: at most all of it
        assert plans[-2].declared == plans[-3].declared or strategy in ("inline_changes", "additional_tools")
    elif declarations(forced) in map(declarations, earlier):  # what was declared once, the endpoint may still hold
        assert billed < predicted + ROUNDING
    else:
        # The fake puts two tokens less around a tool of the Messages API than the price of its JSON has.
        assert -ROUNDING < predicted - billed < 0.02 * prompt
    assert after["cache"]["read"] > forced["cache"]["prompt"] - ROUNDING, "the rebase was worth more than one miss"
