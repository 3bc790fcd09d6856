"""Arguments are checked before anyone is asked about a call."""

from typing import Final

from openprogram.core.errors import BadArguments
from openprogram.core.jsonio import JsonObject, JsonValue
from openprogram.core.tooling import Execute, ToolContext, ToolOutput, ToolSpec, Validate

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def with_validation(execute: Execute, validate: Validate) -> Execute:
    """Run only calls whose arguments fit; raises `BadArguments` for the others."""

    async def validated(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        validate(arguments)
        return await execute(arguments, context)

    return validated


def refusal_of(tool: ToolSpec, arguments: JsonObject) -> str | None:
    """Why a tool would not take these arguments, or None: by its own check, else by the plain parts of its schema.

    A call that was written without the schema goes wrong in names and plain types; that much is checked here.
    """
    if tool.validate is None:
        return _fault(tool.parameters, arguments)
    try:
        tool.validate(arguments)
    except BadArguments as error:
        return error.message
    return None


def _fault(schema: JsonObject, arguments: JsonObject) -> str | None:
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if isinstance(properties, dict) else {}
    for name in required if isinstance(required, list) else ():
        if name not in arguments:
            return f"The argument `{name}` is missing; nothing was done."
    for name, value in arguments.items():
        if name not in known and schema.get("additionalProperties") is False:
            return f"There is no argument `{name[:100]}`; nothing was done."
        if not _is_of(value, known.get(name)):
            return f"The argument `{name[:100]}` is of the wrong type; nothing was done."
    return None


def _is_of(value: JsonValue, schema: JsonValue) -> bool:
    wanted = schema.get("type") if isinstance(schema, dict) else None
    names = wanted if isinstance(wanted, list) else [wanted]
    allowed = [_TYPES.get(name) for name in names if isinstance(name, str)]
    if not allowed or None in allowed:
        return True
    if isinstance(value, bool):
        return (bool,) in allowed
    if isinstance(value, float) and value.is_integer() and (int,) in allowed:
        return True
    return any(kinds is not None and isinstance(value, kinds) for kinds in allowed)
