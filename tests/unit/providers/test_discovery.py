"""Endpoints from the environment and from `config.toml`."""

import tomllib
from typing import Any

import pytest

from openprogram.core.errors import ConfigError
from openprogram.core.usage import Price
from openprogram.providers.config import EndpointConfig, ModelEntry
from openprogram.providers.discovery import discover
from openprogram.providers.hosts import Quirks

FROM_THE_SPEC = """
[endpoints.local]
api = "openai-chat"
base_url = "http://127.0.0.1:8081/v1"
key_env = "LOCAL_KEY"
models = ["some-model"]
strategy = "append"
context_window = 32768
"""


def tables(text: str) -> dict[str, Any]:
    return dict(tomllib.loads(text)["endpoints"])


def refused(text: str, environ: dict[str, str] | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        discover(environ or {}, tables(text))
    return caught.value


def test_the_example_of_the_specification() -> None:
    assert discover({"LOCAL_KEY": "abc"}, tables(FROM_THE_SPEC)) == (
        EndpointConfig(
            name="local",
            api="openai-chat",
            base_url="http://127.0.0.1:8081/v1",
            key="abc",
            models=(ModelEntry("some-model"),),
            strategy="append",
            context_window=32768,
        ),
    )


def test_nothing_configured_is_no_endpoint() -> None:
    assert discover({}, {}) == ()
    assert discover({"ANTHROPIC_API_KEY": "", "OPENAI_BASE_URL": " "}, {}) == ()


@pytest.mark.parametrize(
    ("environ", "name", "api", "base_url", "key"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, "anthropic", "anthropic", "https://api.anthropic.com", "k"),
        ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, "anthropic", "anthropic", "http://127.0.0.1:1", None),
        ({"OPENAI_API_KEY": " k\n"}, "openai", "openai-chat", "https://api.openai.com/v1", "k"),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1/"}, "openai", "openai-chat", "http://127.0.0.1:1/v1", None),
        ({"OPENAI_BASE_URL": "http://h/v1", "OPENAI_API_KEY": "k"}, "openai", "openai-chat", "http://h/v1", "k"),
    ],
)
def test_a_key_or_a_base_url_alone_is_an_endpoint(
    environ: dict[str, str], name: str, api: str, base_url: str, key: str | None
) -> None:
    [endpoint] = discover(environ, {})
    assert (endpoint.name, endpoint.api, endpoint.base_url, endpoint.key) == (name, api, base_url, key)


def test_a_configured_endpoint_stands_in_for_the_environments_of_the_same_name() -> None:
    table = {"anthropic": {"api": "anthropic", "base_url": "http://gateway", "key": "other"}}
    environ = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
    assert [(found.name, found.base_url) for found in discover(environ, table)] == [
        ("anthropic", "http://gateway"),
        ("openai", "https://api.openai.com/v1"),
    ]


def test_the_key_is_in_no_repr() -> None:
    endpoints = discover(
        {"OPENAI_API_KEY": "sk-verysecret"},
        tables(FROM_THE_SPEC.replace('key_env = "LOCAL_KEY"', 'key = "sk-verysecret"')),
    )
    assert [endpoint.key for endpoint in endpoints] == ["sk-verysecret"] * 2
    assert "verysecret" not in repr(endpoints)


def test_v1_at_the_end_of_an_anthropic_address_is_taken_off() -> None:
    [endpoint] = discover({}, {"a": {"api": "anthropic", "base_url": "http://h/v1/"}})
    assert endpoint.base_url == "http://h"


def test_models_prices_and_quirks() -> None:
    [endpoint] = discover(
        {},
        tables("""
        [endpoints.or]
        api = "openai-chat"
        base_url = "https://openrouter.ai/api/v1"
        key = "k"
        max_output_tokens = 4000
        stall_timeout_s = 60
        cache_ttl_s = 600
        models = [
            "a", { id = "b", title = "B", context_window = 9, images = true, price = { input = 1, output = 2.5 } }
        ]
        price = { input = 3, output = 15, cache_read = 0.3 }
        quirks = { developer_role = true, max_tokens_field = "max_completion_tokens" }
        """),
    )
    priced = Price(1.0, 2.5, 1.0, 1.0, 1.0)
    assert endpoint.models == (ModelEntry("a"), ModelEntry("b", "B", 9, None, priced, images=True))
    assert endpoint.price == Price(3.0, 15.0, 0.3, 3.0, 3.0)
    assert endpoint.effective_quirks == Quirks(developer_role=True, max_tokens_field="max_completion_tokens")
    assert (endpoint.max_output_tokens, endpoint.stall_timeout_s, endpoint.cache_ttl_s) == (4000, 60.0, 600.0)


