"""What stands in the way of a tool's calls now: one function for dispatch and for the tool panel."""

from collections.abc import Callable
from typing import assert_never

from openprogram.core.events import PermissionMode
from openprogram.core.messages import TextBlock
from openprogram.core.obstacles import Obstacle
from openprogram.core.tooling import Snapshot, ToolOutput, ToolSpec
from openprogram.permissions.modes import ModeRule

Obstacles = Callable[[ToolSpec], Obstacle | None]
"""Why calls of a tool would fail at this moment."""


def obstacle(tool: ToolSpec, live: Snapshot, mode: PermissionMode, rule: ModeRule) -> Obstacle | None:
    """Why calls of this tool would fail at this moment, if so. `live` is the registry as of now, not a turn's."""
    if (why := live.down.get(tool.source)) is not None:
        return Obstacle("down", why)
    if (why := rule(mode, tool)) is not None:
        return Obstacle("refused_by_mode", why)
    return None


def hindered(name: str, found: Obstacle) -> ToolOutput:
    """The result of a call that was not run: the tool is there, and cannot be used now (T12)."""
    match found.state:
        case "down":
            return ToolOutput.error(f"{name} cannot be used now, and this call was not run: {found.detail}")
        case "refused_by_mode":
            text = f"{name} is refused in this chat's mode: {found.detail}"
            return ToolOutput((TextBlock(text),), status="denied")
        case _:
            assert_never(found.state)
