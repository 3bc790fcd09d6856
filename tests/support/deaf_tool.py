"""The server with a plug-in's tool that swallows every cancellation and never ends.

`python -m tests.support.deaf_tool serve ...`, in place of `python -m openprogram serve ...`.
"""

import asyncio
import sys
from typing import Any

from openprogram.app import compose
from openprogram.cli.main import main
from openprogram.core.tooling import ToolContext
from openprogram.tools.decorator import tool
from openprogram.tools.registry import Registry


@tool(readonly=True, residency="resident")
async def deaf(context: ToolContext) -> str:
    """Wait for ever, whatever it is told."""
    context.output("waiting")
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


class DeafRegistry(Registry):
    """The registry of the composed server, with that tool."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.put("plugin:sea", (deaf,))


if __name__ == "__main__":
    vars(compose)["Registry"] = DeafRegistry
    sys.exit(main())
