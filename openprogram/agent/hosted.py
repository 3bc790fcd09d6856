"""The last moment before a request goes out, where the provider may search by itself (spec tools.md T4)."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from openprogram.core.ports import Authority
from openprogram.core.prompt import ProviderEvent, RequestSent


class Gate:
    """Lets a request out, and each retry of it, as long as all that the provider would run is still authorised.

    `closed` says that one was not let out: it has to be planned anew.
    """

    def __init__(self, names: frozenset[str], authority: Authority) -> None:
        self._names = names
        self._authority = authority
        self.closed = False

    async def pass_on(self, events: AsyncIterator[ProviderEvent]) -> AsyncGenerator[ProviderEvent, None]:
        """The events of a provider's stream; it is closed before the body goes out where that must not be."""
        async with aclosing(events) as stream:  # type: ignore[type-var]
            async for event in stream:
                if isinstance(event, RequestSent) and not all(map(self._authority.authorised_now, self._names)):
                    self.closed = True
                    return
                yield event
