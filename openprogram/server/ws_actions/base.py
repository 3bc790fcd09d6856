"""What a handler is and what it is given."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from openprogram.core.protocol.actions import Action, Subscribe, Unsubscribe
from openprogram.core.protocol.frames import AnyAck, Pong, SubscribeAck, UserInfo
from openprogram.server.metrics import Metrics
from openprogram.server.service import Service


class Link(Protocol):
    """The way an action came by. Only a WebSocket can carry subscriptions."""

    async def subscribe(self, action: Subscribe) -> SubscribeAck:
        """Begin to send events or hints. Raises `RequestError` where this link cannot, `UnknownSession`."""
        ...

    def unsubscribe(self, action: Unsubscribe) -> None:
        """Send no more of them."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """Who asks, by which link, and who can answer."""

    user: UserInfo
    link: Link
    service: Service
    metrics: Metrics


Reply = AnyAck | Pong
Handler = Callable[[Context, Any], Awaitable[Reply]]
Handlers = Mapping[type[Any], Handler]


async def perform(context: Context, action: Action) -> AnyAck:
    """Hand the action to the service as it is."""
    return await context.service.perform(context.user.id, action)
