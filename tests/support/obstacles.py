"""A mode as plan mode will be one, at its seam: in a chat that asks, what does not only read is refused.

`python -m tests.support.obstacles serve ...`, in place of `python -m openprogram serve ...`, is the server with that
rule and with a source of tools that goes away at SIGUSR1 and is back at SIGUSR2.
"""

import asyncio
import signal
import sys
from typing import Any, Final

from openprogram.app import compose
from openprogram.cli.main import main
from openprogram.core.events import PermissionMode
from openprogram.core.tooling import ToolContext, ToolSpec
from openprogram.tools.decorator import tool
from openprogram.tools.registry import Registry

SOURCE: Final = "mcp:ferry"
AWAY: Final = "the server ferry does not answer since 12:00; it is tried again by itself, or start it"
ONLY_LOOKS: Final = "it only looks around; say what you would change"


def only_looks(mode: PermissionMode, tool: ToolSpec) -> str | None:
    """A `ModeRule`."""
    return None if mode != "ask" or tool.readonly else ONLY_LOOKS


@tool(readonly=True, residency="resident")
async def timetable(context: ToolContext, harbour: str) -> str:
    """Tell when the ferry goes.

    Args:
        harbour: Where from
    """
    return f"The ferry leaves {harbour} at noon."


class FlappingRegistry(Registry):
    """The registry of the composed server, with signals for the test."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.put(SOURCE, (timetable,))
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, self.set_down, SOURCE, AWAY)
        loop.add_signal_handler(signal.SIGUSR2, self.set_down, SOURCE, None)


if __name__ == "__main__":
    vars(compose)["Registry"] = FlappingRegistry
    vars(compose)["refused_by_mode"] = only_looks
    sys.exit(main())
