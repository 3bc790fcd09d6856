"""The chat actions: send, stop, continue, and the queue of what waits."""

from dataclasses import dataclass, replace

from openprogram.core.chats import Sender
from openprogram.core.errors import BadField
from openprogram.core.events import Event, MessageAdded, Notice, QueueChanged, SessionChanged
from openprogram.core.ids import new_id
from openprogram.core.intent import ToolIntent
from openprogram.core.messages import Message, QueuedMessage, TextBlock
from openprogram.core.protocol.actions import Chat, ContinueTurn, EditQueue, Stop
from openprogram.core.protocol.frames import ChatAck, SessionAck
from openprogram.core.storage import SessionRow
from openprogram.session_config.codec import intent_from_override
from openprogram.session_config.patches import check_intent, within
from openprogram.sessions.basis import Basis, new_basis, read_basis
from openprogram.sessions.begin import commit_and_launch, idle_chat, not_deleted
from openprogram.sessions.closing import stop_turn
from openprogram.sessions.hub import Hub
from openprogram.sessions.manage import new_row
from openprogram.sessions.request import Request, said
from openprogram.sessions.run import Run
from openprogram.sessions.runs import next_of, queued, user_message
from openprogram.sessions.startup import settle

_TITLE_CHARS = 60
_NUDGE = "Your last answer ended early. Go on exactly where it broke off."


async def chat(hub: Hub, request: Request, action: Chat) -> ChatAck:
    """Send a message: it starts a turn, or waits in the queue of the running one (P6)."""
    said(action.text)
    if action.attachments:
        raise BadField("attachments are not supported yet", field="attachments", hint="paste the text instead")
    words = Said(action.text, action.mode == "steer", _override(hub, action))
    if action.session_id is None:
        row, events = await new_row(hub, request.user_id)
        return await _send(hub, request, new_basis(hub, row, events), words, events)
    return await say(hub, request, action.session_id, words)


@dataclass(frozen=True, slots=True)
class Said:
    """A message on its way into a chat. `sender` is the chat that it comes from; None: a person."""

    text: str
    steer: bool = False
    override: ToolIntent | None = None
    sender: Sender | None = None


async def say(hub: Hub, request: Request, session_id: str, words: Said) -> ChatAck:
    """Put a message into a chat that exists: it starts a turn, or waits in the queue of the running one."""
    while isinstance(said := await try_to_say(hub, request, session_id, words), Run):
        await said.finished.wait()  # without the lock: the run may need it to end
    return said


async def try_to_say(hub: Hub, request: Request, session_id: str, words: Said) -> ChatAck | Run:
    """Do the same, or return the run there that takes no message any more, whose end has to be waited for."""
    async with hub.lock(session_id):
        basis = None if session_id in hub.runs else await read_basis(hub, request.user_id, session_id)
        found = basis.row if basis else await hub.row(request.user_id, session_id)
        row = await settle(hub, found)
        not_deleted(row)
        live = hub.runs.get(session_id)
        if live is None and row.turn_id is None:
            if basis is None or row is not found:  # its run has just ended, or its turn was closed only now
                basis = await read_basis(hub, request.user_id, session_id)
            return await _send(hub, request, basis, words, ())
        if live is None or not live.run.ending:  # without a run the turn waits for an answer
            return await _queue(hub, request, row, words)
        return live.run


def _override(hub: Hub, action: Chat) -> ToolIntent | None:
    """What the message asks for its own turn, its names checked before anything is stored."""
    if action.override is None:
        return None
    with within("override"):
        override = intent_from_override(action.override)
        check_intent(override, hub.ports.snapshot())
    return override


async def _send(hub: Hub, request: Request, basis: Basis, words: Said, first: tuple[Event, ...]) -> ChatAck:
    """Begin a turn. What waits since a stop or a failure was said before: it goes first, this one joins the queue."""
    row, waiting = basis.row, basis.opening.queue
    if waiting:
        last = queued(words.text, words.steer, hub.now(), words.override, words.sender)
        ack = ChatAck(id=request.client_id, session_id=row.info.id, message_id=last.id, queued=True)
        chosen, rest = next_of(waiting)
        await commit_and_launch(hub, request, basis, ack, _leaves_queue(hub, row, chosen, (*rest, last)))
        return ack
    message = user_message(words.text, row.info.leaf_id, hub.now(), words.override, words.sender)
    ack = ChatAck(id=request.client_id, session_id=row.info.id, message_id=message.id)
    events = (*_becomes_visible(row, words.text, hub.now()), *first, MessageAdded(message))
    await commit_and_launch(hub, request, basis, ack, events)
    return ack


