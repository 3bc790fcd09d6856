"""What a discovery is expected to cost, and what the planner makes of it where the array has to grow (cache.md 1)."""

from dataclasses import replace

from openprogram.agent.discovery_costs import KEPT, DiscoveryCosts
from openprogram.agent.environment import Progress
from openprogram.agent.loop import run
from openprogram.core.events import StepStarted
from openprogram.core.surface import Capability
from openprogram.core.usage import Usage
from openprogram.surface.wanted import Warmth
from tests.support.deferral import TTL, chat_with, declared, deferred, say_more, select, system
from tests.support.script import MODEL, Script, call, say, use
from tests.support.surfaces import first

ALL = ["notes", "tool_search", "weather"]
WARMTH = Warmth(0.0, size=lambda _: 100)


def reading(tokens: int) -> Usage:
    """A prompt that was read from the cache."""
    return Usage(uncached=0, cache_read=tokens, output=1)


class Talk:
    """A chat with two tools that wait, in a process in which discoveries cost so much."""

    def __init__(self, costs: DiscoveryCosts) -> None:
        self.chat = chat_with(deferred("weather"), deferred("notes"), scripts=())
        self.costs = costs
        self.progress = Progress()

    async def turn(self, *scripts: Script, later: float = 0.0) -> list[str]:
        """The person says something, `later`, and the model answers so; returns what the last request declared."""
        if len(self.chat.history.messages) > 1:
            say_more(self.chat, "go on")
        self.chat.now += later
        self.chat.provider.scripts[:] = scripts
        await run(replace(self.chat.environment, discovery_costs=self.costs, progress=self.progress))
        return declared(self.chat.provider.requests[-1])


async def test_an_answered_chat_whose_prompt_is_long_declares_at_its_next_rebase_what_is_short_beside_it() -> None:
    talk = Talk(DiscoveryCosts())
    assert await talk.turn(say("Hi.", usage=reading(50_000))) == ["tool_search"]
    assert await talk.turn(say("Hi.", usage=reading(50_000)), later=TTL + 1) == ALL
    assert "weather" not in system(talk.chat.provider.requests[-1])  # no catalog of what is there already
    assert await talk.turn(call(use("weather"), usage=reading(50_000)), say("Sun.")) == ALL
    assert [step.plan.kind for step in talk.chat.emit.of(StepStarted)] == ["rebase", "rebase", "keep", "keep"]


async def test_an_answered_chat_whose_prompt_is_short_has_its_tools_wait() -> None:
    talk = Talk(DiscoveryCosts())
    await talk.turn(say("Hi.", usage=reading(40)))
    assert await talk.turn(say("Hi."), later=TTL + 1) == ["tool_search"]


async def test_a_new_chat_goes_by_what_discoveries_have_cost_at_its_model() -> None:
    costs = DiscoveryCosts()
    one, two, other = Talk(costs), Talk(costs), Talk(costs)
    found = call(select("weather"), usage=reading(50_000)), say("Sun.", usage=Usage(uncached=50_100, cache_read=0))
    assert await one.turn(*found) == ["tool_search", "weather"]
    assert costs.expected(MODEL, None, WARMTH) == 50_000
    assert await two.turn(say("Hi.")) == ALL
    other.chat.model = replace(MODEL, id="fake/other")
    assert await other.turn(say("Hi.")) == ["tool_search"]


async def test_where_a_provider_tells_nothing_of_its_cache_nothing_is_learned() -> None:
    talk, silent = Talk(DiscoveryCosts()), Usage(uncached=50_000, output=1)
    await talk.turn(call(select("weather"), usage=silent), say("Sun.", usage=silent))
    assert talk.costs.expected(MODEL, None, WARMTH) is None


def test_the_newest_discoveries_of_a_model_count_and_the_chats_own_prompt_before_them() -> None:
    costs, here = DiscoveryCosts(), first("append", "read")
    for tokens in (9_000_000, *(1_000 * number for number in range(KEPT))):
        costs.lost(MODEL.id, tokens)
    assert costs.expected(MODEL, here, WARMTH) == costs.expected(MODEL, None, WARMTH) == 9_500
    known = replace(WARMTH, prompt_tokens=5_000)
    assert costs.expected(MODEL, here, known) == 5_000 - 100 * len(here.declared)
    short = replace(MODEL, capability=Capability(min_cache_tokens=6_000))
    assert costs.expected(short, here, known) == 0  # it is not kept at all
