"""The server with 400 tools of four MCP servers, as hundreds of tools look; at SIGUSR1 a plug-in brings one more.

`python -m tests.support.many_tools serve ...`, in place of `python -m openprogram serve ...`.
"""

import asyncio
import signal
import sys
from typing import Any

from openprogram.app import compose
from openprogram.cli.main import main
from openprogram.core.tooling import ToolContext
from openprogram.tools.decorator import tool
from openprogram.tools.registry import Registry
from tests.support.tools import spec

SERVERS = ("calendar", "issues", "mail", "sheets")
EACH = 100


@tool(readonly=True)
async def weather(context: ToolContext, town: str) -> str:
    """Tell the weather.

    Args:
        town: Where
    """
    return f"It rains in {town}."


class FullRegistry(Registry):
    """The registry of the composed server with all of that in it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        for server in SERVERS:
            made = [spec(f"{server}_{n:03}", description=f"Do thing {n} of {server}.") for n in range(EACH)]
            self.put(f"mcp:{server}", made)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, self.put, "plugin:later", (weather,))


if __name__ == "__main__":
    vars(compose)["Registry"] = FullRegistry
    sys.exit(main())
