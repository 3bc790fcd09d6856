"""What a discovery is expected to cost a chat, and what is made of it where the array has to grow (cache.md 1)."""

from dataclasses import replace

from openprogram.agent.environment import Progress
from openprogram.agent.loop import run
from openprogram.core.events import StepStarted
from openprogram.core.surface import Capability
from openprogram.core.usage import Usage
from tests.support.deferral import TTL, chat_with, declared, deferred, say_more, system
from tests.support.script import MODEL, Script, call, say, use

ALL = ["notes", "tool_search", "weather"]


def reading(tokens: int) -> Usage:
    """A prompt that was read from the cache."""
    return Usage(uncached=0, cache_read=tokens, output=1)


class Talk:
    """A chat with two tools that wait."""

    def __init__(self) -> None:
        self.chat = chat_with(deferred("weather"), deferred("notes"), scripts=())
        self.progress = Progress()

    async def turn(self, *scripts: Script, later: float = 0.0) -> list[str]:
        """The person says something, `later`, and the model answers so; returns what the last request declared."""
        if len(self.chat.history.messages) > 1:
            say_more(self.chat, "go on")
        self.chat.now += later
        self.chat.provider.scripts[:] = scripts
        await run(replace(self.chat.environment, progress=self.progress))
        return declared(self.chat.provider.requests[-1])


async def test_an_answered_chat_whose_prompt_is_long_declares_at_its_next_rebase_what_is_short_beside_it() -> None:
    talk = Talk()
    assert await talk.turn(say("Hi.", usage=reading(50_000))) == ["tool_search"]
    assert await talk.turn(say("Hi.", usage=reading(50_000)), later=TTL + 1) == ALL
    assert "weather" not in system(talk.chat.provider.requests[-1])  # no catalog of what is there already
    assert await talk.turn(call(use("weather"), usage=reading(50_000)), say("Sun.")) == ALL
    assert [step.plan.kind for step in talk.chat.emit.of(StepStarted)] == ["rebase", "rebase", "keep", "keep"]


async def test_an_answered_chat_whose_prompt_is_short_has_its_tools_wait() -> None:
    talk = Talk()
    await talk.turn(say("Hi.", usage=reading(40)))
    assert await talk.turn(say("Hi."), later=TTL + 1) == ["tool_search"]


async def test_what_is_too_short_to_be_cached_and_what_nobody_counts_has_tools_wait() -> None:
    short, silent = Talk(), Talk()
    short.chat.model = replace(MODEL, capability=Capability(min_cache_tokens=60_000))
    for talk, usage in ((short, reading(50_000)), (silent, Usage(output=1))):
        await talk.turn(say("Hi.", usage=usage))
        assert await talk.turn(say("Hi."), later=TTL + 1) == ["tool_search"]


async def test_a_long_chat_so_far_carries_no_schemas_for_as_many_requests_again() -> None:
    """What waits is written once and read in each further request; a discovery would lose the prompt once."""
    talk = Talk()
    for _ in range(40):
        await talk.turn(say("Hi.", usage=reading(200)))
    assert await talk.turn(say("Hi."), later=TTL + 1) == ["tool_search"]
    young = Talk()
    await young.turn(say("Hi.", usage=reading(200)))
    assert await young.turn(say("Hi."), later=TTL + 1) == ALL