HEAD = '[endpoints.x]\napi = "anthropic"\nbase_url = "http://h"\n'


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('[endpoints.x]\nbase_url = "http://h"', "endpoints.x.api"),
        ('[endpoints.x]\napi = "gopher"\nbase_url = "http://h"', "endpoints.x.api"),
        ('[endpoints.x]\napi = "openai-realtime"\nbase_url = "http://h"', "endpoints.x.api"),
        ('[endpoints.x]\napi = "anthropic"', "endpoints.x.base_url"),
        ('[endpoints.x]\napi = "anthropic"\nbase_url = "h:8081/v1"', "endpoints.x.base_url"),
        ('[endpoints.x]\napi = "anthropic"\nbase_url = "ftp://h"', "endpoints.x.base_url"),
        ('[endpoints.x]\napi = "anthropic"\nbase_url = "http://h:port"', "endpoints.x.base_url"),
        ('[endpoints.x]\napi = "anthropic"\nbase_url = "http://user:pw@h"', "endpoints.x.base_url"),
        (HEAD + 'key = "two words"', "endpoints.x.key"),
        (HEAD + 'key = "a"\nkey_env = "B"', "endpoints.x.key_env"),
        (HEAD + 'key_env = "NOT_SET"', "endpoints.x.key_env"),
        (HEAD + "contextwindow = 5", "endpoints.x.contextwindow"),
        (HEAD + "context_window = 0", "endpoints.x.context_window"),
        (HEAD + 'context_window = "5"', "endpoints.x.context_window"),
        (HEAD + 'strategy = "magic"', "endpoints.x.strategy"),
        (HEAD + 'web_search = "theirs"', "endpoints.x.web_search"),
        ('[endpoints.x]\napi = "openai-chat"\nbase_url = "http://h"\nweb_search = "hosted"', "endpoints.x.web_search"),
        (
            '[endpoints.x]\napi = "anthropic"\nbase_url = "https://x.amazonaws.com"\nweb_search = "hosted"',
            "endpoints.x.web_search",
        ),
        (
            '[endpoints.x]\napi = "openai-chat"\nbase_url = "http://h"\ncache_diagnosis = true',
            "endpoints.x.cache_diagnosis",
        ),
        (
            '[endpoints.x]\napi = "openai-chat"\nbase_url = "http://h"\nstrategy = "inline_changes"',
            "endpoints.x.strategy",
        ),
        (HEAD + 'models = "a"', "endpoints.x.models"),
        (HEAD + "models = [5]", "endpoints.x.models[0]"),
        (HEAD + 'models = ["a", {title = "A"}]', "endpoints.x.models[1].id"),
        (HEAD + 'models = [{id = "a", price = {input = -1, output = 1}}]', "endpoints.x.models[0].price.input"),
        (HEAD + "price = {input = 1}", "endpoints.x.price.output"),
        (HEAD + "quirks = {speed = true}", "endpoints.x.quirks.speed"),
        (HEAD + "stall_timeout_s = 0", "endpoints.x.stall_timeout_s"),
        ("endpoints.x = 5", "endpoints.x"),
        ('[endpoints."My Endpoint"]\napi = "anthropic"\nbase_url = "http://h"', "endpoints.My Endpoint"),
    ],
)
def test_a_mistake_is_named_by_its_path(text: str, field: str) -> None:
    error = refused(text)
    assert error.field == field
    assert field.rpartition("endpoints.")[2].split(".")[0].split("[")[0] in error.message


def test_an_unknown_setting_is_answered_with_the_known_ones() -> None:
    error = refused(HEAD + "contextwindow = 5")
    assert "context_window" in (error.hint or "")


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "OPENAI_BASE_URL"])
def test_a_mistake_in_the_environment_is_named_by_its_variable(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        discover({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://h", name: "not that one"}, {})
    assert caught.value.field == name
    assert "not that one" not in caught.value.message


def test_no_error_shows_a_key() -> None:
    error = refused(HEAD + 'key = "sk-very secret"')
    assert "secret" not in f"{error.message} {error.hint} {error.__cause__}"
