"""What stands in the way of a tool's calls now: one function for dispatch and for the tool panel."""

from openprogram.core.events import PermissionMode
from openprogram.core.obstacles import Obstacle
from openprogram.core.tooling import Snapshot, ToolSpec
from openprogram.permissions.modes import ModeRule


def obstacle(tool: ToolSpec, live: Snapshot, mode: PermissionMode, rule: ModeRule) -> Obstacle | None:
    """Why calls of this tool would fail at this moment, if so. `live` is the registry as of now, not a turn's."""
    if (why := live.down.get(tool.source)) is not None:
        return Obstacle("down", why)
    if (why := rule(mode, tool)) is not None:
        return Obstacle("refused_by_mode", why)
    return None
