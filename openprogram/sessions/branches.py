"""The actions that make and choose branches: edit, regenerate, select (spec protocol.md P8)."""

from openprogram.core.errors import BadField
from openprogram.core.events import BranchSelected, MessageAdded
from openprogram.core.protocol.actions import EditMessage, Regenerate, SelectBranch
from openprogram.core.protocol.frames import ChatAck, SessionAck
from openprogram.core.storage import Node
from openprogram.sessions.basis import read_basis
from openprogram.sessions.begin import commit_and_launch, idle_chat
from openprogram.sessions.hub import Hub
from openprogram.sessions.request import Request, said
from openprogram.sessions.runs import user_message
from openprogram.sessions.tree import answered_node, newest_leaf


async def edit_message(hub: Hub, request: Request, action: EditMessage) -> ChatAck:
    """Send another text in place of a user message, with what that asked of tools: a sibling of it, and active."""
    async with idle_chat(hub, request, action.session_id) as row:
        _, node = await _nodes(hub, action.session_id, action.message_id)
        if node.role != "user":
            raise BadField("only your own messages can be edited", field="message_id")
        (edited,) = await hub.ports.store.messages(action.session_id, (node.id,))
        message = user_message(said(action.text), node.parent_id, hub.now(), edited.override)
        ack = ChatAck(id=action.id, session_id=action.session_id, message_id=message.id)
        events = (BranchSelected(node.parent_id), MessageAdded(message))
        await commit_and_launch(hub, request, await read_basis(hub, row.user_id, row.info.id), ack, events)
        return ack


async def regenerate(hub: Hub, request: Request, action: Regenerate) -> SessionAck:
    """Answer again: the new answer is a sibling of the old one."""
    async with idle_chat(hub, request, action.session_id) as row:
        nodes, node = await _nodes(hub, action.session_id, action.message_id)
        question = answered_node(nodes, node.id)
        if question is None:
            raise BadField("no question stands above this message", field="message_id")
        ack = SessionAck(id=action.id, session_id=action.session_id)
        basis = await read_basis(hub, row.user_id, row.info.id)
        await commit_and_launch(hub, request, basis, ack, (BranchSelected(question),))
        return ack


async def select_branch(hub: Hub, request: Request, action: SelectBranch) -> SessionAck:
    """Make the branch through a message the active one."""
    async with idle_chat(hub, request, action.session_id) as row:
        nodes, node = await _nodes(hub, action.session_id, action.message_id)
        leaf = newest_leaf(nodes, node.id)
        ack = SessionAck(id=action.id, session_id=action.session_id)
        events = () if leaf == row.info.leaf_id else (BranchSelected(leaf),)
        await hub.journal.commit(action.session_id, request.user_id, events, request.remember(ack))
        return ack


async def _nodes(hub: Hub, session_id: str, message_id: str) -> tuple[tuple[Node, ...], Node]:
    """The chat's tree, and the message's place in it."""
    nodes = await hub.ports.store.nodes(session_id)
    node = next((node for node in nodes if node.id == message_id), None)
    if node is None:
        raise BadField(f"there is no message {message_id[:100]!r} in this chat", field="message_id")
    return nodes, node
