"""The chat actions: send, stop, continue, edit, regenerate, branches, queue."""

from dataclasses import replace

from openprogram.agent.environment import Resumed
from openprogram.core.errors import BadField, Busy
from openprogram.core.events import BranchSelected, Event, MessageAdded, Notice, QueueChanged, SessionChanged
from openprogram.core.ids import new_id
from openprogram.core.intent import ToolIntent
from openprogram.core.messages import Message, TextBlock
from openprogram.core.protocol.actions import (
    Chat,
    ContinueTurn,
    EditMessage,
    EditQueue,
    Regenerate,
    SelectBranch,
    Stop,
)
from openprogram.core.protocol.frames import ChatAck, SessionAck
from openprogram.core.storage import Node, SessionRow
from openprogram.session_config.codec import intent_from_override
from openprogram.sessions.hub import Hub
from openprogram.sessions.manage import new_row
from openprogram.sessions.request import Request
from openprogram.sessions.runs import queued, start, user_message
from openprogram.sessions.startup import close_turn, unfinished_turn
from openprogram.sessions.tree import answered_node, newest_leaf

_TITLE_CHARS = 60


async def chat(hub: Hub, request: Request, action: Chat) -> ChatAck:
    """Send a message: it starts a turn, or waits in the queue of the running one (P6)."""
    if action.attachments:
        raise BadField("attachments are not supported yet", field="attachments", hint="paste the text instead")
    override = intent_from_override(action.override) if action.override is not None else None
    if action.session_id is None:
        row, events = await new_row(hub, request.user_id)
        return await _send(hub, request, row, action, override, events)
    while True:
        async with hub.lock(action.session_id):
            row = await hub.row(request.user_id, action.session_id)
            live = hub.runs.get(action.session_id)
            if live is None and row.turn_id is not None:
                return await _queue(hub, request, row, action, override)  # it waits for an answer, without a run
            if live is None:
                return await _send(hub, request, row, action, override, ())
            if not live.run.ending:
                if action.mode == "steer":
                    live.run.steered = True
                return await _queue(hub, request, row, action, override)
        await live.run.finished.wait()


async def _send(
    hub: Hub, request: Request, row: SessionRow, action: Chat, override: ToolIntent | None, first: tuple[Event, ...]
) -> ChatAck:
    message = user_message(action.text, row.info.leaf_id, hub.now(), override)
    ack = ChatAck(id=action.id, session_id=row.info.id, message_id=message.id)
    events = (*_becomes_visible(row, action.text, hub.now()), *first, MessageAdded(message))
    await _commit_and_start(hub, request, row, ack, events)
    return ack


async def _commit_and_start(
    hub: Hub, request: Request, row: SessionRow, ack: ChatAck | SessionAck, events: tuple[Event, ...]
) -> None:
    if hub.closing:
        raise Busy("the server is shutting down", hint="send it again in a moment")
    await hub.journal.commit(row.info.id, request.user_id, events, request.remember(ack))
    await start(hub, await hub.row(request.user_id, row.info.id))


def _becomes_visible(row: SessionRow, text: str, now: str) -> tuple[Event, ...]:
    """A draft's first message puts the chat into the sidebar, under a title until it gets a better one (T6)."""
    if row.info.visible:
        return ()
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    title = row.info.title or (line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1].rstrip() + "…")
    return (SessionChanged(replace(row.info, visible=True, title=title, updated_at=now)),)


async def _queue(hub: Hub, request: Request, row: SessionRow, action: Chat, override: ToolIntent | None) -> ChatAck:
    waiting = queued(action.text, action.mode == "steer", hub.now(), override)
    queue = (*await hub.ports.store.queue(row.info.id), waiting)
    ack = ChatAck(id=action.id, session_id=row.info.id, message_id=waiting.id, queued=True)
    await hub.journal.commit(row.info.id, request.user_id, (QueueChanged(queue),), request.remember(ack))
    return ack


async def stop(hub: Hub, request: Request, action: Stop) -> SessionAck:
    """End the running turn; one that only waits for an answer since a restart ends too (P7)."""
    row = await hub.row(request.user_id, action.session_id)
    live = hub.runs.get(action.session_id)
    ack = SessionAck(id=action.id, session_id=action.session_id)
    if live is not None:
        live.run.stop.request()
    elif row.turn_id is not None:
        async with hub.lock(action.session_id):
            await close_turn(hub, action.session_id, "stopped")
    await hub.journal.commit(action.session_id, request.user_id, (), request.remember(ack))
    return ack


