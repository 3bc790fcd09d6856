"""Chats as things: their list, their settings, and who listens to them."""

from typing import Final

from openprogram.core.protocol.actions import (
    CreateSession,
    DeleteSession,
    ListSessions,
    LoadMessages,
    PinSession,
    RenameSession,
    RestoreSession,
    SetModel,
    SetPermissionMode,
    SetWorkspace,
    Subscribe,
    Unsubscribe,
)
from openprogram.core.protocol.frames import Ack, SubscribeAck
from openprogram.server.ws_actions.base import Context, Handlers, perform


async def subscribe(context: Context, action: Subscribe) -> SubscribeAck:
    """Begin to send a chat's events, or hints, by the link that asked."""
    return await context.link.subscribe(action)


async def unsubscribe(context: Context, action: Unsubscribe) -> Ack:
    """After this ack nothing more of the chat is sent."""
    context.link.unsubscribe(action)
    return Ack(id=action.id)


HANDLERS: Final[Handlers] = {
    Subscribe: subscribe,
    Unsubscribe: unsubscribe,
    CreateSession: perform,
    ListSessions: perform,
    RenameSession: perform,
    PinSession: perform,
    DeleteSession: perform,
    RestoreSession: perform,
    LoadMessages: perform,
    SetModel: perform,
    SetWorkspace: perform,
    SetPermissionMode: perform,
}
