"""The price of a message before it is sent: what is stated is what the ledger then counts (spec cache.md C19)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from openprogram.core.compaction import Compacted
from openprogram.core.events import StepFinished
from openprogram.core.protocol.frames import PreviewAck
from openprogram.core.protocol.price_frames import ModelPricesAck, Reread, SendPreviewAck
from openprogram.core.tooling import AgentProfile
from openprogram.core.usage import CacheRules, Usage
from tests.support.agent import NOON, FakeTool
from tests.support.script import MODEL, Script, say
from tests.support.sent import PRICE
from tests.support.sessions import EVERYTHING, Chats, opened

LONG = 84_000
ANSWER = 1_000
NOTHING = Reread(tokens=0, cost=0.0)
CACHED = CacheRules(ttl_s=300.0)
PRICED = replace(MODEL, price=PRICE, caching=CACHED)
OTHER = replace(MODEL, id="fake/other", model="other", price=replace(PRICE, input=3.0, cache_write_5m=3.0))


class Watch:
    """The time, as the test moves it."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


def wrote(prompt: int) -> Script:
    """An answer whose prompt was written to the cache."""
    return say("Yes.", usage=Usage(uncached=0, cache_read=0, cache_write_5m=prompt, output=ANSWER))


def read(prompt: int, more: int) -> Script:
    """An answer whose prompt was read from the cache but for its newest tokens."""
    return say("Yes.", usage=Usage(uncached=0, cache_read=prompt, cache_write_5m=more, output=ANSWER))


@asynccontextmanager
async def priced(
    folder: Path, watch: Watch, *scripts: Script, profile: AgentProfile = EVERYTHING
) -> AsyncIterator[Chats]:
    """Chats on a model with a price, beside another one."""
    async with opened(folder, *scripts, tools=[FakeTool("read")], clock=watch, profile=profile) as chats:
        chats.catalog.model, chats.catalog.others = PRICED, (OTHER,)
        yield chats


async def preview(chats: Chats, session_id: str) -> SendPreviewAck:
    """What the next message would cost."""
    return cast(SendPreviewAck, await chats.do("preview_send", session_id=session_id))


async def models(chats: Chats, session_id: str) -> dict[str, Reread]:
    """What it would read anew at each model."""
    ack = cast(ModelPricesAck, await chats.do("preview_models", session_id=session_id))
    return {price.model: price.reread for price in ack.prices}


def whole(rate: float) -> Reread:
    """All of the long prompt, at so many dollars per million."""
    return Reread(tokens=LONG, cost=LONG * rate / 1_000_000, costly=True)


async def test_a_chat_resumed_after_its_cache_expired_says_what_the_next_message_costs_before_it_is_sent(
    tmp_path: Path,
) -> None:  # report 39
    watch = Watch()
    async with priced(tmp_path, watch, wrote(LONG), wrote(LONG + ANSWER + 10)) as chats:
        session_id = await chats.said("a long story")
        warm = await preview(chats, session_id)
        assert (warm.state, warm.reason, warm.now) == ("warm", "unchanged", NOTHING)
        assert (warm.warm_until, warm.warm_s, warm.once_cold) == ("2026-01-01T12:05:00.000Z", 300.0, whole(12.5))
        assert warm.input_cost == (LONG * 1.0 + ANSWER * 12.5) / 1_000_000
        watch.now += 301
        cold = await preview(chats, session_id)
        assert (cold.state, cold.reason, cold.warm_until) == ("cold", "cold", None)
        assert cold.now == cold.once_cold == whole(12.5)
        assert cold.input_cost == (LONG + ANSWER) * 12.5 / 1_000_000
        await chats.said("and now", session_id)
        missed = (await chats.of(session_id, StepFinished))[-1].cache
        assert (missed.missed, missed.cause) == (cold.now.tokens, "ttl")
        assert (await preview(chats, session_id)).now == NOTHING


async def test_the_price_is_known_over_a_restart(tmp_path: Path) -> None:  # report 39
    watch = Watch()
    async with priced(tmp_path, watch, wrote(LONG)) as chats:
        session_id = await chats.said("a long story")
    watch.now += 86_400
    async with priced(tmp_path, watch) as chats:
        assert (await preview(chats, session_id)).now == whole(12.5)


