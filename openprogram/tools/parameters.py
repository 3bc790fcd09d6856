"""A function's signature as JSON Schema, and JSON arguments as typed parameters.

The schema is draft 2020-12 in one fixed form: keywords in a fixed order, no titles, no references, `Literal` as `enum`,
a parameter that may be left out as not required. An optional parameter whose default is None is shown without its null:
leaving it out says the same in fewer tokens.

Arguments are read the way pydantic's lax mode reads them: `"5"` is an integer where one is wanted, `5` is no string.
Two habits of models are forgiven as well: null for a parameter that may be left out means its default, and an array or
object sent as a string of JSON is taken for what it holds. A name that is no parameter is refused.
"""

import inspect
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError

from openprogram.core.errors import BadArguments, BadJson
from openprogram.core.jsonio import JsonObject, JsonValue, decode, encode, no_number

_KEYWORD_ORDER: Final = (
    "type",
    "description",
    "enum",
    "default",
    "anyOf",
    "oneOf",
    "allOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
)
_DROPPED: Final = frozenset({"title", "$defs", "discriminator"})
_MAX_FAULTS: Final = 5
_MAX_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool: how to read it, what the model is told of it."""

    name: str
    schema: JsonObject
    required: bool
    nullable: bool
    container: bool
    adapter: TypeAdapter[Any]


def read_parameters(
    signature: inspect.Signature, hints: dict[str, Any], descriptions: dict[str, str]
) -> tuple[Parameter, ...]:
    """The parameters after the first (the context), in order.

    Raises `ValueError` for what a model could not be told or could not send: no type, no description, `*args`, a type
    without JSON form, a default that is not of the type.
    """
    parameters = tuple(signature.parameters.values())[1:]
    names = [parameter.name for parameter in parameters]
    strangers = [name for name in descriptions if name not in names]
    if strangers:
        raise ValueError(f"Args describes `{strangers[0]}`, which is no parameter")
    return tuple(_read(parameter, hints, descriptions) for parameter in parameters)


def object_schema(parameters: tuple[Parameter, ...]) -> JsonObject:
    """The schema of the whole arguments object. Nothing beyond the parameters is allowed."""
    schema: JsonObject = {"type": "object", "properties": {p.name: p.schema for p in parameters}}
    required: list[JsonValue] = [p.name for p in parameters if p.required]
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return schema


def bind(tool: str, parameters: tuple[Parameter, ...], arguments: JsonObject) -> dict[str, Any]:
    """Typed keyword arguments for the function; what was left out is left to its defaults.

    Raises `BadArguments` naming each faulty argument and what was expected of it.
    """
    known = {parameter.name for parameter in parameters}
    listing = ", ".join(p.name for p in parameters) or "none"
    faults = [(name, f"there is no such argument (there are: {listing})") for name in arguments if name not in known]
    bound: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name not in arguments:
            if parameter.required:
                faults.append((parameter.name, f"missing; it is required ({_expected(parameter)})"))
            continue
        value = arguments[parameter.name]
        if value is None and not parameter.required and not parameter.nullable:
            continue
        try:
            bound[parameter.name] = _convert(parameter, value)
        except ValidationError as error:
            faults.extend(_faults(parameter, value, error))
    if faults:
        lines = [f"- {path[:_MAX_SHOWN]}: {text}" for path, text in faults[:_MAX_FAULTS]]
        if len(faults) > _MAX_FAULTS:
            lines.append(f"- and {len(faults) - _MAX_FAULTS} more")
        message = f"The arguments do not fit `{tool}`; nothing was done.\n" + "\n".join(lines)
        raise BadArguments(message, field=faults[0][0])
    return bound


def _read(parameter: inspect.Parameter, hints: dict[str, Any], descriptions: dict[str, str]) -> Parameter:
    name = parameter.name
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise ValueError(f"`{name}` cannot be given by name; a model names every argument")
    if name not in hints:
        raise ValueError(f"`{name}` has no type")
    if not descriptions.get(name):
        raise ValueError(f"`{name}` is not described under Args in the docstring")
    required = parameter.default is parameter.empty
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hints[name])
        raw = adapter.json_schema()
        if not required:
            adapter.validate_python(parameter.default, strict=True)
    except (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema) as error:
        raise ValueError(f"`{name}` has a type without a JSON form: {hints[name]!r}") from error
    except ValidationError as error:
        raise ValueError(f"the default of `{name}` is not of its type: {parameter.default!r}") from error
    schema = _tidy(raw, raw.get("$defs", {}), ())
    nullable = _accepts_null(schema)
    if not required and parameter.default is None:
        schema = _without_null(schema)
    schema["description"] = descriptions[name]
    if not required and parameter.default is not None:
        schema["default"] = adapter.dump_python(parameter.default, mode="json")
    if (path := no_number(schema)) is not None:
        raise ValueError(f"the schema of `{name}` has NaN or an infinity at {path}, which JSON cannot hold")
    schema = _ordered(schema)
    container = schema.get("type") in ("array", "object")
    return Parameter(name, schema, required, nullable, container, adapter)


def _tidy(schema: dict[str, Any], definitions: dict[str, Any], seen: tuple[str, ...]) -> dict[str, Any]:
    """One schema in the fixed form, references replaced by what they refer to."""
    reference = schema.get("$ref")
    if reference is not None:
        if reference in seen:
            raise ValueError("a type that contains itself cannot be declared; take dict[str, Any]")
        target = definitions[reference.rsplit("/", 1)[-1]]
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        return _tidy({**target, **siblings}, definitions, (*seen, reference))
    out: dict[str, Any] = {}
    for key, value in schema.items():
        match key:
            case _ if key in _DROPPED:
                continue
            case "const":
                out["enum"] = [value]
            case "properties":
                out[key] = {name: _tidy(item, definitions, seen) for name, item in value.items()}
            case "anyOf" | "oneOf" | "allOf" | "prefixItems":
                out[key] = [_tidy(item, definitions, seen) for item in value]
            case "items" | "additionalProperties" if isinstance(value, dict):
                out[key] = _tidy(value, definitions, seen)
            case _:
                out[key] = value
    return _ordered(out)


def _ordered(schema: dict[str, Any]) -> dict[str, Any]:
    first = [key for key in _KEYWORD_ORDER if key in schema]
    rest = sorted(key for key in schema if key not in _KEYWORD_ORDER)
    return {key: schema[key] for key in (*first, *rest)}


def _accepts_null(schema: dict[str, Any]) -> bool:
    return not schema or schema.get("type") == "null" or any(map(_accepts_null, schema.get("anyOf", ())))


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    branches = [branch for branch in schema.get("anyOf", ()) if branch != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    match branches:
        case []:
            return schema
        case [only]:
            return {**only, **rest}
        case _:
            return {"anyOf": branches, **rest}


def _convert(parameter: Parameter, value: JsonValue) -> Any:
    """Read one argument; a string where an array or object belongs may hold its JSON."""
    try:
        return parameter.adapter.validate_python(value)
    except ValidationError:
        if not parameter.container or not isinstance(value, str):
            raise
        try:
            held = decode(value)
        except BadJson:
            held = value
        return parameter.adapter.validate_python(held)


def _faults(parameter: Parameter, value: JsonValue, error: ValidationError) -> list[tuple[str, str]]:
    shown = encode(value).decode()
    got = shown if len(shown) <= _MAX_SHOWN else shown[: _MAX_SHOWN - 1] + "…"
    return [
        (".".join(map(str, (parameter.name, *item["loc"]))), f"{item['msg']} (got {got})")
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    ]


def _expected(parameter: Parameter) -> str:
    kind = parameter.schema.get("type")
    return str(kind) if kind is not None else encode(parameter.schema.get("anyOf") or "any value").decode()
