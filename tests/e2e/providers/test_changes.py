"""Tools that change in mid-chat, through the loop, adapters and HTTP, at the strict fake API (cache.md C2, C7, C9)."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from openprogram.core.events import Notice, StepStarted
from openprogram.core.prompt import Api
from openprogram.core.surface import BRIDGE_NAME, Strategy
from tests.support.agent import FakeTool
from tests.support.changes import WORDS, chat_at, played, turn, uses
from tests.support.deferral import deferred
from tests.support.fake import FakeApi

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES: tuple[tuple[Strategy, Api, str], ...] = (
    ("inline_changes", "anthropic", "claude-opus-5-5"),
    ("reference_changes", "anthropic", "claude-opus-5-5"),
    ("tool_reference", "anthropic", "claude-sonnet-5"),
    ("additional_tools", "openai-responses", "gpt-5.6"),
    ("client_tool_search", "openai-responses", "gpt-5.4"),
    ("bridge", "openai-responses", "gpt-5.4"),
    ("bridge", "anthropic", "claude-opus-5-5"),
    ("bridge", "openai-chat", "gpt-4.1"),
    ("frozen", "openai-chat", "gpt-4.1"),
)
ROUNDING = 128
"""Chat Completions reads in steps of so many tokens."""


@pytest.mark.parametrize(("strategy", "api", "model"), CASES, ids=[f"{case[0]}-{case[1]}" for case in CASES])
async def test_nothing_that_was_cached_is_lost_to_a_switch_or_a_discovery(
    fake: FakeApi, strategy: Strategy, api: Api, model: str
) -> None:
    async with chat_at(fake, strategy, api, model) as chat:
        records = await played(chat, fake, strategy)
    assert chat.reasons == ["done"] * 6
    assert [result.status for result in chat.results] == ["ok", "ok", "ok"]
    assert {record["status"] for record in records} == {200}
    for before, after in pairwise(records):
        assert after["cache"]["common_prefix"] >= before["cache"]["prompt"]
        if before["cache"]["prompt"] >= 1024:
            assert after["cache"]["read"] > before["cache"]["prompt"] - ROUNDING


ALL = (*CASES, ("append", "openai-chat", "gpt-4.1"), ("append", "anthropic", "claude-opus-5-5"))


@pytest.mark.parametrize(("strategy", "api", "model"), ALL, ids=[f"{case[0]}-{case[1]}" for case in ALL])
async def test_a_server_that_drops_and_returns_moves_no_byte_and_is_told_when_called(
    fake: FakeApi, strategy: Strategy, api: Api, model: str
) -> None:  # C5, report 10
    async with chat_at(fake, strategy, api, model) as chat:
        sky = [deferred("star").spec, deferred("moon").spec]
        chat.registry.put("mcp:sky", sky)
        through = strategy == "bridge"
        look = uses(BRIDGE_NAME, name="star", arguments={}) if through else uses("star")
        await turn(chat, fake, uses("tool_search", query="select:star"), look)
        first = len(await fake.requests())
        chat.registry.remove("mcp:sky")
        await turn(chat, fake, look)
        chat.registry.put("mcp:sky", sky[::-1])
        await turn(chat, fake, look)
        records = await fake.requests()
    assert [result.status for result in chat.results] == ["ok", "ok", "denied", "ok"]
    assert {record["status"] for record in records} == {200}
    head = [
        {key: unmarked(record["body"].get(key)) for key in ("tools", "system", "instructions")} for record in records
    ]
    assert all(each == head[first - 1] for each in head[first:])
    for before, after in pairwise(records[first - 1 :]):
        assert after["cache"]["common_prefix"] >= before["cache"]["prompt"]


@pytest.mark.parametrize(("strategy", "api", "model"), ALL, ids=[f"{case[0]}-{case[1]}" for case in ALL])
async def test_a_discovery_rewrites_neither_system_prompt_nor_tools_and_on_append_grows_them_at_their_end_once(
    fake: FakeApi, strategy: Strategy, api: Api, model: str
) -> None:  # C2, T18, report 12
    async with chat_at(fake, strategy, api, model) as chat:
        await turn(chat, fake)
        await turn(chat, fake, uses("tool_search", query="select:weather"))
        await turn(chat, fake)
        records = await fake.requests()
    bodies = [record["body"] for record in records]
    systems = [body.get("system") or body.get("instructions") or body["messages"][0] for body in bodies]
    assert all(unmarked(system) == unmarked(systems[0]) for system in systems)
    arrays = [[unmarked(tool) for tool in body["tools"] if not tool.get("defer_loading")] for body in bodies]
    assert arrays[0] == arrays[1]
    if strategy != "append":
        assert arrays[2:] == arrays[:2]
        return
    assert arrays[2] == arrays[3]
    assert arrays[2][:-1] == arrays[1]
    assert "weather" in str(arrays[2][-1])
    missed = [after["cache"]["read"] < before["cache"]["prompt"] - ROUNDING for before, after in pairwise(records)]
    assert missed == [False, True, False]


def unmarked(value: Any) -> Any:
    """Without the cache's marks."""
    if isinstance(value, dict):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


async def test_an_endpoint_that_refuses_changes_goes_on_within_the_same_send(fake: FakeApi) -> None:  # C9
    async with chat_at(fake, "inline_changes", "anthropic", "claude-haiku-4-5") as chat:
        await turn(chat, fake)
        await turn(chat, fake, off=("bash",))
        await turn(chat, fake, off=())
        records = await fake.requests()
    assert [record["status"] for record in records] == [200, 400, 200, 200]
    assert chat.reasons == ["done"] * 3
    assert [notice.code for notice in chat.emit.of(Notice)] == ["downgraded"]
    assert chat.surfaces.current is not None
    assert chat.surfaces.current.deltas == ()
    assert records[2]["cache"]["common_prefix"] >= records[0]["cache"]["prompt"]


@pytest.mark.parametrize("tools", [1, 30], ids=["little is left", "much is left"])
@pytest.mark.parametrize(("api", "model"), [("anthropic", "claude-opus-5-5"), ("openai-chat", "gpt-4.1")])
async def test_the_loss_that_is_predicted_is_the_loss_that_is_billed(
    fake: FakeApi, api: Api, model: str, tools: int
) -> None:
    async with chat_at(fake, "append", api, model) as chat:
        chat.model = replace(chat.model, counting=replace(chat.model.counting, ratio=1.0))  # the fake counts in o200k
        more = [FakeTool(f"tool_{number}", description=WORDS[:400]).spec for number in range(tools)]
        chat.registry.put("plugin:more", more)
        await turn(chat, fake)
        await turn(chat, fake, uses("tool_search", query="select:weather"), off=("bash",))
        await turn(chat, fake)
        records = await fake.requests()
    plans = [started.plan for started in chat.emit.of(StepStarted)]
    assert [plan.kind for plan in plans] == ["rebase", "keep", "append", "keep"]
    for (before, after), plan in zip(pairwise(records), plans[1:], strict=True):
        billed = before["cache"]["prompt"] - min(after["cache"]["read"], before["cache"]["prompt"])
        assert plan.predicted_loss is not None
        # The fake puts two tokens less around a tool of the Messages API than the price of its JSON has.
        assert -ROUNDING < plan.predicted_loss - billed < 0.02 * before["cache"]["prompt"]
