"""What the server counts: plain integers on the one event loop. `prometheus` makes text of them."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Metrics:
    """Counters of this process since its start; the first four go up and down."""

    sockets: int = 0
    streams: int = 0
    subscriptions: int = 0
    topics: int = 0
    sockets_opened: int = 0
    frames: int = 0
    actions: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By name and outcome: `ok` or the error's code."""
    refused: Counter[str] = field(default_factory=Counter)
    """Requests that were turned away, by reason."""
