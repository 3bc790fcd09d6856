import asyncio
from pathlib import Path

import pytest

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.tools.timeout import with_timeout
from tests.support.tools import context, echo


async def test_a_call_in_time_is_untouched(tmp_path: Path) -> None:
    assert await with_timeout(echo, 60)({}, context(tmp_path)) == ToolOutput.text("{}")


async def test_a_call_that_waits_for_a_person_has_no_limit(tmp_path: Path) -> None:
    assert await with_timeout(echo, None)({}, context(tmp_path)) == ToolOutput.text("{}")


async def test_cleanup_is_done_before_the_failure_is_told(tmp_path: Path) -> None:
    cleaned = []

    async def hang(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)
        raise AssertionError

    with pytest.raises(ToolFailure, match=r"within 0\.01 s"):
        await with_timeout(hang, 0.01)({}, context(tmp_path))
    assert cleaned == [True]


async def test_a_timeout_of_the_tools_own_is_not_ours(tmp_path: Path) -> None:
    async def fails(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        raise TimeoutError("the server did not answer")

    with pytest.raises(TimeoutError, match="did not answer"):
        await with_timeout(fails, 60)({}, context(tmp_path))


async def test_cancelling_from_outside_stays_a_cancellation(tmp_path: Path) -> None:
    started = asyncio.Event()

    async def hang(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    task = asyncio.ensure_future(with_timeout(hang, 60)({}, context(tmp_path)))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
