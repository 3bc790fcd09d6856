"""What the ledger says of a mixed conversation is the endpoints' bill, to the token (spec cache.md C17; report 38).

Chats over a real store and the real adapters. Titles and subagents are not there yet: a stand-in sends such a request
through an adapter and counts it as they will.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

import pytest

from openprogram.agent.tool_search import tool_search
from openprogram.core.prompt import Api, ProviderRequest
from openprogram.core.protocol.cache_frames import CacheTotals
from openprogram.core.protocol.frames import UsageAck
from openprogram.core.sent import CallKind
from openprogram.core.storage import PutUsage, UsageRow
from openprogram.core.surface import Strategy
from openprogram.core.usage import Price, Usage
from openprogram.ledger.inspect import total
from openprogram.providers.config import EndpointConfig, ModelEntry
from openprogram.providers.factory import build_provider
from openprogram.providers.retry import RetryPolicy
from openprogram.sessions.inspect import cache_of
from openprogram.tools.registry import Registry
from tests.support.agent import NOON, FakeTool
from tests.support.changes import WORDS, uses
from tests.support.deferral import deferred
from tests.support.fake import FakeApi, fake_api
from tests.support.gateway import gateway, kept_an_hour, kept_half_a_day
from tests.support.providers import collect, completed
from tests.support.script import message
from tests.support.sessions import Chats, opened

PRICE: Final = Price(input=5.0, output=25.0, cache_read=0.25, cache_write_5m=6.25, cache_write_1h=10.0)
SOON: Final = RetryPolicy(first_s=0.001, longest_s=0.001)


@dataclass(frozen=True, slots=True)
class Place:
    """An endpoint under test, and which way leads to it."""

    name: str
    api: Api
    model: str
    strategy: Strategy
    through: Callable[[dict[str, Any]], dict[str, Any]] | None = None


PLACES: Final = (
    Place("exclusive", "anthropic", "claude-opus-5-5", "inline_changes"),
    Place("exclusive-1h", "anthropic", "claude-sonnet-4-5", "tool_reference", kept_an_hour),
    Place("inclusive", "openai-chat", "gpt-4.1", "append"),
    Place("inclusive-30m", "openai-responses", "gpt-5.6", "additional_tools"),
    Place("inclusive-writes", "openai-chat", "gpt-6.1", "append"),  # it does not tell how long a write is kept
    Place("inclusive-12h", "openai-responses", "gpt-6", "bridge", kept_half_a_day),
)


@pytest.fixture
async def fake() -> AsyncIterator[FakeApi]:
    async with fake_api(moves="the endpoint refuses a change, and the array grows at a discovery") as running:
        yield running


class Talk:
    """One chat that goes from endpoint to endpoint."""

    def __init__(self, chats: Chats, fake: FakeApi) -> None:
        self.chats = chats
        self.fake = fake
        self.id: str | None = None

    async def turn(self, *answers: dict[str, Any]) -> None:
        """The person says something; the model answers so."""
        for answer in answers:
            await self.fake.script(answer)
        self.id = await self.chats.said(WORDS if self.id is None else "Go on.", self.id)

    @asynccontextmanager
    async def at(self, place: Place) -> AsyncIterator[None]:
        """Let the chat be with this endpoint."""
        path = "" if place.api == "anthropic" else "/v1"
        async with AsyncExitStack() as stack:
            base = self.fake.base_url
            if place.through is not None:
                base = await stack.enter_async_context(gateway(base, place.through))
            await stack.enter_async_context(self._with(place, base + path))
            yield

    @asynccontextmanager
    async def _with(self, place: Place, base_url: str) -> AsyncIterator[None]:
        entry = ModelEntry(place.model, price=PRICE)
        config = EndpointConfig(place.name, place.api, base_url, "key", (entry,), place.strategy)
        provider = build_provider(config, SOON)
        self.chats.catalog.model, self.chats.catalog.provider = config.info(place.model), provider
        try:
            yield
        finally:
            await provider.aclose()

    async def beside(self, kind: CallKind, number: int) -> None:
        """A request that is no step of the chat, such as for its title; counted again when its log is replayed."""
        assert self.id is not None
        model, provider = await self.chats.catalog.resolve(None)
        asked = ProviderRequest(model.model, ("You name chats.",), (), (message("user", f"{WORDS} ({kind})", None),))
        await self.fake.say("A title.")
        usage = completed(await collect(provider, asked)).usage
        row = UsageRow(f"t_{kind}_{number}", 1, model.id, usage, PRICE.cost(usage), kind)
        for _ in range(2):
            await self.chats.store.commit(self.id, (), (PutUsage(row),))

    async def bill(self) -> dict[str, Any]:
        """What the endpoints have billed, once every answer has come to its end there too."""
        await self.fake.wait(open=0)
        return await self.fake.bill()

    async def rows(self) -> tuple[UsageRow, ...]:
        """What the ledger has counted."""
        assert self.id is not None
        return await self.chats.store.usage(self.id)


@asynccontextmanager
async def talk(folder: Path, fake: FakeApi) -> AsyncIterator[Talk]:
    """A chat with a tool, and one that has to be found."""
    registry = Registry()
    long = FakeTool("look", description="Look around. " * 600)  # what is short is not cached by itself
    registry.put("builtin", [tool_search, long.spec, deferred("weather").spec, deferred("notes").spec])
    async with opened(folder, registry=registry) as chats:
        yield Talk(chats, fake)


def as_usage(account: Mapping[str, int]) -> Usage:
    """One account of the bill in the ledger's terms: the two shorter lifetimes, and the two longer ones."""
    return Usage(
        uncached=account["uncached"],
        cache_read=account["read"],
        cache_write_5m=account["write_5m"] + account["write_30m"],
        cache_write_1h=account["write_1h"] + account["write_12h"],
        output=account["output"],
    )


