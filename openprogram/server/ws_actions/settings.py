"""The user's settings and presets, what models there are, and the link itself."""

from typing import Final

from openprogram.core.protocol.frames import Pong
from openprogram.core.protocol.user_actions import (
    DeletePreset,
    GetSettings,
    ListModels,
    Ping,
    SavePreset,
    SetSetting,
)
from openprogram.server.ws_actions.base import Context, Handlers, perform


async def ping(context: Context, action: Ping) -> Pong:
    """Show that the server is there."""
    return Pong(id=action.id)


HANDLERS: Final[Handlers] = {
    GetSettings: perform,
    ListModels: perform,
    SetSetting: perform,
    SavePreset: perform,
    DeletePreset: perform,
    Ping: ping,
}
