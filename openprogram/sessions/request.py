"""One action on its way through the service: who sent it, and how its ack is remembered with its effect (P5)."""

from dataclasses import dataclass

from openprogram.core.errors import BadField
from openprogram.core.jsonio import digest, encode
from openprogram.core.protocol.actions import Action
from openprogram.core.protocol.frames import AnyAck
from openprogram.core.storage import RememberRequest


def said(text: str) -> str:
    """What a person says, unless it is nothing. Raises `BadField`."""
    if not text.strip():
        raise BadField("the message is blank", field="text", hint="write something")
    return text


@dataclass(frozen=True, slots=True)
class Request:
    """An action's sender and key."""

    user_id: str
    client_id: str
    digest: str

    @classmethod
    def of(cls, user_id: str, action: Action) -> "Request":
        """The request of this action; its digest covers everything in it."""
        return cls(user_id, action.id, digest(action))

    def remember(self, ack: AnyAck) -> RememberRequest:
        """The write that goes into the same commit as the action's effect."""
        return RememberRequest(self.user_id, self.client_id, self.digest, encode(ack))
