"""What a run begins from, as it was read from the store."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

from openprogram.core.events import Event, IntentChanged, PermissionMode
from openprogram.core.intent import StoredIntent
from openprogram.core.storage import Opening, SessionRow
from openprogram.sessions.authority import LiveAuthority
from openprogram.sessions.effective import names_now
from openprogram.sessions.hub import Hub, unknown

_CAREFUL: Final[PermissionMode] = "ask"
"""The permission mode until the chat's own is read."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What a run begins from: the chat as it was read, and who hears of the switches that are flipped since."""

    opening: Opening
    authority: LiveAuthority

    @property
    def row(self) -> SessionRow:
        """The chat itself."""
        return self.opening.row


async def read_basis(hub: Hub, user_id: str, session_id: str) -> Basis:
    """Read it, in one question: the first token waits for that. Raises `UnknownSession`.

    The caller holds the chat's lock until the run is launched, and the chat has no run.
    """
    authority = hub.authorities[session_id] = LiveAuthority(partial(names_now, hub), _CAREFUL)
    opening = await hub.ports.store.opening(session_id)
    if opening is None or opening.row.user_id != user_id:
        raise unknown(session_id)
    authority.mode_changed(opening.row.info.permission_mode)
    for grant in opening.grants:
        authority.granted(grant)
    return Basis(opening, authority)


def new_basis(hub: Hub, row: SessionRow, made: Iterable[Event]) -> Basis:
    """The basis of a chat's first run, which is stored together with the chat. `made` are the events that make it."""
    intents = (StoredIntent(event.intent, event.revision) for event in made if isinstance(event, IntentChanged))
    authority = hub.authorities[row.info.id] = LiveAuthority(partial(names_now, hub), row.info.permission_mode)
    return Basis(Opening(row, next(intents, StoredIntent())), authority)