def _leaves_queue(
    hub: Hub, row: SessionRow, chosen: QueuedMessage, rest: tuple[QueuedMessage, ...]
) -> tuple[Event, ...]:
    message = user_message(chosen.text, row.info.leaf_id, hub.now(), chosen.override, chosen.sender)
    return QueueChanged(rest), MessageAdded(message)


def _becomes_visible(row: SessionRow, text: str, now: str) -> tuple[Event, ...]:
    """A draft's first message puts the chat into the sidebar, under a title until it gets a better one (T6)."""
    if row.info.visible:
        return ()
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    title = row.info.title or (line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1].rstrip() + "…")
    return (SessionChanged(replace(row.info, visible=True, title=title, updated_at=now)),)


async def _queue(hub: Hub, request: Request, row: SessionRow, words: Said) -> ChatAck:
    waiting = queued(words.text, words.steer, hub.now(), words.override, words.sender)
    queue = (*await hub.ports.store.queue(row.info.id), waiting)
    ack = ChatAck(id=request.client_id, session_id=row.info.id, message_id=waiting.id, queued=True)
    await _put_queue(hub, request, ack, queue)
    return ack


async def _put_queue(hub: Hub, request: Request, ack: ChatAck | SessionAck, queue: tuple[QueuedMessage, ...]) -> None:
    await hub.journal.commit(ack.session_id, request.user_id, (QueueChanged(queue),), request.remember(ack))
    live = hub.runs.get(ack.session_id)
    if live is not None:
        live.run.queue_changed(queue)


async def edit_queue(hub: Hub, request: Request, action: EditQueue) -> SessionAck:
    """Change or remove a waiting message, or send it now; each is one commit (P6)."""
    ack = SessionAck(id=action.id, session_id=action.session_id)
    while True:
        async with hub.lock(action.session_id):
            row = await settle(hub, await hub.row(request.user_id, action.session_id))
            queue = await hub.ports.store.queue(action.session_id)
            found = next((waiting for waiting in queue if waiting.id == action.queued_id), None)
            if found is None:
                raise BadField("this message no longer waits", field="queued_id", hint="it may have been sent by now")
            edited = found if action.text is None else replace(found, text=said(action.text))
            live = hub.runs.get(action.session_id)
            if not action.send:
                kept = () if action.text is None else (edited,)
                await _put_queue(hub, request, ack, _with(queue, found, *kept))
                return ack
            if live is None and row.turn_id is None:
                not_deleted(row)
                basis = await read_basis(hub, request.user_id, action.session_id)
                events = _leaves_queue(hub, row, edited, _with(queue, found))
                await commit_and_launch(hub, request, basis, ack, events)
                return ack
            if live is None or not live.run.ending:
                await _put_queue(hub, request, ack, (replace(edited, mode="steer"), *_with(queue, found)))
                return ack
        await live.run.finished.wait()  # without the lock: the run may need it to end


def _with(queue: tuple[QueuedMessage, ...], found: QueuedMessage, *instead: QueuedMessage) -> tuple[QueuedMessage, ...]:
    """The queue with something in place of one message."""
    at = queue.index(found)
    return (*queue[:at], *instead, *queue[at + 1 :])


async def stop(hub: Hub, request: Request, action: Stop) -> SessionAck:
    """End the running turn; one that only waits for an answer since a restart ends too (P7)."""
    await hub.row(request.user_id, action.session_id)
    ack = SessionAck(id=action.id, session_id=action.session_id)
    await stop_turn(hub, action.session_id)
    await hub.journal.commit(action.session_id, request.user_id, (), request.remember(ack))
    return ack


async def continue_turn(hub: Hub, request: Request, action: ContinueTurn) -> SessionAck:
    """Go on after a turn that ended interrupted, stopped, at a limit or cut: in a new turn, under a fresh contract.

    That one's calls have their results and are not replayed (T23); where tools that it used are gone, people are told.
    """
    async with idle_chat(hub, request, action.session_id) as row:
        last = await _leaf(hub, row)
        if last is None or (last.role == "assistant" and last.status == "complete"):
            raise BadField("there is nothing to continue", field="session_id", hint="send a message")
        ack = SessionAck(id=action.id, session_id=action.session_id)
        events: tuple[Event, ...] = (Notice("continued", "Continuing."),)
        if last.role == "assistant" and last.blocks:
            nudge = Message(new_id("m"), last.id, "notice", (TextBlock(_NUDGE),), hub.now())
            events = (MessageAdded(nudge), *events)
        await commit_and_launch(hub, request, await read_basis(hub, row.user_id, row.info.id), ack, events)
        return ack


async def _leaf(hub: Hub, row: SessionRow) -> Message | None:
    if row.info.leaf_id is None:
        return None
    found = await hub.ports.store.messages(row.info.id, (row.info.leaf_id,))
    return found[0] if found else None