def counted(usage: Usage) -> Usage:
    """What both sides tell: not every API says how much was reasoning."""
    return replace(usage, reasoning=None)


def known(usage: Usage) -> Usage:
    """With what was not reported taken for nothing, as in a sum."""
    return replace(usage, cache_write_5m=usage.cache_write_5m or 0, cache_write_1h=usage.cache_write_1h or 0)


async def mixed(talk: Talk, place: Place, number: int) -> None:
    """A turn with calls and a discovery, one that is retried, one that is declined, and requests beside."""
    call = uses("call_tool", name="weather", arguments={}) if place.strategy == "bridge" else uses("weather")
    async with talk.at(place):
        await talk.turn(uses("look"), uses("tool_search", query="select:weather"), call, says("Found."))
        await talk.fake.fail({"kind": "overloaded", "times": 2})
        await talk.turn(says("Again."))
        await talk.turn({"blocks": [{"type": "text", "text": "No."}], "stop_reason": "refusal"})
        await talk.beside("title", number)
        await talk.beside("subagent", number)


def says(text: str) -> dict[str, Any]:
    """An answer."""
    return {"blocks": [{"type": "text", "text": text}]}


async def test_the_ledgers_total_over_a_mixed_conversation_is_the_bill_to_the_token(
    tmp_path: Path, fake: FakeApi
) -> None:  # C17, report 38
    async with talk(tmp_path, fake) as chat:
        for number, place in enumerate(PLACES):
            await mixed(chat, place, number)
        bill = await chat.bill()
        rows = await chat.rows()
        used, cost = total(rows)
        assert counted(used) == as_usage(bill["finished"])
        assert all(bill["finished"][name] for name in ("read", "write_5m", "write_1h", "write_30m", "write_12h"))
        assert bill["unfinished"]["answers"] == 0
        assert len(rows) == bill["finished"]["answers"]
        assert {row.kind for row in rows} == {"step", "title", "subagent"}
        await check_each_model(rows, bill)
        assert cost == pytest.approx(PRICE.cost(as_usage(bill["finished"])), rel=1e-12)
        await check_what_is_shown(chat, used, cost, len(rows))


