"""`list_sessions` and `send_message`: the user's other chats."""

from typing import Final

from openprogram.core.chats import Chats
from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import CallPreview, ToolContext, ToolOutput
from openprogram.tools.decorator import tool

GROUP: Final = "chats"
MOST: Final = 50
_TEXT_CHARS: Final = 20_000


@tool(readonly=True, parallel_safe=True, group=GROUP, presets=("coding", "research", "safe"))
async def list_sessions(context: ToolContext, limit: int = 20) -> str:
    """The user's other chats, newest first: id, status (idle, running, waiting for the user), last activity and title.

    Args:
        limit: How many at most
    """
    found = await _chats(context).others(max(1, min(limit, MOST)))
    if not found:
        return "The user has no other chats."
    return "\n".join(f"{chat.id} {chat.status}, last active {chat.updated_at[:16]}: {chat.title}" for chat in found)


async def preview_send(arguments: JsonObject, context: ToolContext) -> CallPreview:
    """To which chat, and the exact words."""
    session_id = str(arguments["session_id"])
    title = await _chats(context).title_of(session_id)
    return CallPreview("call", f"To: {title} ({session_id})\n\n{arguments['text']}")


@tool(
    permission="execute",
    group=GROUP,
    presets=("coding", "research"),
    effect="starts work in another chat",
    preview=preview_send,
)
async def send_message(context: ToolContext, session_id: str, text: str) -> ToolOutput:
    """Send a message into another chat of the user. The assistant there answers there, not here; it sees which chat
    wrote. It starts at once or waits for the running turn.

    Args:
        session_id: Id of the chat
        text: The message, complete in itself
    """
    if not text.strip() or len(text) > _TEXT_CHARS:
        raise ToolFailure(f"A message has between one and {_TEXT_CHARS:,} characters.")
    delivery = await _chats(context).send(session_id, text, context.call_id)
    how = "It waits for the turn that runs there." if delivery.queued else "A turn has begun there."
    display: JsonObject = {"session_id": session_id, "title": delivery.title, "queued": delivery.queued}
    return ToolOutput.text(f"Sent to {delivery.title!r}. {how}", display=display)


def _chats(context: ToolContext) -> Chats:
    if context.chats is None:
        raise ToolFailure("Other chats cannot be reached from here.")
    return context.chats
