"""The price of a switch before it is flipped: what is stated is what then happens (spec cache.md C19)."""

from pathlib import Path
from typing import Any, cast

from openprogram.core.events import StepFinished
from openprogram.core.protocol.frames import PreviewAck
from openprogram.core.tooling import Preset
from openprogram.core.usage import Usage
from tests.support.agent import FakeTool
from tests.support.script import say
from tests.support.sessions import Chats, opened

FEW = Preset("few", "Few", "Only one.", entries=("read",))


async def preview(chats: Chats, session_id: str, toggle: str, **fields: Any) -> PreviewAck:
    """What a switch would cost."""
    return cast(PreviewAck, await chats.do("preview_toggle", session_id=session_id, toggle=toggle, **fields))


async def test_a_tool_that_joins_the_array_costs_the_prompt_and_one_that_leaves_nothing(tmp_path: Path) -> None:
    """Where no tool finds others, a switch that brings one declares it: the one switch that is not free on `append`."""
    scripts = [
        say("Hi.", usage=Usage(uncached=500, cache_read=0, output=5)),
        say("Hi.", usage=Usage(uncached=520, cache_read=0, output=5)),
        say("Hi.", usage=Usage(uncached=20, cache_read=520, output=5)),
    ]
    tools = [FakeTool("read"), FakeTool("grep")]
    async with opened(tmp_path, *scripts, tools=tools, presets=[FEW]) as chats:
        session_id = await chats.draft()
        await chats.patch("set_tools_profile", session_id, toolset="few")
        await chats.said("one", session_id)
        price = await preview(chats, session_id, "set_tools_profile", toolset="full")
        assert (price.tokens, price.reason, price.cost) == (500, "added", None)
        assert (await preview(chats, session_id, "toggle_web_search", value=False)).tokens == 0
        await chats.patch("set_tools_profile", session_id, toolset="full")
        await chats.said("two", session_id)
        missed = (await chats.of(session_id, StepFinished))[-1].cache
        assert (missed.missed, missed.cause) == (price.tokens, "toggle")
        away = await preview(chats, session_id, "set_tools_profile", toolset="few")
        assert (away.tokens, away.cost, away.withdrawn) == (0, 0.0, ("grep",))
        before = await chats.log(session_id)
        assert (await preview(chats, session_id, "pick_tools", tools=["read"])).withdrawn == ("grep",)
        assert await chats.log(session_id) == before, "looking changed something"


async def test_a_cause_is_known_over_a_restart(tmp_path: Path) -> None:  # C18
    scripts = [say("Hi.", usage=Usage(uncached=500, cache_read=0, output=5))]
    async with opened(tmp_path, *scripts, tools=[FakeTool("read")]) as chats:
        session_id = await chats.said("one")
    scripts = [say("Hi.", usage=Usage(uncached=20, cache_read=500, output=5))]
    async with opened(tmp_path, *scripts, tools=[FakeTool("read")]) as chats:
        await chats.said("two", session_id)
        verdict = (await chats.of(session_id, StepFinished))[-1].cache
        assert (verdict.read, verdict.missed, verdict.cause) == (500, 0, None)
        assert [record.kept > 0 for record in await chats.store.sent(session_id)] == [False, True]
    scripts = [say("Hi.", usage=Usage(uncached=540, cache_read=0, output=5))]
    async with opened(tmp_path, *scripts, tools=[FakeTool("read", description="Another text.")]) as chats:
        await chats.said("three", session_id)
        verdict = (await chats.of(session_id, StepFinished))[-1].cache
        assert (verdict.missed, verdict.cause) == (520, "provider")  # a new text waits for the next rebase
