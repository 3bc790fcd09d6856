"""How many tokens a model makes of one of o200k, learned from the usage that its endpoint returns.

A local tokenizer undercounts some models by a third. The ratio of a model is the median of the last few that were seen,
so that one odd number moves nothing; what no tokenizer does is not believed at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from openprogram.core.jsonio import JsonValue
from openprogram.core.ports import Store

KEPT: Final = 9
"""So many ratios of a model are kept; the median of them holds."""
LOWEST: Final = 0.5
HIGHEST: Final = 3.0
"""No tokenizer of a current model is further from o200k. What an endpoint reports beyond is something else: tokens
without the cached ones, or characters."""
FEWEST: Final = 1_000
"""Tokens (o200k) that a request must have for its ratio to be one of its tools and its system prompt."""
MODELS: Final = 200
"""Of so many models ratios are kept; the one that was learned of first goes first."""

_NOBODY: Final = ""
_KEY: Final = "token_ratios"


@dataclass(frozen=True, slots=True)
class Ratio:
    """Tokens of a model for one of o200k; `samples` says how many answers it comes from, 0 is an assumption."""

    value: float
    samples: int


class Calibration:
    """The ratios of all models, kept in the store as a setting that is nobody's. Belongs to one event loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ratios: dict[str, tuple[float, ...]] = {}

    async def load(self) -> None:
        """Read what earlier processes learned. Raises `StorageError`."""
        self._ratios = _read(await self._store.setting(_NOBODY, _KEY))

    def ratio(self, model_id: str, assumed: float = 1.0) -> Ratio:
        """The ratio of a model, `assumed` where none was learned."""
        seen = self._ratios.get(model_id, ())
        return Ratio(median(seen), len(seen)) if seen else Ratio(assumed, 0)

    async def learn(self, model_id: str, counted: int, reported: int | None) -> bool:
        """Learn from one request that has `counted` tokens (o200k) and `reported` ones by its usage.

        Whether the model's ratio is another one now. Raises `StorageError` where it could not be kept; it holds until
        the end of the process all the same.
        """
        if reported is None or counted < FEWEST or not LOWEST <= reported / counted <= HIGHEST:
            return False
        before = self.ratio(model_id)
        seen = self._ratios.pop(model_id, ())  # put back at the end: the newest
        self._ratios[model_id] = (*seen, round(reported / counted, 4))[-KEPT:]
        while len(self._ratios) > MODELS:
            del self._ratios[next(iter(self._ratios))]
        await self._store.put_setting(_NOBODY, _KEY, {model: list(known) for model, known in self._ratios.items()})
        return self.ratio(model_id) != before


def calibrated(tokens: int, ratio: Ratio) -> int:
    """Tokens of o200k as tokens of the model."""
    return round(tokens * ratio.value)


def _read(stored: JsonValue) -> dict[str, tuple[float, ...]]:
    """What can be used of the stored value, whoever wrote it."""
    if not isinstance(stored, Mapping):
        return {}
    found = ((model, _usable(seen)) for model, seen in stored.items() if isinstance(seen, Sequence))
    return {model: seen for model, seen in found if seen}


def _usable(seen: Sequence[JsonValue] | str) -> tuple[float, ...]:
    numbers = (float(one) for one in seen if isinstance(one, int | float))
    return tuple(one for one in numbers if LOWEST <= one <= HIGHEST)[-KEPT:]
