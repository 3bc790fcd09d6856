"""The tool intent: preset, chip, switches."""

from typing import Final

from openprogram.core.protocol.actions import (
    PickTools,
    SetToolDisabled,
    SetToolsEnabled,
    SetToolsProfile,
    ToggleWebSearch,
)
from openprogram.server.ws_actions.base import Handlers, perform

HANDLERS: Final[Handlers] = {
    SetToolsProfile: perform,
    ToggleWebSearch: perform,
    SetToolsEnabled: perform,
    SetToolDisabled: perform,
    PickTools: perform,
}
