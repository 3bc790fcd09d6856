"""A second `Store`, in memory and as simple as can be: proof that the conformance suite is not SQLite's, and its model.

Each commit works on a copy of the state and replaces it at the end, so that all or nothing needs no thought.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from typing_extensions import override

from openprogram.core.asking import PutQuestion, QuestionRow
from openprogram.core.clock import Clock, iso_time
from openprogram.core.errors import Conflict, StorageError, UnknownSession
from openprogram.core.events import Event, SessionInfo, StepFinished
from openprogram.core.intent import StoredIntent
from openprogram.core.jsonio import JsonValue, encode
from openprogram.core.messages import Message, QueuedMessage
from openprogram.core.ports import Store
from openprogram.core.sent import SentRecord, Spending
from openprogram.core.storage import (
    ApprovalRow,
    Backlog,
    Grant,
    Node,
    Opening,
    PutApproval,
    PutMessage,
    PutSession,
    Remembered,
    RememberRequest,
    SessionRow,
    StoredEvent,
    UsageRow,
    Write,
)
from tests.support.memory_chat import Chat, described, row_of, spending, written

_DAY_S = 24 * 3600


@dataclass
class MemoryState:
    """What outlives a `MemoryStore` that is closed: hand it to the next one."""

    chats: dict[str, Chat] = field(default_factory=dict)
    requests: dict[tuple[str, str], tuple[Remembered, str]] = field(default_factory=dict)
    settings: dict[tuple[str, str], JsonValue] = field(default_factory=dict)
    token_counts: dict[str, int] = field(default_factory=dict)

    def copy(self) -> "MemoryState":
        """A copy that shares the immutable values."""
        return MemoryState(dict(self.chats), dict(self.requests), dict(self.settings), dict(self.token_counts))

    def become(self, other: "MemoryState") -> None:
        """Take over what `other` holds."""
        self.chats, self.requests, self.settings = other.chats, other.requests, other.settings
        self.token_counts = other.token_counts


class MemoryStore(Store):
    """`core.ports.Store` over a `MemoryState`."""

    def __init__(self, state: MemoryState, clock: Clock) -> None:
        self._state = state
        self._clock = clock
        self._closed = False

    @override
    async def commit(
        self, session_id: str, events: Sequence[Event], writes: Sequence[Write] = ()
    ) -> tuple[StoredEvent, ...]:
        state, at = self._open().copy(), iso_time(self._clock())
        if session_id not in state.chats and not any(isinstance(write, PutSession) for write in writes):
            raise UnknownSession(f"there is no chat {session_id}")
        first = state.chats[session_id].row.last_seq + 1 if session_id in state.chats else 1
        for write in writes:
            self._write(state, session_id, write, at, first)
        stored = tuple(StoredEvent(session_id, seq, seq, at, encode(event)) for seq, event in enumerate(events, first))
        chat = state.chats[session_id]
        row = replace(chat.row, last_seq=first + len(stored) - 1)
        state.chats[session_id] = replace(chat, row=row, events=chat.events + stored)
        self._state.become(state)
        return stored

    def _write(self, state: MemoryState, session_id: str, write: Write, at: str, first_seq: int) -> None:
        if isinstance(write, PutSession):
            state.chats[session_id] = described(state.chats.get(session_id), write)
        elif isinstance(write, RememberRequest):
            self._remember(state, write, at)
        else:
            if isinstance(write, PutMessage | PutApproval | PutQuestion) and _taken(state, write):
                raise Conflict("the id is taken")
            state.chats[session_id] = written(state.chats[session_id], write, at, first_seq)

    def _remember(self, state: MemoryState, write: RememberRequest, at: str) -> None:
        key = (write.user_id, write.client_id)
        if key in state.requests and state.requests[key][1] >= self._day_ago():
            raise Conflict("request exists")
        state.requests[key] = (Remembered(write.digest, write.ack), at)

    def _day_ago(self) -> str:
        return iso_time(self._clock() - _DAY_S)

    def _open(self) -> MemoryState:
        if self._closed:
            raise StorageError("closed")
        return self._state

    def _chat(self, session_id: str) -> Chat:
        nobody = SessionRow(SessionInfo(session_id, "", "", ""), "")
        return self._open().chats.get(session_id, Chat(nobody))

    @override
    async def session(self, session_id: str) -> SessionRow | None:
        chat = self._open().chats.get(session_id)
        return None if chat is None else row_of(chat)

    @override
    async def opening(self, session_id: str) -> Opening | None:
        chat = self._open().chats.get(session_id)
        if chat is None:
            return None
        row, by_id = row_of(chat), {message.id: message for message in chat.messages}
        branch: list[Message] = []
        leaf = by_id.get(row.info.leaf_id or "")
        while leaf is not None:
            branch.insert(0, leaf)
            leaf = by_id.get(leaf.parent_id or "")
        return Opening(row, chat.intent, chat.queue, chat.grants, tuple(branch))

    @override
    async def sessions(
        self, user_id: str, *, limit: int = 200, before: tuple[str, str] | None = None, deleted: bool = False
    ) -> tuple[SessionInfo, ...]:
        rows = [row_of(chat) for chat in self._open().chats.values()]
        found = [
            row.info
            for row in rows
            if row.user_id == user_id and row.info.visible and row.info.deleted == deleted
            if before is None or (row.info.updated_at, row.info.id) < before
        ]
        found.sort(key=lambda info: (info.updated_at, info.id), reverse=True)
        return tuple(found[:limit])

    @override
    async def intent(self, session_id: str) -> StoredIntent:
        return self._chat(session_id).intent

    @override
    async def nodes(self, session_id: str) -> tuple[Node, ...]:
        return tuple(Node(each.id, each.parent_id, each.role) for each in self._chat(session_id).messages)

    @override
    async def messages(self, session_id: str, ids: Sequence[str]) -> tuple[Message, ...]:
        by_id = {message.id: message for message in self._chat(session_id).messages}
        return tuple(by_id[wanted] for wanted in ids if wanted in by_id)

    @override
    async def events(self, session_id: str, after_seq: int, limit: int = 500) -> tuple[StoredEvent, ...]:
        return tuple(event for event in self._chat(session_id).events if event.seq > after_seq)[:limit]

    @override
    async def backlog(self, session_id: str, after_seq: int) -> Backlog:
        behind = [event for event in self._chat(session_id).events if event.seq > after_seq]
        return Backlog(len(behind), sum(len(event.payload) for event in behind))

    @override
    async def approvals(self, session_id: str, *, pending: bool = True) -> tuple[ApprovalRow, ...]:
        return tuple(row for row in self._chat(session_id).approvals if row.pending or not pending)

    @override
    async def approval(self, approval_id: str) -> tuple[str, ApprovalRow] | None:
        for session_id, chat in self._open().chats.items():
            for row in chat.approvals:
                if row.request.approval_id == approval_id:
                    return session_id, row
        return None

    @override
    async def questions(self, session_id: str, *, pending: bool = True) -> tuple[QuestionRow, ...]:
        return tuple(row for row in self._chat(session_id).questions if row.pending or not pending)

    @override
    async def grants(self, session_id: str) -> tuple[Grant, ...]:
        return self._chat(session_id).grants

    @override
    async def queue(self, session_id: str) -> tuple[QueuedMessage, ...]:
        return self._chat(session_id).queue

    @override
    async def usage(self, session_id: str) -> tuple[UsageRow, ...]:
        return self._chat(session_id).usage

    @override
    async def steps(self, session_id: str, message_ids: Collection[str]) -> tuple[StepFinished, ...]:
        return tuple(step for step in self._chat(session_id).steps if step.message_id in message_ids)

    @override
    async def sent(self, session_id: str) -> tuple[SentRecord, ...]:
        return self._chat(session_id).sent

    @override
    async def segments(self, session_id: str, digests: Collection[str]) -> Mapping[str, bytes]:
        known = self._chat(session_id).segments
        return {digest: known[digest] for digest in digests if digest in known}

    @override
    async def spending(self, user_id: str) -> tuple[Spending, ...]:
        chats = [chat for _, chat in sorted(self._open().chats.items()) if chat.row.user_id == user_id]
        found = [each for chat in chats for each in sorted(spending(chat), key=lambda one: (one.model, one.kind))]
        return tuple(sorted(found, key=lambda one: one.day, reverse=True))

    @override
    async def remembered(self, user_id: str, client_id: str) -> Remembered | None:
        found = self._open().requests.get((user_id, client_id))
        return found[0] if found is not None and found[1] >= self._day_ago() else None

    @override
    async def unfinished(self) -> tuple[SessionRow, ...]:
        rows = [row_of(chat) for _, chat in sorted(self._open().chats.items())]
        return tuple(row for row in rows if row.turn_id is not None)

    @override
    async def setting(self, user_id: str, key: str) -> JsonValue:
        return self._open().settings.get((user_id, key))

    @override
    async def put_setting(
        self, user_id: str, key: str, value: JsonValue, request: RememberRequest | None = None
    ) -> None:
        try:
            encode(value)
        except TypeError as error:
            raise StorageError(str(error)) from error
        state = self._open()
        if request is not None:
            self._remember(state, request, iso_time(self._clock()))
        state.settings[user_id, key] = value

    @override
    async def token_counts(self, digests: Collection[str]) -> Mapping[str, int]:
        known = self._open().token_counts
        return {digest: known[digest] for digest in digests if digest in known}

    @override
    async def put_token_counts(self, counts: Mapping[str, int]) -> None:
        known = self._open().token_counts
        known.update({digest: tokens for digest, tokens in counts.items() if digest not in known})

    @override
    async def sweep(self, *, drafts_before: str, requests_before: str) -> int:
        state = self._open().copy()
        for session_id, chat in self._state.chats.items():
            if not chat.row.info.visible and chat.row.info.updated_at < drafts_before:
                del state.chats[session_id]
        for key, (_, at) in self._state.requests.items():
            if at < requests_before:
                del state.requests[key]
        went = len(self._state.chats) + len(self._state.requests) - len(state.chats) - len(state.requests)
        self._state.become(state)
        return went

    @override
    async def aclose(self) -> None:
        self._closed = True


def _taken(state: MemoryState, write: PutMessage | PutApproval | PutQuestion) -> bool:
    if isinstance(write, PutQuestion):
        asked = (row.asked.question_id for chat in state.chats.values() for row in chat.questions)
        return write.asked.question_id in asked
    if isinstance(write, PutMessage):
        return any(write.message.id == each.id for chat in state.chats.values() for each in chat.messages)
    ids = (row.request.approval_id for chat in state.chats.values() for row in chat.approvals)
    return write.request.approval_id in ids
