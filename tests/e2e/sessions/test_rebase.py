"""A rebase that the user forces: announced with its price, done once, by whichever tab or process (cache.md C4)."""

import asyncio
from pathlib import Path
from typing import cast

from openprogram.core.events import Notice, StepFinished, StepStarted, TurnFinished
from openprogram.core.protocol.frames import CacheAck, PreviewAck
from openprogram.core.usage import Usage
from openprogram.sessions.rebase import FORCED
from tests.support.agent import FakeTool
from tests.support.script import Gate, Script, call, say, use
from tests.support.sessions import Chats, opened

PROMPT = 50_000
MISSED = say("Hi.", usage=Usage(uncached=PROMPT, cache_read=0, output=5))
READ = say("Hi.", usage=Usage(uncached=20, cache_read=PROMPT, output=5))


def _tools() -> list[FakeTool]:
    return [FakeTool("bash", description="Long. " * 500), FakeTool("read")]


async def _with_dead_weight(chats: Chats) -> str:
    """A chat with a tool that is declared and switched off."""
    session_id = await chats.said("one")
    await chats.patch("set_tool_disabled", session_id, name="bash", value=True)
    await chats.said("two", session_id)
    return session_id


async def _force(chats: Chats, session_id: str) -> PreviewAck:
    return cast(PreviewAck, await chats.do("force_rebase", session_id=session_id))


async def _plans(chats: Chats, session_id: str) -> list[tuple[str, int]]:
    return [(step.reason, step.plan.epoch) for step in await chats.of(session_id, StepStarted)]


async def _waits(chats: Chats, session_id: str) -> bool:
    return cast(CacheAck, await chats.do("inspect_cache", session_id=session_id)).cache.forced


def _scripts(*more: Script) -> tuple[Script, ...]:
    return (MISSED, READ, *more)


async def test_the_next_request_rebases_at_the_stated_price_and_names_the_user(tmp_path: Path) -> None:  # C4, C18
    async with opened(tmp_path, *_scripts(MISSED, READ), tools=_tools()) as chats:
        session_id = await _with_dead_weight(chats)
        before = await chats.log(session_id)
        preview = cast(PreviewAck, await chats.do("preview_toggle", session_id=session_id, toggle="force_rebase"))
        assert await chats.log(session_id) == before, "looking changed something"
        ack = await _force(chats, session_id)
        assert (ack.tokens, ack.cost, ack.saved_tokens, ack.reason) == (
            *(preview.tokens, preview.cost, preview.saved_tokens),
            "forced",
        )
        assert ack.saved_tokens is not None
        assert ack.saved_tokens > 500
        assert await _waits(chats, session_id)
        [told] = [notice for notice in await chats.of(session_id, Notice) if notice.code == FORCED]
        assert f"{ack.tokens:,} tokens" in told.message
        await chats.said("three", session_id)
        assert not await _waits(chats, session_id)
        await chats.said("four", session_id)
        assert await _plans(chats, session_id) == [
            *(("first_request", 1), ("unchanged", 1)),
            *(("forced", 2), ("unchanged", 2)),
        ]
        forced = (await chats.of(session_id, StepStarted))[2]
        assert forced.plan.predicted_loss == ack.tokens
        assert forced.plan.declared == ("read",)
        assert (await chats.of(session_id, StepFinished))[2].cache.cause == "user"


async def test_it_survives_a_restart(tmp_path: Path) -> None:  # C4
    async with opened(tmp_path, *_scripts(), tools=_tools()) as chats:
        session_id = await _with_dead_weight(chats)
        await _force(chats, session_id)
    async with opened(tmp_path, MISSED, READ, tools=_tools()) as chats:
        assert await _waits(chats, session_id)
        await chats.said("three", session_id)
        await chats.said("four", session_id)
        assert (await _plans(chats, session_id))[2:] == [("forced", 2), ("unchanged", 2)]


async def test_two_tabs_that_force_at_once_rebase_once(tmp_path: Path) -> None:  # C4, T8
    async with opened(tmp_path, *_scripts(MISSED, READ), tools=_tools()) as chats:
        session_id = await _with_dead_weight(chats)
        one, two = await asyncio.gather(_force(chats, session_id), _force(chats, session_id))
        assert (one.tokens, one.saved_tokens) == (two.tokens, two.saved_tokens)
        assert [notice.code for notice in await chats.of(session_id, Notice)].count(FORCED) == 1
        await chats.said("three", session_id)
        await chats.said("four", session_id)
        assert (await _plans(chats, session_id))[2:] == [("forced", 2), ("unchanged", 2)]


async def test_a_running_turn_rebases_with_its_next_request(tmp_path: Path) -> None:  # C4
    gate = Gate()
    scripts = _scripts((gate, *call(use("read"))), MISSED, READ)
    async with opened(tmp_path, *scripts, tools=_tools()) as chats:
        session_id = await _with_dead_weight(chats)
        await chats.say("three", session_id)
        await gate.reached()
        await _force(chats, session_id)
        gate.open()
        await chats.until(session_id, TurnFinished, 3)
        await chats.rest(session_id)
        await chats.said("four", session_id)
        assert (await _plans(chats, session_id))[2:] == [("unchanged", 1), ("forced", 2), ("unchanged", 2)]


async def test_before_the_first_request_there_is_nothing_to_declare_anew(tmp_path: Path) -> None:  # C4
    async with opened(tmp_path, MISSED, tools=_tools()) as chats:
        session_id = await chats.draft()
        ack = await _force(chats, session_id)
        assert (ack.tokens, ack.cost, ack.reason) == (0, 0.0, "first_request")
        assert not await _waits(chats, session_id)
        await chats.said("one", session_id)
        assert await _plans(chats, session_id) == [("first_request", 1)]
