"""What tokens cost is found out here, apart from the turns and actions that want to know (spec tools.md section 5)."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, assert_never

import structlog

from openprogram.core.errors import StorageError
from openprogram.core.prompt import ModelInfo, ProviderRequest
from openprogram.core.surface import SurfacePlan
from openprogram.core.usage import Usage
from openprogram.providers.pricing import Weight, weight
from openprogram.tokens.calibration import KEPT, Calibration, Ratio
from openprogram.tokens.counts import TokenCounts

_WAITING: Final = 64
_BYTES_A_TOKEN: Final = 4
_SAID: Final = 0.05
"""Most that the conversation may be of a request that is learned from: it is not counted, only its bytes are."""
_AGAIN_S: Final = 3600.0
"""How soon is learned again of a model that is well known."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Texts:
    """Texts to be counted for a user who looks at prices."""

    user_id: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Answered:
    """A request with what its endpoint said of it."""

    user_id: str
    model: ModelInfo
    weight: Weight
    reported: int


class Meter:
    """Counts what is asked for and learns how models count, one thing after the other (`serve`).

    `hint` is called with a user whose prices may be others now. What is too much at once is left out: it costs
    precision, and somebody will ask again.
    """

    def __init__(
        self,
        tokens: TokenCounts,
        calibration: Calibration,
        hint: Callable[[str], None],
        monotonic: Callable[[], float],
    ) -> None:
        self._tokens = tokens
        self._calibration = calibration
        self._hint = hint
        self._monotonic = monotonic
        self._jobs: asyncio.Queue[_Texts | _Answered] = asyncio.Queue(_WAITING)
        self._learned_at: dict[str, float] = {}

    def exact(self, text: str) -> int | None:
        """The tokens (o200k) of a text, if they were counted."""
        return self._tokens.exact(text)

    def ratio(self, model: ModelInfo) -> Ratio:
        """How the model counts, as far as is known."""
        return self._calibration.ratio(model.id, model.counting.ratio)

    def want(self, user_id: str, texts: Iterable[str]) -> None:
        """Have texts counted; the user is told once they all are. Never blocks."""
        self._put(_Texts(user_id, tuple(texts)))

    def answered(
        self, user_id: str, model: ModelInfo, request: ProviderRequest, plan: SurfacePlan, usage: Usage
    ) -> None:
        """Learn from an answered request, if it can be learned from: the first of an epoch, of little conversation.

        Never blocks.
        """
        if plan.kind != "rebase" or usage.prompt is None or not self._due(model.id):
            return
        weighed = weight(model.counting.api, request)
        if weighed is not None:
            self._put(_Answered(user_id, model, weighed, usage.prompt))

    async def idle(self) -> None:
        """Wait until everything so far is done, while `serve` runs."""
        await self._jobs.join()

    async def serve(self) -> None:
        """Count and learn, until cancelled."""
        while True:
            job = await self._jobs.get()
            try:
                match job:
                    case _Texts():
                        await self._count(job)
                    case _Answered():
                        await self._learn(job)
                    case _:
                        assert_never(job)
            except StorageError as error:
                _log.warning("calibration_not_stored", error=error.message)
            finally:
                self._jobs.task_done()

    def _put(self, job: _Texts | _Answered) -> None:
        if not self._jobs.full():
            self._jobs.put_nowait(job)

    def _due(self, model_id: str) -> bool:
        last = self._learned_at.get(model_id)
        return self._calibration.ratio(model_id).samples < KEPT or last is None or self._monotonic() - last > _AGAIN_S

    async def _count(self, job: _Texts) -> None:
        await self._tokens.learn(job.texts)
        if all(self._tokens.exact(text) is not None for text in job.texts):
            self._hint(job.user_id)

    async def _learn(self, job: _Answered) -> None:
        """Compare what was counted here with what the endpoint counted, without what its vendor adds."""
        texts = (*job.weight.tools, *job.weight.system)
        await self._tokens.learn(texts)
        counts = [self._tokens.exact(text) for text in texts]
        counted = sum(count for count in counts if count is not None)
        said = job.weight.said_bytes // _BYTES_A_TOKEN
        if None in counts or said > _SAID * counted:
            return
        added = job.model.counting.tool_overhead if job.weight.tools else 0
        self._learned_at[job.model.id] = self._monotonic()
        if await self._calibration.learn(job.model.id, counted + said, job.reported - added):
            self._hint(job.user_id)
