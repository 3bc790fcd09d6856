"""The shape of an `[endpoints.NAME]` table, checked by pydantic; a mistake becomes a `ConfigError` with its path."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

from openprogram.core.errors import ConfigError
from openprogram.core.surface import Strategy


def _base_url(value: str) -> str:
    """A URL that paths can be added to, without the slash at its end."""
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"is not a URL: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must begin with http:// or https:// and name a host")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("must hold no user name, ? or #; credentials belong into key or key_env")
    return value.rstrip("/")


def _key(value: str) -> str:
    """A secret that can stand in an HTTP header."""
    if not (value.isascii() and value.isprintable() and " " not in value):
        raise ValueError("holds a character that no key has (a space, a line break, a letter beyond ASCII)")
    return value


_CONFIG: Final = ConfigDict(
    extra="forbid", frozen=True, strict=True, str_strip_whitespace=True, hide_input_in_errors=True
)

BaseUrl = Annotated[str, AfterValidator(_base_url)]
Key = Annotated[str, Field(min_length=1), AfterValidator(_key)]
Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(gt=0)]
Rate = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class PriceTable(BaseModel):
    """US dollars per million tokens. Cache rates that are not given are those of plain input."""

    model_config = _CONFIG
    input: Rate
    output: Rate
    cache_read: Rate | None = None
    cache_write_5m: Rate | None = None
    cache_write_1h: Rate | None = None


class ModelTable(BaseModel):
    """One model with settings of its own."""

    model_config = _CONFIG
    id: Name
    title: Name | None = None
    context_window: Count | None = None
    max_output_tokens: Count | None = None
    price: PriceTable | None = None
    images: bool | None = None


def _entry_kind(entry: object) -> str:
    return "name" if isinstance(entry, str) else "table"


ModelItem = Annotated[Annotated[Name, Tag("name")] | Annotated[ModelTable, Tag("table")], Discriminator(_entry_kind)]
"""A model's name, or a table with it."""


class QuirksTable(BaseModel):
    """What to change of `hosts.Quirks`."""

    model_config = _CONFIG
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    developer_role: bool | None = None
    cache_key: bool | None = None
    stream_usage: bool | None = None
    effort: bool | None = None
    return_reasoning: bool | None = None
    call_id_chars: Count | None = None


class EndpointTable(BaseModel):
    """One endpoint."""

    model_config = _CONFIG
    api: Literal["anthropic", "openai-responses", "openai-chat"]
    base_url: BaseUrl
    key: Key | None = None
    key_env: Name | None = None
    models: list[ModelItem] = []
    strategy: Strategy | None = None
    context_window: Count | None = None
    max_output_tokens: Count | None = None
    price: PriceTable | None = None
    cache_ttl_s: Seconds | None = None
    stall_timeout_s: Seconds = 300.0
    web_search: Literal["own", "hosted"] = "own"
    cache_diagnosis: bool | None = None
    quirks: QuirksTable | None = None


class VariablesTable(BaseModel):
    """Key and base URL of one API as the environment gives them."""

    model_config = _CONFIG
    key: Key | None = None
    base_url: BaseUrl | None = None


def read_endpoint(table: object, path: str) -> EndpointTable:
    """The table at `path`. Raises `ConfigError`."""
    try:
        return EndpointTable.model_validate(table)
    except ValidationError as error:
        raise _config_error(error, path, EndpointTable) from error


def read_variables(values: Mapping[str, str | None], names: Mapping[str, str]) -> VariablesTable:
    """Values of environment variables; `names` says which variable each came from. Raises `ConfigError`."""
    try:
        return VariablesTable.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        variable = names[str(first["loc"][0])]
        raise ConfigError(f"{variable} {_message(first['type'], first['msg'])}.", field=variable) from error


def _config_error(error: ValidationError, path: str, model: type[BaseModel]) -> ConfigError:
    """The first mistake, for people. pydantic's `loc` names the branch of `ModelItem` too, which is no key."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = path
    for part in first["loc"]:
        if isinstance(part, int):
            where += f"[{part}]"
        elif not where.endswith("]") or part not in ("name", "table"):
            where += f".{part}"
    hint = None
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        hint = f"Known settings: {', '.join(model.model_fields)}."
    return ConfigError(f"{where} {_message(first['type'], first['msg'])}.", field=where, hint=hint)


def _message(kind: str, text: str) -> str:
    match kind:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a setting"
        case "model_type" | "dict_type":
            return "must be a table"
        case "value_error":
            return text.removeprefix("Value error, ")
        case _:
            return f"cannot be used: {text[:1].lower()}{text[1:]}"
