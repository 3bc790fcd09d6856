"""The action that shortens a chat by a summary before it has to be (spec cache.md C16)."""

from openprogram.agent.environment import CompactNow
from openprogram.context.compaction import boundaries, shown
from openprogram.core.errors import BadField
from openprogram.core.protocol.actions import Compact
from openprogram.core.protocol.frames import SessionAck
from openprogram.sessions.basis import read_basis
from openprogram.sessions.begin import commit_and_launch, idle_chat
from openprogram.sessions.hub import Hub
from openprogram.sessions.request import Request


async def compact(hub: Hub, request: Request, action: Compact) -> SessionAck:
    """Have the conversation summarised, in a turn of its own. Raises `Busy` while one runs: that compacts by itself."""
    async with idle_chat(hub, request, action.session_id) as row:
        basis = await read_basis(hub, row.user_id, row.info.id)
        if not boundaries(shown(basis.opening.branch)):
            raise BadField("there is nothing to summarise yet", field="session_id", hint="go on for a while first")
        ack = SessionAck(id=action.id, session_id=action.session_id)
        await commit_and_launch(hub, request, basis, ack, (), errand=CompactNow())
        return ack
