"""The server with a tool that is registered while it runs: at SIGUSR1, as a plug-in's would be; at SIGUSR2 it goes.

`python -m tests.support.later_tool serve ...`, in place of `python -m openprogram serve ...`.
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

SOURCE = "plugin:later"


@tool(readonly=True, presets=("research",), residency="resident")
async def weather(context: ToolContext, town: str) -> str:
    """Tell the weather.

    Args:
        town: Where
    """
    return f"It rains in {town}."


class LiveRegistry(Registry):
    """The registry of the composed server, with signals for the test."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, self.put, SOURCE, (weather,))
        loop.add_signal_handler(signal.SIGUSR2, self.remove, SOURCE)


if __name__ == "__main__":
    vars(compose)["Registry"] = LiveRegistry
    sys.exit(main())