async def continue_turn(hub: Hub, request: Request, action: ContinueTurn) -> SessionAck:
    """Go on after a turn that ended interrupted, stopped, at a limit or cut."""
    async with hub.lock(action.session_id):
        row = await _idle(hub, request, action.session_id)
        last = await _leaf(hub, row)
        if last is None or (last.role == "assistant" and last.status == "complete"):
            raise BadField("there is nothing to continue", field="session_id", hint="send a message")
        ack = SessionAck(id=action.id, session_id=action.session_id)
        events: tuple[Event, ...] = ()
        if last.role == "assistant":
            text = "Your last answer ended early. Go on exactly where it broke off."
            nudge = Message(new_id("m"), last.id, "notice", (TextBlock(text),), hub.now())
            events = (MessageAdded(nudge),)
        await _commit_and_start(hub, request, row, ack, (*events, Notice("continued", "Continuing.")))
        return ack


async def edit_message(hub: Hub, request: Request, action: EditMessage) -> ChatAck:
    """Send another text in place of a user message: a sibling of it becomes the active branch."""
    async with hub.lock(action.session_id):
        row = await _idle(hub, request, action.session_id)
        node = await _node(hub, action.session_id, action.message_id)
        if node.role != "user":
            raise BadField("only your own messages can be edited", field="message_id")
        message = user_message(action.text, node.parent_id, hub.now(), None)
        ack = ChatAck(id=action.id, session_id=action.session_id, message_id=message.id)
        await _commit_and_start(hub, request, row, ack, (BranchSelected(node.parent_id), MessageAdded(message)))
        return ack


async def regenerate(hub: Hub, request: Request, action: Regenerate) -> SessionAck:
    """Answer again: the new answer is a sibling of the old one."""
    async with hub.lock(action.session_id):
        row = await _idle(hub, request, action.session_id)
        node = await _node(hub, action.session_id, action.message_id)
        nodes = await hub.ports.store.nodes(action.session_id)
        question = answered_node(nodes, node.id)
        if question is None:
            raise BadField("no question stands above this message", field="message_id")
        ack = SessionAck(id=action.id, session_id=action.session_id)
        await _commit_and_start(hub, request, row, ack, (BranchSelected(question),))
        return ack


async def select_branch(hub: Hub, request: Request, action: SelectBranch) -> SessionAck:
    """Make the branch through a message the active one."""
    async with hub.lock(action.session_id):
        row = await _idle(hub, request, action.session_id)
        node = await _node(hub, action.session_id, action.message_id)
        leaf = newest_leaf(await hub.ports.store.nodes(action.session_id), node.id)
        ack = SessionAck(id=action.id, session_id=action.session_id)
        events = () if leaf == row.info.leaf_id else (BranchSelected(leaf),)
        await hub.journal.commit(action.session_id, request.user_id, events, request.remember(ack))
        return ack


async def edit_queue(hub: Hub, request: Request, action: EditQueue) -> SessionAck:
    """Change or remove a waiting message."""
    async with hub.lock(action.session_id):
        await hub.row(request.user_id, action.session_id)
        queue = await hub.ports.store.queue(action.session_id)
        if all(waiting.id != action.queued_id for waiting in queue):
            raise BadField("this message no longer waits", field="queued_id", hint="it may have been sent by now")
        changed = tuple(
            replace(waiting, text=action.text) if waiting.id == action.queued_id and action.text else waiting
            for waiting in queue
            if waiting.id != action.queued_id or action.text is not None
        )
        ack = SessionAck(id=action.id, session_id=action.session_id)
        await hub.journal.commit(action.session_id, request.user_id, (QueueChanged(changed),), request.remember(ack))
        return ack


async def resume_answered(hub: Hub, row: SessionRow) -> None:
    """Go on with a turn that waited for an answer since before a restart, now that every question is answered."""
    if row.turn_id is None or row.info.id in hub.runs:
        return
    if await hub.ports.store.approvals(row.info.id):
        return
    turn = await unfinished_turn(hub, row)
    await start(hub, row, Resumed(row.turn_id, turn.steps, turn.finished))


async def _idle(hub: Hub, request: Request, session_id: str) -> SessionRow:
    row = await hub.row(request.user_id, session_id)
    live = hub.runs.get(session_id)
    if live is not None and live.run.ending:
        await live.run.finished.wait()
        row = await hub.row(request.user_id, session_id)
    if session_id in hub.runs or row.turn_id is not None:
        raise Busy("a turn is running in this chat", hint="stop it first, or wait until it is done")
    return row


async def _leaf(hub: Hub, row: SessionRow) -> Message | None:
    if row.info.leaf_id is None:
        return None
    found = await hub.ports.store.messages(row.info.id, (row.info.leaf_id,))
    return found[0] if found else None


async def _node(hub: Hub, session_id: str, message_id: str) -> Node:
    nodes = await hub.ports.store.nodes(session_id)
    node = next((node for node in nodes if node.id == message_id), None)
    if node is None:
        raise BadField(f"there is no message {message_id[:100]!r} in this chat", field="message_id")
    return node
