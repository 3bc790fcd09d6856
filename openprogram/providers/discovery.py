"""Which endpoints there are: from environment variables and from the `[endpoints.NAME]` tables of `config.toml`.

Pure: both come in as values. What cannot be used is a `ConfigError` whose `field` is the path of the key at fault;
nothing is guessed, skipped or half-read.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from openprogram.core.errors import ConfigError
from openprogram.core.prompt import Api
from openprogram.core.usage import Price
from openprogram.providers.capabilities import HOSTED_SEARCH, SPOKEN
from openprogram.providers.config import NAME, EndpointConfig, ModelEntry
from openprogram.providers.hosts import Quirks, host_of, quirks_of
from openprogram.providers.tables import (
    EndpointTable,
    ModelTable,
    PriceTable,
    QuirksTable,
    read_endpoint,
    read_variables,
)

_BEDROCK: Final = ".amazonaws.com"

_ENVIRONMENT: Final[tuple[tuple[str, Api, str, str, str], ...]] = (
    ("anthropic", "anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    ("openai", "openai-chat", "OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1"),
)


def discover(environ: Mapping[str, str], tables: Mapping[str, object]) -> tuple[EndpointConfig, ...]:
    """All endpoints: those of the configuration in its order, then those that the environment alone defines.

    `tables` is the parsed `endpoints` table. An endpoint `anthropic` or `openai` in it stands in for the environment's.
    Raises `ConfigError`.
    """
    configured = tuple(_from_table(name, table, environ) for name, table in tables.items())
    taken = {endpoint.name for endpoint in configured}
    return configured + tuple(found for found in _from_environment(environ) if found.name not in taken)


def _from_environment(environ: Mapping[str, str]) -> tuple[EndpointConfig, ...]:
    found = []
    for name, api, key_variable, url_variable, official in _ENVIRONMENT:
        key, url = environ.get(key_variable, "").strip(), environ.get(url_variable, "").strip()
        if not key and not url:
            continue
        values = read_variables(
            {"key": key or None, "base_url": url or None}, {"key": key_variable, "base_url": url_variable}
        )
        base_url = _url_for(api, values.base_url or official)
        source = key_variable if key else url_variable
        found.append(EndpointConfig(name=name, api=api, base_url=base_url, key=values.key, source=source))
    return tuple(found)


def _from_table(name: str, table: object, environ: Mapping[str, str]) -> EndpointConfig:
    path = f"endpoints.{name}"
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"The endpoint name {name!r} cannot be used.",
            field=path,
            hint="Use at most 40 lower-case letters, digits, - and _, beginning with a letter or digit.",
        )
    values = read_endpoint(table, path)
    base_url = _url_for(values.api, values.base_url)
    if values.strategy is not None and values.strategy not in SPOKEN[values.api]:
        raise ConfigError(
            f"{path}.strategy: {values.strategy} does not exist in the API {values.api}.",
            field=f"{path}.strategy",
            hint=f"There are {', '.join(sorted(SPOKEN[values.api]))}.",
        )
    if values.cache_diagnosis and values.api == "openai-chat":
        raise _not_offered(values, f"{path}.cache_diagnosis", "no diagnosis of its cache")
    if values.web_search == "hosted" and (values.api not in HOSTED_SEARCH or host_of(base_url).endswith(_BEDROCK)):
        raise _not_offered(values, f"{path}.web_search", "no web search of its own")
    return EndpointConfig(
        name=name,
        api=values.api,
        base_url=base_url,
        key=_key(values, environ, path),
        models=tuple(_model(entry) for entry in values.models),
        strategy=values.strategy,
        context_window=values.context_window,
        max_output_tokens=values.max_output_tokens,
        price=_price(values.price),
        cache_ttl_s=values.cache_ttl_s,
        stall_timeout_s=values.stall_timeout_s,
        hosted_search=values.web_search == "hosted",
        cache_diagnosis=values.cache_diagnosis,
        quirks=None if values.quirks is None else _quirks(values.quirks, base_url),
    )


def _not_offered(values: EndpointTable, where: str, what: str) -> ConfigError:
    at = f"the API {values.api}" if values.api == "openai-chat" else host_of(values.base_url)
    hint = "anthropic (not at Amazon) and openai-responses do; leave it out for the program's own search."
    return ConfigError(f"{where}: {at} has {what}.", field=where, hint=hint)


def _url_for(api: Api, url: str) -> str:
    """The Messages API adds `/v1` by itself; people write it all the same."""
    return url.removesuffix("/v1") if api == "anthropic" else url


def _key(values: EndpointTable, environ: Mapping[str, str], path: str) -> str | None:
    variable = values.key_env
    if variable is None:
        return values.key
    where = f"{path}.key_env"
    if values.key is not None:
        raise ConfigError(f"{where} and {path}.key are both set; keep one of them.", field=where)
    found = environ.get(variable, "").strip()
    if not found:
        raise ConfigError(
            f"{where} names the environment variable {variable}, which is not set.",
            field=where,
            hint=f"Set {variable} before starting, or write the key into {path}.key.",
        )
    return read_variables({"key": found}, {"key": variable}).key


def _model(entry: str | ModelTable) -> ModelEntry:
    if isinstance(entry, str):
        return ModelEntry(entry)
    price = _price(entry.price)
    return ModelEntry(entry.id, entry.title, entry.context_window, entry.max_output_tokens, price, entry.images)


def _price(table: PriceTable | None) -> Price | None:
    if table is None:
        return None
    read, short, long = (
        table.input if rate is None else rate for rate in (table.cache_read, table.cache_write_5m, table.cache_write_1h)
    )
    return Price(table.input, table.output, read, short, long)


def _quirks(table: QuirksTable, base_url: str) -> Quirks:
    return replace(quirks_of(base_url), **table.model_dump(exclude_none=True))