async def test_another_model_reads_all_anew_and_going_back_reads_nothing(tmp_path: Path) -> None:
    watch = Watch()
    async with priced(tmp_path, watch, wrote(LONG), wrote(LONG + 1_010)) as chats:
        session_id = await chats.said("a long story")
        assert await models(chats, session_id) == {PRICED.id: NOTHING, OTHER.id: whole(3.0)}
        switch = await chats.do("preview_toggle", session_id=session_id, toggle="set_model", model=OTHER.id)
        assert isinstance(switch, PreviewAck)
        assert (switch.tokens, switch.cost, switch.costly) == (LONG, whole(3.0).cost, True)
        await chats.do("set_model", session_id=session_id, model=OTHER.id)
        ahead = await preview(chats, session_id)
        assert (ahead.model, ahead.reason, ahead.state, ahead.now) == (OTHER.id, "model_changed", "cold", whole(3.0))
        await chats.said("go on", session_id)
        assert (await models(chats, session_id))[PRICED.id].tokens == 1_010
        watch.now += 301
        assert (await models(chats, session_id))[PRICED.id].tokens == LONG + 1_010


async def test_another_directory_costs_nothing(tmp_path: Path) -> None:
    watch = Watch()
    async with priced(tmp_path, watch, wrote(LONG)) as chats:
        session_id = await chats.said("a long story")
        await chats.do("set_workspace", session_id=session_id, workspace=str(tmp_path))
        ahead = await preview(chats, session_id)
        assert (ahead.reason, ahead.state, ahead.now) == ("unchanged", "warm", NOTHING)


async def test_other_instructions_read_anew_what_stands_behind_the_tools(tmp_path: Path) -> None:
    watch = Watch()
    async with priced(tmp_path, watch, wrote(LONG)) as chats:
        session_id = await chats.said("a long story")
    async with priced(tmp_path, watch, profile=replace(EVERYTHING, instructions="Speak like a pirate.")) as chats:
        ahead = await preview(chats, session_id)
        assert (ahead.reason, ahead.state, ahead.now.costly) == ("system_changed", "warm", True)
        assert ahead.now.tokens is not None
        assert LONG - 2_000 < ahead.now.tokens <= LONG, "the few tools alone may stay"


async def test_another_branch_reads_anew_what_it_does_not_share(tmp_path: Path) -> None:
    watch = Watch()
    async with priced(tmp_path, watch, wrote(LONG), read(LONG, 30_000), read(LONG, 50)) as chats:
        session_id = await chats.said("a long story")
        await chats.said("and a longer one", session_id)
        longer = (await chats.row(session_id)).info.leaf_id
        second = (await chats.branch(session_id))[-2].id
        watch.now += 200
        await chats.do("edit_message", session_id=session_id, message_id=second, text="or a short one")
        await chats.until(session_id, StepFinished, 3)
        await chats.rest(session_id)
        assert (await preview(chats, session_id)).now == NOTHING
        await chats.do("select_branch", session_id=session_id, message_id=longer)
        assert (await preview(chats, session_id)).now == NOTHING, "what it does not share was read in time too"
        watch.now += 101
        ahead = await preview(chats, session_id)
        assert (ahead.reason, ahead.state, ahead.now.tokens) == ("branch", "warm", 30_000)
        watch.now += 200
        assert (await preview(chats, session_id)).reason == "cold"


async def test_what_an_endpoint_does_not_report_is_unknown_and_never_zero(tmp_path: Path) -> None:  # C17
    watch = Watch()
    silent = say("Yes.", usage=Usage(uncached=LONG, output=ANSWER))
    async with priced(tmp_path, watch, silent) as chats:
        session_id = await chats.said("a long story")
        watch.now += 301
        told = await preview(chats, session_id)
        assert (told.state, told.now, told.input_cost) == ("unknown", Reread(tokens=None, cost=None), None)


async def test_a_new_chat_has_no_price(tmp_path: Path) -> None:
    async with priced(tmp_path, Watch()) as chats:
        session_id = await chats.draft()
        told = await preview(chats, session_id)
        assert (told.state, told.reason, told.now, told.input_cost) == ("none", "first_request", NOTHING, None)
        assert await models(chats, session_id) == {PRICED.id: NOTHING, OTHER.id: NOTHING}


