"""Which tools a permission mode refuses outright, whatever the arguments of a call (spec trust.md R17, R20)."""

from collections.abc import Callable
from typing import assert_never

from openprogram.core.events import PermissionMode
from openprogram.core.tooling import ToolSpec

ModeRule = Callable[[PermissionMode, ToolSpec], str | None]
"""Why a mode refuses every call of a tool, for the model and people; None where it does not. Pure: it is asked at each
dispatch, and by the tool panel."""


def refused_by_mode(mode: PermissionMode, _tool: ToolSpec) -> str | None:
    """The rule of the modes that there are: they allow or ask call by call (`permissions.decide`)."""
    match mode:
        case "ask" | "accept_edits" | "auto":
            return None
        case _:
            assert_never(mode)
