"""From the bytes of an action to the frame that answers it."""

from itertools import chain
from types import MappingProxyType
from typing import Any, Final

import structlog

from openprogram.core.errors import OpenProgramError
from openprogram.core.protocol.actions import Action
from openprogram.core.protocol.codec import decode_action, frame_id
from openprogram.core.protocol.frames import ErrorFrame
from openprogram.server.ws_actions import chat, inspect, sessions, settings, tools
from openprogram.server.ws_actions.base import Context, Handler, Reply

_log: Final = structlog.get_logger(__name__)

HANDLERS: Final = MappingProxyType(
    dict[type[Any], Handler](
        chain.from_iterable(module.HANDLERS.items() for module in (chat, tools, sessions, settings, inspect))
    )
)
"""A handler for each action of the protocol (a contract test compares the two)."""


async def answer(context: Context, data: str | bytes) -> Reply | ErrorFrame:
    """Do what a frame asks. Every failure becomes an error frame, and nothing is half-applied (P12)."""
    action = read(context, data)
    return action if isinstance(action, ErrorFrame) else await serve(context, action)


def read(context: Context, data: str | bytes) -> Action | ErrorFrame:
    """The action that a frame asks for, or the answer to one that asks for none."""
    try:
        return decode_action(data)
    except OpenProgramError as error:
        context.metrics.actions["?", error.code] += 1
        return error_frame(error, frame_id(data))


async def serve(context: Context, action: Action) -> Reply | ErrorFrame:
    """Do an action; every failure becomes an error frame."""
    reply = await _perform(context, action)
    context.metrics.actions[action.action, reply.code if isinstance(reply, ErrorFrame) else "ok"] += 1
    return reply


async def _perform(context: Context, action: Action) -> Reply | ErrorFrame:
    """Supervise one action: what nobody foresaw is logged, and answered as `internal`."""
    try:
        reply: Reply = await HANDLERS[type(action)](context, action)
        return reply
    except OpenProgramError as error:
        return error_frame(error, action.id)
    except Exception:
        _log.exception("action_failed", action=action.action, client_id=action.id)
        return ErrorFrame(
            id=action.id,
            code="internal",
            message="The server made a mistake while doing this; its log says more.",
            hint="The action can be sent again with the same id.",
        )


def error_frame(error: OpenProgramError, client_id: str | None = None) -> ErrorFrame:
    """An error as it is told to a client."""
    return ErrorFrame(id=client_id, code=error.code, message=error.message, field=error.field, hint=error.hint)
