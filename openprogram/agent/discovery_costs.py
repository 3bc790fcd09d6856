"""What one discovery is expected to cost where the array has to grow for it (spec cache.md section 1, `frozen`)."""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from openprogram.core.prompt import ModelInfo
from openprogram.core.surface import Surface
from openprogram.surface.economy import grown_loss
from openprogram.surface.wanted import Warmth

KEPT: Final = 20
"""So many of a model's newest discoveries are gone by."""


@dataclass(slots=True)
class DiscoveryCosts:
    """Cached tokens that discoveries have lost, by `endpoint/model`, over all chats of this process.

    It begins empty with each process.
    """

    _lost: dict[str, deque[int]] = field(default_factory=dict)

    def lost(self, model_id: str, tokens: int) -> None:
        """An array has grown, and the endpoint read so many tokens less than it could have."""
        self._lost.setdefault(model_id, deque(maxlen=KEPT)).append(tokens)

    def expected(self, model: ModelInfo, here: Surface | None, warmth: Warmth) -> int | None:
        """Tokens that the next discovery will lose: in a chat that was answered, and is now `here`, all that stands
        behind its array; in a new one what others lost on average. None where neither is known."""
        own = None if here is None else grown_loss(here, model.capability, warmth)
        lost = self._lost.get(model.id)
        return own if own is not None or not lost else round(sum(lost) / len(lost))
