"""What endpoints have refused that they should take: kept in the store, so that no chat runs into it again (C9)."""

from collections.abc import Mapping
from typing import Final, get_args

import structlog

from openprogram.agent.environment import Capabilities
from openprogram.core.clock import Clock
from openprogram.core.errors import StorageError
from openprogram.core.jsonio import JsonValue
from openprogram.core.ports import Store
from openprogram.core.prompt import ModelInfo
from openprogram.core.surface import Capability, Strategy
from openprogram.surface.strategies import downgraded

REMEMBERED_S: Final = 7 * 24 * 3600.0
"""How long a refusal is believed: endpoints learn."""

_NOBODY: Final = ""
_KEY: Final = "refused_strategies"
_log = structlog.get_logger(__name__)


class Refusals(Capabilities):
    """Refused strategies by `endpoint/model`, as a setting that is nobody's. Belongs to one event loop.

    A refusal holds for the strategy that was refused: another one in the configuration is tried.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._refused: dict[str, tuple[Strategy, float]] = {}

    async def load(self) -> None:
        """Read what earlier processes met with. Raises `StorageError`."""
        self._refused = _read(await self._store.setting(_NOBODY, _KEY))

    def of(self, model: ModelInfo) -> Capability:
        """What is known of the model's endpoint, downgraded where it has refused that."""
        known = model.capability
        strategy, at = self._refused.get(model.id, (None, 0.0))
        return downgraded(known) if strategy == known.strategy and self._fresh(at) else known

    async def refused(self, model: ModelInfo, strategy: Strategy) -> None:
        """Remember a refusal; where it cannot be stored it holds until the end of the process."""
        self._refused[model.id] = (strategy, self._clock())
        _log.warning("endpoint_downgraded", model=model.id, strategy=strategy)
        kept: dict[str, JsonValue] = {
            known: {"strategy": refused, "at": at} for known, (refused, at) in self._refused.items() if self._fresh(at)
        }
        try:
            await self._store.put_setting(_NOBODY, _KEY, kept)
        except StorageError as error:
            _log.warning("downgrade_not_stored", model=model.id, error=error.message)

    def _fresh(self, at: float) -> bool:
        return self._clock() - at < REMEMBERED_S


def _read(stored: JsonValue) -> dict[str, tuple[Strategy, float]]:
    """What can be used of the stored value, whoever wrote it."""
    found: dict[str, tuple[Strategy, float]] = {}
    for model, entry in stored.items() if isinstance(stored, Mapping) else ():
        at = entry.get("at") if isinstance(entry, Mapping) else None
        strategy = entry.get("strategy") if isinstance(entry, Mapping) else None
        known: Strategy | None = next((name for name in get_args(Strategy) if name == strategy), None)
        if known is not None and isinstance(at, int | float):
            found[model] = (known, float(at))
    return found
