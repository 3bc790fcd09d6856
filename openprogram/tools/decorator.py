"""`@tool`: an async function with types and a docstring becomes a `ToolSpec`.

    @tool(permission="none", readonly=True, parallel_safe=True, presets=("coding",))
    async def read(context: ToolContext, path: str, offset: int = 1) -> str:
        \"\"\"Read a text file of the workspace.

        Args:
            path: relative to the workspace
            offset: first line to show, counted from 1
        \"\"\"

The first parameter is the call's context and is not shown to the model. A declaration that would mislead a model (no
docstring, a parameter without description, a bad name) raises `TypeError` where the module is imported.
"""

import inspect
import re
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, Final, ParamSpec, get_type_hints

from openprogram.core.jsonio import JsonObject
from openprogram.core.prompt import Residency
from openprogram.core.tooling import (
    Execute,
    Judge,
    Permission,
    Preview,
    ToolContext,
    ToolLimits,
    ToolOutput,
    ToolSpec,
    WrittenPaths,
)
from openprogram.tools.docstring import parse_docstring
from openprogram.tools.parameters import Parameter, bind, object_schema, read_parameters
from openprogram.tools.presets import BUILTIN_PRESETS

NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What every provider takes as a tool's name."""

_RETURNS: Final = (str, ToolOutput, ToolOutput | str, str | ToolOutput)

P = ParamSpec("P")
ToolFunction = Callable[Concatenate[ToolContext, P], Awaitable[ToolOutput | str]]


def tool(  # noqa: PLR0913 - one argument per field of a ToolSpec
    *,
    name: str | None = None,
    permission: Permission = "none",
    readonly: bool = False,
    parallel_safe: bool = False,
    network: bool = False,
    needs_person: bool = False,
    effect: str = "",
    writes: tuple[str, ...] | WrittenPaths = (),
    provides: tuple[str, ...] = (),
    group: str | None = None,
    presets: tuple[str, ...] = (),
    residency: Residency = "deferred",
    limits: ToolLimits = ToolLimits(),  # noqa: B008 - a frozen value
    version: str = "1",
    preview: Preview | None = None,
    judge: Judge | None = None,
) -> Callable[[ToolFunction[P]], ToolSpec]:
    """Make a `ToolSpec` of the decorated function; the fields mean what they mean there.

    `name` is the function's where it is not given. Raises `TypeError` with the function's place for a declaration
    that cannot be used.
    """

    def declare(function: ToolFunction[P]) -> ToolSpec:
        try:
            named = _name(function, name)
            description, parameters = _read(function)
            _check_flags(permission, writes, parameters, readonly=readonly)
            _check_presets(presets)
        except ValueError as error:
            raise TypeError(f"the tool {_place(function)} cannot be declared: {error}") from error
        return ToolSpec(
            name=named,
            description=description,
            parameters=object_schema(parameters),
            execute=_executor(named, function, parameters),
            readonly=readonly,
            parallel_safe=parallel_safe,
            permission=permission,
            network=network or permission == "network",
            needs_person=needs_person,
            effect=effect,
            writes=writes,
            provides=provides,
            group=group,
            presets=presets,
            residency=residency,
            limits=limits,
            version=version,
            validate=_validator(named, parameters),
            preview=preview,
            judge=judge,
        )

    return declare


def _name(function: Callable[..., Any], given: str | None) -> str:
    name = given if given is not None else function.__name__
    if not NAME.fullmatch(name):
        raise ValueError(f"the name {name!r} is not 1 to 64 of A-Z a-z 0-9 _ -")
    return name


def _read(function: Callable[..., Any]) -> tuple[str, tuple[Parameter, ...]]:
    if not inspect.iscoroutinefunction(function):
        raise ValueError("it is not `async def`; run blocking work in asyncio.to_thread")
    documentation = parse_docstring(function.__doc__ or "")
    if not documentation.description:
        raise ValueError("it has no docstring, which is what the model reads")
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise ValueError(f"the type {error.name!r} is not known at module level") from error
    signature = inspect.signature(function)
    first = next(iter(signature.parameters), "")
    if hints.get(first) is not ToolContext:
        raise ValueError("its first parameter is not a ToolContext")
    if hints.pop("return", None) not in _RETURNS:
        raise ValueError("it does not say that it returns str, ToolOutput or either")
    return documentation.description, read_parameters(signature, hints, documentation.parameters)


def _check_flags(
    permission: Permission,
    writes: tuple[str, ...] | WrittenPaths,
    parameters: tuple[Parameter, ...],
    *,
    readonly: bool,
) -> None:
    if readonly and permission in ("write", "execute"):
        raise ValueError(f"a tool with permission {permission!r} is not readonly")
    if writes and permission != "write":
        raise ValueError(f"it writes {writes!r}, so its permission is 'write'")
    if not isinstance(writes, tuple):
        return
    required = {parameter.name for parameter in parameters if parameter.required}
    optional = [name for name in writes if name not in required]
    if optional:
        raise ValueError(f"writes names {optional[0]!r}, which is no required parameter")


def _check_presets(presets: tuple[str, ...]) -> None:
    known = [preset.name for preset in BUILTIN_PRESETS]
    unknown = [name for name in presets if name not in known]
    if unknown:
        raise ValueError(f"there is no built-in preset {unknown[0]!r}; there are {', '.join(known)}")


def _executor(name: str, function: ToolFunction[P], parameters: tuple[Parameter, ...]) -> Execute:
    call: Callable[..., Awaitable[ToolOutput | str]] = function

    async def execute(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        result = await call(context, **bind(name, parameters, arguments))
        return ToolOutput.text(result) if isinstance(result, str) else result

    return execute


def _validator(name: str, parameters: tuple[Parameter, ...]) -> Callable[[JsonObject], None]:
    def validate(arguments: JsonObject) -> None:
        bind(name, parameters, arguments)

    return validate


def _place(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    where = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    return f"{getattr(function, '__name__', function)}{where}"