async def test_a_price_is_told_from_both_thresholds_on_and_by_tokens_alone_where_no_price_is_known(
    tmp_path: Path,
) -> None:
    watch = Watch()
    async with priced(tmp_path, watch, wrote(LONG)) as chats:
        session_id = await chats.said("a long story")
        watch.now += 301
        for tokens, dollars, told in ((LONG, 1.05, True), (LONG + 1, 0, False), (0, 1.06, False), (0, 0, True)):
            await chats.do("set_setting", key="costly_send", value={"tokens": tokens, "dollars": dollars})
            assert (await preview(chats, session_id)).now.costly is told, (tokens, dollars)
        chats.catalog.model = replace(PRICED, price=None)
        await chats.do("set_setting", key="costly_send", value={"tokens": LONG, "dollars": 100})
        assert (await preview(chats, session_id)).now == Reread(tokens=LONG, cost=None, costly=True)


async def test_looking_at_a_price_changes_nothing(tmp_path: Path) -> None:
    watch = Watch()
    async with priced(tmp_path, watch, wrote(LONG)) as chats:
        session_id = await chats.said("a long story")
        watch.now += 301
        before, row = await chats.log(session_id), await chats.row(session_id)
        await preview(chats, session_id)
        await models(chats, session_id)
        assert (await chats.log(session_id), await chats.row(session_id)) == (before, row)


async def test_a_summary_that_came_since_is_what_the_next_message_reads(tmp_path: Path) -> None:  # C16
    watch = Watch()
    summary = say("They spoke of the tides.", usage=Usage(uncached=0, cache_read=LONG, cache_write_5m=50, output=20))
    async with priced(tmp_path, watch, wrote(LONG), wrote(LONG), summary) as chats:
        session_id = await chats.said("a long story " * 2_000)
        await chats.said("and more", session_id)
        await chats.do("compact", session_id=session_id)
        told = await chats.until(session_id, Compacted)
        await chats.rest(session_id)
        assert told.outcome == "done"
        ahead = await preview(chats, session_id)
        assert ahead.reason == "compacted"
        assert ahead.now.tokens is not None
        assert 0 < ahead.now.tokens < LONG


async def test_every_price_behind_a_summary_is_that_of_the_summary(tmp_path: Path) -> None:  # C16, C19
    watch = Watch()
    summary = say("They spoke of the tides.", usage=Usage(uncached=0, cache_read=LONG, cache_write_5m=50, output=20))
    async with priced(tmp_path, watch, wrote(LONG), wrote(LONG), summary) as chats:
        session_id = await chats.said("a long story " * 2_000)
        await chats.said("and more", session_id)
        await chats.do("compact", session_id=session_id)
        message = (await chats.until(session_id, Compacted)).message_id
        await chats.rest(session_id)
        (told,) = [one for one in await chats.branch(session_id) if one.id == message]
        assert told.compaction is not None
        after, ahead = told.compaction.tokens_after, await preview(chats, session_id)
        assert (ahead.state, ahead.warm_until, ahead.once_cold.tokens) == ("cold", None, after)
        assert {model: price.tokens for model, price in (await models(chats, session_id)).items()} == {
            MODEL.id: after,
            OTHER.id: after,
        }
        toggles: list[dict[str, Any]] = [{"toggle": "set_tools_enabled", "value": False}, {"toggle": "force_rebase"}]
        for toggle in toggles:
            free = await chats.do("preview_toggle", session_id=session_id, **toggle)
            assert isinstance(free, PreviewAck)
            assert (free.tokens, free.cost, free.costly) == (0, 0.0, False), f"{toggle}: it is declared anew anyway"


async def test_a_switch_costs_nothing_where_the_tools_are_declared_anew_anyway(tmp_path: Path) -> None:  # C19
    async with priced(tmp_path, Watch(), wrote(LONG)) as chats:
        session_id = await chats.draft()
        await chats.patch("pick_tools", session_id, tools=())
        await chats.said("a long story", session_id)
        picked: dict[str, Any] = {"session_id": session_id, "toggle": "pick_tools", "tools": ["read"]}
        before = await chats.do("preview_toggle", **picked)
        await chats.do("force_rebase", session_id=session_id)
        after = await chats.do("preview_toggle", **picked)
        assert isinstance(before, PreviewAck)
        assert isinstance(after, PreviewAck)
        assert (before.tokens, after.tokens) == (LONG, 0)
