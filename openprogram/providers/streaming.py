"""From an open HTTP response to provider events. Here every exception ends (design laws 9 and 10).

`answer` is the supervisor of a provider stream: whatever happens below it becomes the last event, with what had
arrived. Only cancellation and closing pass through, and close the connection on their way.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

import structlog

from openprogram.core.jsonio import JsonObject
from openprogram.core.prompt import Failed, ProviderEvent, ProviderFailure, RequestSent, ResponseStarted
from openprogram.providers.failures import Site, failure_of
from openprogram.providers.faults import Fault
from openprogram.providers.sse import SseSplitter
from openprogram.providers.wire import Parser

_log = structlog.get_logger(__name__)

# A server that has sent the end of its answer closes the response at once, or not for a long time.
_DRAIN_S: Final = 0.1
_PING: Final = b"ping"
"""The event by which the Messages API keeps a connection open."""

Chunks = AsyncIterator[bytes]
Send = Callable[[JsonObject], AbstractAsyncContextManager[Chunks]]
"""Sends a request's body and opens that of a successful response. It and its chunks raise a `Fault`."""


async def answer(
    body: Callable[[], JsonObject], send: Send, parser: Parser, site: Site
) -> AsyncGenerator[ProviderEvent, None]:
    """One request and its answer; the last event is `Completed` or `Failed`. Never raises but for cancellation."""
    splitter = SseSplitter()
    begun = ended = False
    try:
        sent = body()
        yield RequestSent(sent)
        async with send(sent) as chunks:
            async for chunk in chunks:
                events = splitter.feed(chunk)
                parser.feed(events)
                if not begun and any(name != _PING for name, _ in events):
                    begun = True  # not by the status: gateways send it, then wait, then tell of a refusal
                    yield ResponseStarted(parser.counted())
                for piece in parser.take():
                    yield piece
                if parser.done:
                    break
            ending = parser.ending()
            ended = True
            yield ending
            await _drain(chunks)
    except Fault as fault:
        failure = failure_of(fault, site, time.time())
    except Exception as error:
        _log.exception("provider_stream_crashed", endpoint=site.name)
        what = f"openprogram failed while talking to {site.name} ({type(error).__name__}); its log says more."
        failure = ProviderFailure("bad_response", what, "none")
    else:
        return
    if not ended:
        for piece in parser.take():
            yield piece
        blocks, usage = parser.partial()
        yield Failed(failure, blocks, usage)


async def _drain(chunks: Chunks) -> None:
    """Read up to the end of the response, after which its connection serves the next request."""
    try:
        async with asyncio.timeout(_DRAIN_S):
            async for _ in chunks:
                continue
    except TimeoutError:
        return  # the connection is closed instead
