"""Arguments are checked before anyone is asked about a call."""

from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import Execute, ToolContext, ToolOutput, Validate


def with_validation(execute: Execute, validate: Validate) -> Execute:
    """Run only calls whose arguments fit; raises `BadArguments` for the others."""

    async def validated(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        validate(arguments)
        return await execute(arguments, context)

    return validated
