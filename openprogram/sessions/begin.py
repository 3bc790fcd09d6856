"""How an action begins a run: it holds a chat that has none, stores what was said, and launches in the same breath."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from openprogram.agent.environment import CompactNow
from openprogram.core.errors import BadField, Busy
from openprogram.core.events import BranchSelected, Event, IntentChanged, MessageAdded, SessionChanged, TurnAccepted
from openprogram.core.messages import Message
from openprogram.core.protocol.frames import ChatAck, SessionAck
from openprogram.core.storage import SessionRow
from openprogram.sessions.basis import Basis
from openprogram.sessions.hub import Hub
from openprogram.sessions.request import Request
from openprogram.sessions.runs import launch, prepare_run
from openprogram.sessions.startup import settle

_MAKES_CHAT = (SessionChanged, IntentChanged)


@asynccontextmanager
async def idle_chat(hub: Hub, request: Request, session_id: str) -> AsyncIterator[SessionRow]:
    """Hold the lock of a chat in which no turn runs or waits; one that is just ending is waited for.

    Raises `Busy`, `BadField` for a deleted chat, `UnknownSession`.
    """
    while True:
        async with hub.lock(session_id):
            row = await settle(hub, await hub.row(request.user_id, session_id))
            live = hub.runs.get(session_id)
            if live is None:
                if row.turn_id is not None:
                    raise Busy("this chat waits for an answer to a question", hint="answer it first, or stop the turn")
                not_deleted(row)
                yield row
                return
            if not (live.run.ending or live.run.between):  # who has seen that a turn is over may act at once
                raise Busy("a turn is running in this chat", hint="stop it first, or wait until it is done")
        await live.run.settled()  # without the lock: the run may need it to end


async def commit_and_launch(
    hub: Hub,
    request: Request,
    basis: Basis,
    ack: ChatAck | SessionAck,
    events: Sequence[Event],
    *,
    errand: CompactNow | None = None,
) -> None:
    """Store the events, which leave the branch in user input, as the beginning of a turn, and launch its run. With an
    `errand` that is what the turn is for, whatever the branch ends in.

    The run is read up before anything is stored, so that nothing can fail between the two. What makes a chat comes
    first, then that a turn runs, so that nobody sees the message and no turn.
    """
    if hub.closing:
        raise Busy("the server is shutting down", hint="send it again in a moment")
    leaf_id, said = basis.row.info.leaf_id, list[Message]()
    for event in events:
        match event:
            case BranchSelected():
                leaf_id = event.leaf_id
            case MessageAdded():
                said.append(event.message)
            case _:
                pass
    ready = await prepare_run(hub, basis, leaf_id)
    accepted = TurnAccepted(ready.live.run.turn_id)
    made = [event for event in events if isinstance(event, _MAKES_CHAT)]
    told = (*made, accepted, *(event for event in events if not isinstance(event, _MAKES_CHAT)))
    await hub.journal.commit(basis.row.info.id, request.user_id, told, request.remember(ack))
    launch(hub, ready if errand is None else replace(ready, errand=errand), said)


def not_deleted(row: SessionRow) -> None:
    """Raises `BadField` for a chat that was deleted."""
    if row.info.deleted:
        raise BadField("this chat is deleted", field="session_id", hint="restore_session brings it back")
