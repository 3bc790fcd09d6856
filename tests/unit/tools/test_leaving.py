"""A plug-in's call that does not end when it is told to is left behind and named (spec protocol.md P7)."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from openprogram.core.asking import Answer
from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import CallPreview, ToolContext, ToolLimits, ToolOutput
from openprogram.tools.leaving import LeftBehind
from openprogram.tools.wrap import wrap
from tests.support.tools import Person, Switches, context, spec

AT_ONCE = 0.0
LONG = 3600.0


class Deaf:
    """Work that swallows every cancellation until the test lets it end."""

    def __init__(self) -> None:
        self.begun, self.end, self.told_to_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __call__(self, arguments: JsonObject, context: ToolContext) -> ToolOutput:
        self.begun.set()
        while not self.end.is_set():
            try:
                await self.end.wait()
            except asyncio.CancelledError:
                self.told_to_end.set()
        context.output("late")
        return ToolOutput.text("late")


def _called(
    execute: Callable[[JsonObject, ToolContext], Awaitable[ToolOutput]],
    left: LeftBehind,
    folder: Path,
    **fields: object,
) -> "asyncio.Task[ToolOutput]":
    made = wrap(spec("deaf", source="plugin:sea", execute=execute, **fields), Switches("auto"), Person(), left)
    return asyncio.ensure_future(made.execute({}, context(folder)))


async def test_a_call_that_swallows_its_cancellation_is_left_and_the_log_names_the_plug_in(tmp_path: Path) -> None:
    deaf, left = Deaf(), LeftBehind(AT_ONCE)
    with capture_logs() as logs:
        call = _called(deaf, left, tmp_path)
        await deaf.begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert len(left) == 1
        deaf.end.set()
        await left.over()
    told = [(line["event"], line.get("source")) for line in logs]
    assert told == [("tool_left_behind", "plugin:sea"), ("left_tool_ended", None)]


async def test_nothing_that_was_left_shows_anything_in_the_chat_any_more(tmp_path: Path) -> None:
    deaf, left, shown = Deaf(), LeftBehind(AT_ONCE), list[str]()
    made = left.watched(spec("deaf", source="plugin:sea", execute=deaf))
    call = asyncio.ensure_future(made.execute({}, ToolContext("s_1", "t_1", "c_1", tmp_path, shown.append)))
    await deaf.begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    deaf.end.set()
    await left.over()
    assert shown == []


async def test_a_time_limit_holds_for_a_call_that_does_not_listen(tmp_path: Path) -> None:
    deaf, left = Deaf(), LeftBehind(AT_ONCE)
    with pytest.raises(ToolFailure, match="did not finish within"):
        await _called(deaf, left, tmp_path, limits=ToolLimits(timeout_s=0.01))
    assert deaf.told_to_end.is_set()
    deaf.end.set()
    await left.over()


async def test_what_cleans_up_in_time_is_waited_for_and_keeps_its_result(tmp_path: Path) -> None:
    begun, left = asyncio.Event(), LeftBehind(LONG)

    async def tidy(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        try:
            begun.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return ToolOutput.text("as far as it came")

    call = _called(tidy, left, tmp_path)
    await begun.wait()
    call.cancel()
    assert await call == ToolOutput.text("as far as it came")
    assert len(left) == 0


async def test_what_ends_when_told_to_is_cancelled_and_a_failure_stays_a_failure(tmp_path: Path) -> None:
    begun, left = asyncio.Event(), LeftBehind(LONG)

    async def polite(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def fails(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        raise ToolFailure("no tide")

    call = _called(polite, left, tmp_path)
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    with pytest.raises(ToolFailure, match="no tide"):
        await _called(fails, left, tmp_path)
    assert len(left) == 0


async def test_a_second_end_waits_for_no_grace(tmp_path: Path) -> None:
    deaf, left = Deaf(), LeftBehind(LONG)
    call = _called(deaf, left, tmp_path)
    await deaf.begun.wait()
    call.cancel()
    await deaf.told_to_end.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert len(left) == 1
    deaf.end.set()
    await left.over()


async def test_a_preview_that_does_not_listen_is_left_too(tmp_path: Path) -> None:
    deaf, left = Deaf(), LeftBehind(AT_ONCE)

    async def preview(arguments: JsonObject, context: ToolContext) -> CallPreview:
        await deaf(arguments, context)
        return CallPreview("call", "never seen")

    made = spec("deaf", source="plugin:sea", permission="write", preview=preview)
    tool = wrap(made, Switches("ask"), Person(Answer("once")), left)
    call = asyncio.ensure_future(tool.execute({}, context(tmp_path)))
    await deaf.begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    deaf.end.set()
    await left.over()


def test_the_programs_own_tools_end_by_themselves() -> None:
    own = spec("read")
    assert LeftBehind().watched(own) is own
