"""Other chats of the same user, as a tool reaches them, and the mark that such a message bears."""

from dataclasses import dataclass
from typing import Final, Literal, Protocol

MAX_DEPTH: Final = 3
"""A person's message has depth 0. One that a chat sends has the depth of what its turn answers, plus one; no deeper."""

PER_TURN: Final = 3
"""Messages that one turn may send to other chats."""


@dataclass(frozen=True, slots=True)
class Sender:
    """The chat that a message came from, and how many chats have passed it on since a person spoke."""

    session_id: str
    title: str
    depth: int


@dataclass(frozen=True, slots=True)
class ChatSummary:
    """A chat as another one sees it."""

    id: str
    title: str
    status: Literal["idle", "running", "waiting"]
    updated_at: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a message: it began a turn, or it waits for the running one."""

    title: str
    queued: bool


class Chats(Protocol):
    """The other chats of the user whose chat a call belongs to. Each method may raise `ToolFailure`."""

    async def others(self, limit: int) -> tuple[ChatSummary, ...]:
        """The newest of them, without this one."""
        ...

    async def title_of(self, session_id: str) -> str:
        """Its title, if a message can be sent there."""
        ...

    async def send(self, session_id: str, text: str, call_id: str) -> Delivery:
        """Say something there in this chat's name; the same call again has no second effect."""
        ...
