"""Everything a store can be asked about some chats, as one value: to compare stores, and moments."""

from collections.abc import Sequence
from typing import Any

from openprogram.core.ports import Store
from openprogram.core.storage import StoredEvent
from tests.support.sent_values import digests
from tests.support.store_values import USER

USERS = (USER, "u_2")
CLIENT_IDS = ("c1", "c2")


async def log_of(store: Store, session_id: str, page: int = 500) -> list[StoredEvent]:
    """The whole log of a chat, page by page."""
    found: list[StoredEvent] = []
    while events := await store.events(session_id, found[-1].seq if found else 0, limit=page):
        found.extend(events)
    return found


async def dump(store: Store, session_ids: Sequence[str]) -> dict[str, Any]:
    """What the store says of these chats, and of the test's users."""
    said: dict[str, Any] = {session_id: await _chat(store, session_id) for session_id in session_ids}
    said["unfinished"] = await store.unfinished()
    for user_id in USERS:
        said[f"spending of {user_id}"] = await store.spending(user_id)
        said[f"chats of {user_id}"] = await store.sessions(user_id)
        said[f"deleted chats of {user_id}"] = await store.sessions(user_id, deleted=True)
        for client_id in CLIENT_IDS:
            said[f"request {client_id} of {user_id}"] = await store.remembered(user_id, client_id)
    return said


async def _chat(store: Store, session_id: str) -> dict[str, Any]:
    nodes = await store.nodes(session_id)
    approvals = await store.approvals(session_id, pending=False)
    return {
        "row": await store.session(session_id),
        "intent": await store.intent(session_id),
        "nodes": nodes,
        "messages": await store.messages(session_id, [node.id for node in nodes]),
        "events": await log_of(store, session_id),
        "approvals": approvals,
        "pending": await store.approvals(session_id),
        "each approval": [await store.approval(row.request.approval_id) for row in approvals],
        "questions": await store.questions(session_id, pending=False),
        "open questions": await store.questions(session_id),
        "grants": await store.grants(session_id),
        "queue": await store.queue(session_id),
        "usage": await store.usage(session_id),
        "sent": await store.sent(session_id),
        "segments": await store.segments(session_id, [digests(number) for number in range(4)]),
        "steps": await store.steps(session_id, ["m_1", "m_2", "m_3"]),
    }