async def check_each_model(rows: Iterable[UsageRow], bill: Mapping[str, Any]) -> None:
    """So it is for each model by itself, and its money."""
    by_model = {entry["model"]: entry["finished"] for entry in bill["models"]}
    assert len(by_model) == len(PLACES)
    for place in PLACES:
        used, cost = total(row for row in rows if row.model == f"{place.name}/{place.model}")
        assert known(counted(used)) == as_usage(by_model[place.model]), place
        assert cost == pytest.approx(PRICE.cost(as_usage(by_model[place.model])), rel=1e-12), place


async def check_what_is_shown(chat: Talk, used: Usage, cost: float | None, requests: int) -> None:
    """The inspector's totals, a snapshot's, and the sums over all chats are those of the ledger."""
    assert chat.id is not None
    totals: CacheTotals = (await cache_of(chat.chats.store, chat.id, NOON)).totals
    assert (totals.usage, totals.cost, totals.requests) == (used, cost, requests)
    state = (await chat.chats.snapshot(chat.id)).state
    assert (state.usage, state.cost) == (used, cost)
    spent = cast(UsageAck, await chat.chats.do("usage")).spending
    sums = Usage()
    for one in spent:
        sums = sums.plus(one.usage)
    assert counted(sums) == counted(used)
    assert sum(one.requests for one in spent) == requests


# -- what comes to no good end ----------------------------------------------------------------------------------


async def test_a_change_that_the_endpoint_refuses_is_billed_once_and_counted_once(
    tmp_path: Path, fake: FakeApi
) -> None:  # C9, C17
    async with talk(tmp_path, fake) as chat, chat.at(PLACES[0]):
        await chat.turn(says("Hello."))
        await fake.refuse("inline_tools", "tool_changes")
        await chat.turn(uses("tool_search", query="select:weather"), uses("weather"), says("Found."))
        refused = [record for record in await fake.requests() if record["status"] == 400]
        rows, bill = await chat.rows(), await chat.bill()
        assert len(refused) == 1
        assert len(rows) == bill["finished"]["answers"] == 4
        assert known(counted(total(rows)[0])) == as_usage(bill["finished"])


@pytest.mark.parametrize("place", [PLACES[0], PLACES[2], PLACES[3]], ids=lambda place: place.api)
async def test_an_answer_that_is_cut_off_costs_what_was_reported_of_it_and_the_rest_is_unknown(
    tmp_path: Path, fake: FakeApi, place: Place
) -> None:
    cut = {"blocks": [{"type": "text", "chunks": ["One ", "two ", "three "]}], "fault": {"kind": "cut", "after": 2}}
    async with talk(tmp_path, fake) as chat, chat.at(place):
        await chat.turn(says("Hello."))
        await chat.turn(cut)
        await chat.turn(says("On."))
        rows, bill = await chat.rows(), await chat.bill()
        whole, broken = as_usage(bill["finished"]), as_usage(bill["unfinished"])
        assert (bill["finished"]["answers"], bill["unfinished"]["answers"]) == (2, 1)
        assert known(counted(rows[0].usage.plus(rows[2].usage))) == whole
        told = replace(broken, output=None) if place.api == "anthropic" else Usage()  # its input is told at the start
        assert rows[1].usage in (told, replace(told, cache_write_1h=None))
        assert rows[1].cost is None


@pytest.mark.parametrize("place", [PLACES[0], PLACES[2], PLACES[3]], ids=lambda place: place.api)
async def test_an_answer_that_is_cut_off_before_it_shows_anything_is_asked_for_again_and_counted_once(
    tmp_path: Path, fake: FakeApi, place: Place
) -> None:
    async with talk(tmp_path, fake) as chat, chat.at(place):
        await chat.turn({**says("Hello."), "fault": {"kind": "cut", "after": 0}}, says("Hello."))
        rows, bill = await chat.rows(), await chat.bill()
        assert (len(rows), bill["finished"]["answers"], bill["unfinished"]["answers"]) == (1, 1, 1)
        assert known(counted(rows[0].usage)) == as_usage(bill["finished"])
