"""Building providers costs nothing before they are used."""

import subprocess
import sys

from openprogram.core.prompt import Api
from openprogram.providers.anthropic import AnthropicProvider
from openprogram.providers.config import EndpointConfig
from openprogram.providers.endpoint import Endpoint
from openprogram.providers.factory import build_provider
from openprogram.providers.openai_chat import ChatProvider
from openprogram.providers.openai_responses import ResponsesProvider
from tests.support.histories import message
from tests.support.providers import request
from tests.support.tree import ROOT

_PROGRAM = """
import asyncio, sys
from openprogram.providers.config import EndpointConfig
from openprogram.providers.factory import build_provider, warm_up

chat = EndpointConfig("c", "openai-chat", "http://127.0.0.1:1/v1")
messages = EndpointConfig("m", "anthropic", "http://127.0.0.1:1")
build_provider(chat), build_provider(messages)
asyncio.run(warm_up([chat]))
assert "anthropic" not in sys.modules
asyncio.run(warm_up([chat, messages]))
assert "anthropic" in sys.modules
"""


def test_the_vendors_sdk_is_imported_only_for_an_endpoint_that_needs_it() -> None:
    subprocess.run([sys.executable, "-c", _PROGRAM], cwd=ROOT, check=True)


def test_each_api_has_its_adapter() -> None:
    adapters: dict[Api, type] = {
        "anthropic": AnthropicProvider,
        "openai-responses": ResponsesProvider,
        "openai-chat": ChatProvider,
    }
    for api, adapter in adapters.items():
        provider = build_provider(EndpointConfig("e", api, "http://127.0.0.1:1"))
        assert isinstance(vars(provider)["_inner"], adapter)


def test_a_configured_output_limit_holds_unless_the_request_sets_its_own() -> None:
    endpoint = Endpoint(EndpointConfig("e", "anthropic", "http://127.0.0.1:1", max_output_tokens=64_000))
    hello = message("user", "Hello")
    assert endpoint.configured(request(hello)).params.max_output_tokens == 64_000
    assert endpoint.configured(request(hello, max_output_tokens=5)).params.max_output_tokens == 5
