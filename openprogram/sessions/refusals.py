"""What endpoints have refused that they should take: kept in the store, so that no chat runs into it again (C9)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
_UNASKED: Final = "refused_diagnoses"
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Refusal:
    strategy: Strategy | None
    """None: what was refused is the question what the cache did."""
    at: float
    endpoint: str


class Refusals(Capabilities):
    """Refused strategies by `endpoint/model`, as a setting that is nobody's. Belongs to one event loop.

    A refusal holds for the strategy that was refused, where it was refused: another one in the configuration is tried,
    and so is the same one at another address.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._refused: dict[str, _Refusal] = {}
        self._unasked: dict[str, _Refusal] = {}

    async def load(self) -> None:
        """Read what earlier processes met with. Raises `StorageError`."""
        refused = _read(await self._store.setting(_NOBODY, _KEY))
        self._refused = {model: refusal for model, refusal in refused.items() if refusal.strategy is not None}
        self._unasked = _read(await self._store.setting(_NOBODY, _UNASKED))

    def of(self, model: ModelInfo) -> Capability:
        """What is known of the model's endpoint, downgraded where it has refused that."""
        known, unasked = model.capability, self._unasked.get(model.id)
        if unasked is not None and self._fresh(unasked.at) and unasked.endpoint == known.endpoint:
            known = replace(known, diagnosis=False)
        refusal = self._refused.get(model.id)
        if refusal is None or not self._fresh(refusal.at) or refusal.strategy != known.strategy:
            return known
        return downgraded(known) if refusal.endpoint == known.endpoint else known

    async def refused(self, model: ModelInfo, strategy: Strategy) -> None:
        """Remember a refusal; where it cannot be stored it holds until the end of the process."""
        self._refused[model.id] = _Refusal(strategy, self._clock(), model.capability.endpoint)
        _log.warning("endpoint_downgraded", model=model.id, strategy=strategy)
        await self._keep(model, _KEY, self._refused)

    async def refused_diagnosis(self, model: ModelInfo) -> None:
        """Remember that the endpoint is not to be asked what its cache did, as long as any refusal."""
        self._unasked[model.id] = _Refusal(None, self._clock(), model.capability.endpoint)
        _log.warning("endpoint_not_asked_for_diagnosis", model=model.id)
        await self._keep(model, _UNASKED, self._unasked)

    async def _keep(self, model: ModelInfo, key: str, refusals: Mapping[str, _Refusal]) -> None:
        kept: dict[str, JsonValue] = {
            known: {"strategy": refusal.strategy, "at": refusal.at, "endpoint": refusal.endpoint}
            for known, refusal in refusals.items()
            if self._fresh(refusal.at)
        }
        try:
            await self._store.put_setting(_NOBODY, key, kept)
        except StorageError as error:
            _log.warning("downgrade_not_stored", model=model.id, error=error.message)

    def _fresh(self, at: float) -> bool:
        return self._clock() - at < REMEMBERED_S


def _read(stored: JsonValue) -> dict[str, _Refusal]:
    """What can be used of the stored value, whoever wrote it."""
    found: dict[str, _Refusal] = {}
    for model, entry in stored.items() if isinstance(stored, Mapping) else ():
        if not isinstance(entry, Mapping):
            continue
        at, strategy = entry.get("at"), entry.get("strategy", "")
        known: Strategy | None = next((name for name in get_args(Strategy) if name == strategy), None)
        if (known is not None or strategy is None) and isinstance(at, int | float):
            found[model] = _Refusal(known, float(at), str(entry.get("endpoint", "")))
    return found
