"""The `Chats` port: what the chats of one user are to each other.

A chain of messages from chat to chat is bounded, so that two chats cannot keep each other busy: see `MAX_DEPTH` and
`PER_TURN` in `core/chats`. Only a person's message begins a new chain.
"""

import asyncio

from openprogram.agent.environment import History
from openprogram.core.chats import MAX_DEPTH, PER_TURN, Chats, ChatSummary, Delivery, Sender
from openprogram.core.errors import RequestError, StorageError, ToolFailure
from openprogram.core.jsonio import digest
from openprogram.core.protocol.frames import ChatAck
from openprogram.core.storage import SessionRow
from openprogram.sessions.chat import Said, try_to_say
from openprogram.sessions.hub import Hub
from openprogram.sessions.request import Request
from openprogram.sessions.run import Run


class OtherChats(Chats):
    """The other chats, as seen from one run. `history` is that run's: its last user message says how deep it is."""

    def __init__(self, hub: Hub, row: SessionRow, history: History) -> None:
        self._hub = hub
        self._session_id = row.info.id
        self._user_id = row.user_id
        self._history = history
        self._sent: dict[str, int] = {}

    async def others(self, limit: int) -> tuple[ChatSummary, ...]:
        """The newest of them, without this one."""
        found = await self._hub.ports.store.sessions(self._user_id, limit=limit + 1)
        others = [info for info in found if info.id != self._session_id][:limit]
        return tuple(ChatSummary(info.id, info.title, info.status, info.updated_at) for info in others)

    async def title_of(self, session_id: str) -> str:
        """Its title, if a message can be sent there. Raises `ToolFailure`."""
        if session_id == self._session_id:
            raise ToolFailure("That is this chat: a chat sends no message to itself. Say it here instead.")
        row = await self._hub.ports.store.session(session_id)
        if row is None or row.user_id != self._user_id or row.info.deleted or not row.info.visible:
            raise ToolFailure(f"The user has no chat {session_id[:60]!r}; the list of chats shows their ids.")
        return row.info.title

    async def send(self, session_id: str, text: str, call_id: str) -> Delivery:
        """Say it there, marked as coming from here. Raises `ToolFailure`."""
        title = await self.title_of(session_id)
        sender = await self._sender()
        client_id = f"{self._session_id} {call_id}"
        request = Request(self._user_id, client_id, digest([session_id, text]))
        words = Said(marked(sender, text), sender=sender)
        try:
            while isinstance(said := await self._begun(request, session_id, words), Run):
                await said.finished.wait()  # a stop here ends this: the run there may be waiting for this one's end
        except (RequestError, StorageError) as error:
            raise ToolFailure(f"It could not be sent: {error.message}.") from error
        return Delivery(title, said.queued)

    async def _begun(self, request: Request, session_id: str, words: Said) -> ChatAck | Run:
        """Begun is done whole: a stop here must not leave a turn there that nobody runs."""
        work = asyncio.ensure_future(try_to_say(self._hub, request, session_id, words))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work})
            raise

    async def _sender(self) -> Sender:
        """This chat's mark on a message. Raises `ToolFailure` where it may send no more."""
        asked = next((message for message in reversed(self._history.messages) if message.role == "user"), None)
        before = asked.sender.depth if asked is not None and asked.sender is not None else 0
        if before >= MAX_DEPTH:
            raise ToolFailure(
                f"Not sent: {MAX_DEPTH} chats in a row have passed messages on since a person spoke, which is the "
                "limit. Tell the user here what you would have sent."
            )
        key = asked.id if asked is not None else ""
        if self._sent.get(key, 0) >= PER_TURN:
            raise ToolFailure(f"Not sent: one turn sends at most {PER_TURN} messages to other chats.")
        self._sent[key] = self._sent.get(key, 0) + 1
        row = await self._hub.row(self._user_id, self._session_id)
        return Sender(self._session_id, row.info.title, before + 1)


def marked(sender: Sender, text: str) -> str:
    """The words as the other chat gets them: its model and the person see that no person wrote them."""
    title = " ".join(sender.title.split())[:80]
    return f"[From the assistant of the chat “{title}” ({sender.session_id}), not typed by the user]\n\n{text}"
