"""Providers over real HTTP, for the tests of both wire formats."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from openprogram.core.messages import Message
from openprogram.core.ports import Provider
from openprogram.core.prompt import (
    Api,
    Completed,
    Failed,
    ModelParams,
    ProviderEvent,
    ProviderRequest,
    TextPiece,
)
from openprogram.providers.config import EndpointConfig
from openprogram.providers.factory import build_provider
from openprogram.providers.retry import RetryPolicy
from tests.support.fake import FakeApi
from tests.support.histories import TOOL

APIS: tuple[Api, ...] = ("anthropic", "openai-chat")
ONCE = RetryPolicy(retries=0)
Event = TypeVar("Event")


@asynccontextmanager
async def provider_at(
    api: Api, base_url: str, *, key: str | None = "test", policy: RetryPolicy = ONCE, **settings: Any
) -> AsyncIterator[Provider]:
    """A provider for the endpoint `e` at that address, closed afterwards. It does not retry unless told to."""
    provider = build_provider(EndpointConfig("e", api, base_url, key, **settings), policy)
    try:
        yield provider
    finally:
        await provider.aclose()


def fake_address(api: Api, fake: FakeApi) -> str:
    """The fake API's base URL for that wire format."""
    return fake.anthropic_url if api == "anthropic" else fake.openai_url


def request(*messages: Message, model: str = "demo", tools: bool = True, **fields: Any) -> ProviderRequest:
    """A request with one tool; `thinking_budget` and the like go into its parameters."""
    params = ModelParams(**{name: fields.pop(name) for name in ModelParams.__slots__ if name in fields})
    return ProviderRequest(model, ("You help.",), (TOOL,) if tools else (), tuple(messages), params, **fields)


async def collect(provider: Provider, sent: ProviderRequest) -> list[ProviderEvent]:
    """All events of one answer."""
    return [event async for event in provider.stream(sent)]


def stream_of(provider: Provider, sent: ProviderRequest) -> AsyncGenerator[ProviderEvent, None]:
    """The stream as the generator that it is, for tests that close it."""
    stream = provider.stream(sent)
    assert isinstance(stream, AsyncGenerator)
    return stream


def completed(events: Sequence[ProviderEvent]) -> Completed:
    """The last event, which must be a whole answer, and the only one."""
    assert isinstance(events[-1], Completed), events[-1]
    assert not only(events, Failed)
    return events[-1]


def failed(events: Sequence[ProviderEvent]) -> Failed:
    """The last event, which must be a failure, and the only one."""
    assert isinstance(events[-1], Failed), events[-1]
    assert len(only(events, Failed)) == 1
    assert not only(events, Completed)
    return events[-1]


def only(events: Sequence[ProviderEvent], kind: type[Event]) -> list[Event]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def shown(events: Sequence[ProviderEvent]) -> str:
    """The text that was shown."""
    return "".join(piece.text for piece in only(events, TextPiece))
