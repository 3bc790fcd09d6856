"""Which requests teach how a model counts, and who is told."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import TextBlock
from openprogram.core.prompt import Counting, ProviderRequest
from openprogram.core.surface import SurfacePlan
from openprogram.core.usage import Usage
from openprogram.providers.pricing import tool_text
from openprogram.sessions.meter import Meter
from openprogram.tokens import count_tokens
from openprogram.tokens.calibration import KEPT, Calibration
from openprogram.tokens.counts import TokenCounts
from tests.support.agent import counted_here
from tests.support.memory_store import MemoryState, MemoryStore
from tests.support.script import MODEL, message, use

TOOLS: tuple[JsonObject, ...] = tuple(
    {"name": f"tool_{n}", "description": "Does what it says. " * 30, "parameters": {"type": "object"}}
    for n in range(12)
)
FIRST = SurfacePlan("rebase", "first_request", 1, ())
CLAUDE = replace(MODEL, counting=Counting("anthropic", 1.64, 290))


class Bench:
    """A meter that serves, over a store in memory; `hinted` are the users that were told."""

    def __init__(self) -> None:
        self.hinted: list[str] = []
        self.now = 0.0
        self.store = MemoryStore(MemoryState(), lambda: 0.0)
        self.calibration = Calibration(self.store)
        tokens = TokenCounts(self.store, counted_here)
        self.meter = Meter(tokens, self.calibration, self.hinted.append, lambda: self.now)

    async def answered(self, times: float = 1.35, *, model: Any = MODEL, plan: Any = FIRST, **fields: Any) -> float:
        """One answer of a model that counts so many times more; the ratio that is believed then."""
        said = fields.pop("said", [message("user", "hello", None)])
        request = ProviderRequest("model", ("You help.",), fields.pop("tools", TOOLS), tuple(said))
        counted = sum(count_tokens(tool_text(model.counting.api, tool)) for tool in request.tools)
        counted += count_tokens("You help.") + 1
        usage = fields.pop("usage", Usage(uncached=round(counted * times) + fields.pop("added", 0)))
        self.meter.answered("u_ada", model, request, plan, usage)
        await self.meter.idle()
        return self.meter.ratio(model).value


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench()
    serving = asyncio.create_task(made.meter.serve())
    yield made
    serving.cancel()
    await asyncio.wait({serving})


async def test_one_answer_is_enough_and_the_user_is_told(bench: Bench) -> None:
    assert await bench.answered() == pytest.approx(1.35, abs=0.001)
    assert bench.hinted == ["u_ada"]


async def test_the_cached_part_of_a_prompt_counts(bench: Bench) -> None:
    usage = Usage(uncached=100, cache_read=2_000, cache_write_5m=400)
    assert await bench.answered(usage=usage) > 1.2  # the uncached part alone would be absurd


async def test_what_the_vendor_adds_for_tools_is_not_the_tokenizers(bench: Bench) -> None:
    assert bench.meter.ratio(CLAUDE).value == 1.64
    assert await bench.answered(1.5, model=CLAUDE, added=290) == pytest.approx(1.5, abs=0.001)


@pytest.mark.parametrize(
    "fields",
    [
        {"plan": SurfacePlan("keep", "unchanged", 1, ())},
        {"plan": SurfacePlan("append", "discovered", 1, ())},
        {"usage": Usage()},
        {"usage": Usage(uncached=0)},
        {"tools": TOOLS[:1]},
        {"said": [message("user", "long " * 2_000, None)]},
        {"said": [message("user", "hi", None), message("assistant", [TextBlock("."), use("tool_1")], None)]},
    ],
    ids=["kept", "appended", "unknown", "zero", "small", "mostly conversation", "with calls"],
)
async def test_other_requests_teach_nothing(bench: Bench, fields: dict[str, Any]) -> None:
    assert await bench.answered(**fields) == 1.0
    assert bench.hinted == []


async def test_a_model_that_is_known_is_asked_about_once_an_hour(bench: Bench) -> None:
    for _ in range(KEPT):
        await bench.answered(1.35)
    for _ in range(KEPT):
        assert await bench.answered(2.0) == pytest.approx(1.35, abs=0.001)
    for _ in range(KEPT // 2 + 1):
        bench.now += 3_601
        await bench.answered(2.0)
    assert bench.meter.ratio(MODEL).value == pytest.approx(2.0, abs=0.001)


async def test_texts_that_are_wanted_are_counted_and_the_user_is_told(bench: Bench) -> None:
    bench.meter.want("u_ada", ["weather\n", "notes\n"])
    await bench.meter.idle()
    assert bench.meter.exact("weather\n") == count_tokens("weather\n")
    assert bench.hinted == ["u_ada"]


async def test_a_store_that_is_away_ends_nothing(bench: Bench) -> None:
    await bench.answered(1.0)
    await bench.store.aclose()
    for _ in range(2):
        await bench.answered(1.35)
    assert bench.meter.ratio(MODEL).samples == 3
