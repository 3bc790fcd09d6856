"""What the server needs from the layers below, as protocols: a test hands in its own."""

from collections.abc import Sequence
from typing import Protocol

from openprogram.core.protocol.actions import Action
from openprogram.core.protocol.frames import AnyAck, Hello, Snapshot, UserInfo
from openprogram.core.storage import Backlog, SessionRow, StoredEvent


class Service(Protocol):
    """Everything a client can ask for. Errors are `OpenProgramError`s and mean that nothing was applied."""

    async def hello(self, user: UserInfo) -> Hello:
        """The first frame on a socket: who the user is, and what there is to choose from."""
        ...

    async def perform(self, user_id: str, action: Action) -> AnyAck:
        """Do an action, once per client id (P5), and say how it went."""
        ...

    async def snapshot(self, user_id: str, session_id: str) -> Snapshot:
        """The chat as of its newest seq. Raises `UnknownSession`."""
        ...

    async def authorise(self, user_id: str, session_id: str) -> None:
        """Raise `UnknownSession` unless the chat exists and is this user's."""
        ...


class Log(Protocol):
    """The part of `openprogram.core.ports.Store` that is read here. Each method may raise `StorageError`."""

    async def session(self, session_id: str) -> SessionRow | None:
        """The chat, for its newest seq."""
        ...

    async def events(self, session_id: str, after_seq: int, limit: int = 500) -> Sequence[StoredEvent]:
        """Events whose `seq` is greater than `after_seq`, in order."""
        ...

    async def backlog(self, session_id: str, after_seq: int) -> Backlog:
        """What lies behind `after_seq`, counted without reading it."""
        ...
