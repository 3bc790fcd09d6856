"""What a scripted model says, moment by moment, and messages for histories.

Nothing here sleeps. A `Gate` stands in a script or in a tool; the test waits until the run has reached it, does what it
wants to do in that very moment, and opens it.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from openprogram.core.messages import Block, Message, Role, TextBlock, ToolUseBlock
from openprogram.core.prompt import (
    Completed,
    Failed,
    FailureCode,
    ModelInfo,
    ProviderEvent,
    ProviderFailure,
    ProviderRequest,
    RequestSent,
    ResponseStarted,
    StopReason,
    TextPiece,
)
from openprogram.core.usage import Usage
from openprogram.providers.catalog import ModelFacts
from openprogram.providers.chat_prompt import request_body
from openprogram.providers.hosts import Quirks

MODEL = ModelInfo("fake/model", "fake", "model", "A model")


class Gate:
    """A place where a run waits until the test lets it go on."""

    def __init__(self) -> None:
        self._reached = asyncio.Event()
        self._opened = asyncio.Event()
        self._error: Exception | None = None
        self.cancelled = False

    async def wait(self) -> None:
        """Called by what is held."""
        self._reached.set()
        try:
            await self._opened.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if self._error is not None:
            raise self._error

    async def reached(self) -> None:
        """Wait until somebody stands at the gate."""
        await self._reached.wait()

    async def opened(self) -> None:
        """Wait until the gate is open."""
        await self._opened.wait()

    def open(self) -> None:
        """Let everybody pass from now on."""
        self._opened.set()

    def fail(self, error: Exception) -> None:
        """Raise this in everybody who stands at the gate, or comes to it."""
        self._error = error
        self._opened.set()


Script = Sequence[ProviderEvent | Gate]


def say(*texts: str, usage: Usage | None = None) -> Script:
    """An answer of text in these pieces, whole."""
    pieces = [TextPiece(0, text) for text in texts]
    return (ResponseStarted(), *pieces, completed(TextBlock("".join(texts)), usage=usage))


def call(*calls: ToolUseBlock, text: str = "", usage: Usage | None = None) -> Script:
    """An answer that asks for these calls."""
    blocks: tuple[Block, ...] = (TextBlock(text), *calls) if text else calls
    pieces = [TextPiece(0, text)] if text else []
    return (ResponseStarted(), *pieces, completed(*blocks, stop_reason="tool_use", usage=usage))


def completed(*blocks: Block, stop_reason: StopReason = "end_turn", usage: Usage | None = None) -> Completed:
    """The last event of a whole answer."""
    return Completed(blocks, stop_reason, usage or Usage(uncached=10, cache_read=0, output=5))


def failed(code: FailureCode = "overloaded", *blocks: Block) -> Failed:
    """The last event of an answer that failed."""
    return Failed(ProviderFailure(code, f"{code} happened", "retry"), blocks)


_CALL_NUMBERS = count(1)


def use(name: str, call_id: str | None = None, **arguments: Any) -> ToolUseBlock:
    """A call."""
    return ToolUseBlock(call_id or f"c_{next(_CALL_NUMBERS)}", name, arguments)


class ScriptedProvider:
    """Answers the n-th request with the n-th script and keeps the requests.

    A script that is not there is a fault of the test and crashes the run.
    """

    def __init__(self, *scripts: Script) -> None:
        self.scripts = list(scripts)
        self.requests: list[ProviderRequest] = []
        self.open_streams = 0

    async def stream(self, request: ProviderRequest) -> AsyncIterator[ProviderEvent]:
        self.requests.append(request)
        script = self.scripts.pop(0)
        self.open_streams += 1
        try:
            yield RequestSent(request_body(request, f"fake/{request.model}", ModelFacts(), Quirks()))
            for event in script:
                if isinstance(event, Gate):
                    await event.wait()
                else:
                    yield event
        finally:
            self.open_streams -= 1

    async def models(self) -> tuple[ModelInfo, ...]:
        return (MODEL,)

    async def aclose(self) -> None:
        assert self.open_streams == 0


_MESSAGE_NUMBERS = count(1)


def message(role: Role, content: str | Sequence[Block], parent_id: str | None, **fields: Any) -> Message:
    """A message below another one."""
    blocks = (TextBlock(content),) if isinstance(content, str) else tuple(content)
    made = Message(f"m_{next(_MESSAGE_NUMBERS)}", parent_id, role, blocks, "2026-01-01T12:00:00.000Z")
    return replace(made, **fields)


def chain(*parts: tuple[Role, str | Sequence[Block]]) -> list[Message]:
    """A branch of messages, each below the one before."""
    branch: list[Message] = []
    for role, content in parts:
        branch.append(message(role, content, branch[-1].id if branch else None))
    return branch


def assert_paired(messages: Iterable[Message]) -> None:
    """Each call has exactly one result, in the message right below its answer, in the order of the calls (law 7)."""
    branch = list(messages)
    for answer, after in zip(branch, [*branch[1:], None], strict=True):
        if answer.calls:
            assert after is not None, "an answer's calls have no results"
            assert after.role == "tool"
            assert [result.call_id for result in after.results] == [call.call_id for call in answer.calls]
        elif answer.role == "assistant" and after is not None:
            assert after.role != "tool", "results without a call"
