"""No call runs for ever."""

import asyncio

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import Execute, ToolContext, ToolOutput


def with_timeout(execute: Execute, seconds: float | None) -> Execute:
    """Cancel a call after so many seconds, None for never; raises `ToolFailure` when its cleanup is done."""

    async def timed(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        scope = asyncio.timeout(seconds)
        try:
            async with scope:
                return await execute(arguments, context)
        except TimeoutError as error:
            if scope.expired():
                raise ToolFailure(f"it did not finish within {seconds or 0:g} s and was stopped") from error
            raise

    return timed
