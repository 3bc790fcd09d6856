"""What happened beside a turn that its model should hear of: told once, in the newest message (spec cache.md C12)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class News:
    """One thing that happened: `key` is one word by which it is told once, `text` one line without that word."""

    key: str
    text: str


NewsOf = Callable[[str], Awaitable[tuple[News, ...]]]
"""What a chat's model may not have heard of yet, oldest first; what was told is left out by whoever tells."""


async def no_news(_session_id: str) -> tuple[News, ...]:
    """Nothing happens."""
    return ()
