"""Keeping what was sent: from a request's body to its record in the chat, and from the answer to its verdict."""

import asyncio
from collections.abc import Sequence
from typing import Final

from openprogram.agent.deferral import cut_of
from openprogram.agent.environment import Environment, Setup
from openprogram.core.jsonio import JsonObject
from openprogram.core.sent import Conditions, PutSent, SentRecord
from openprogram.core.surface import SurfacePlan
from openprogram.core.usage import CacheVerdict, Usage
from openprogram.ledger.body import split
from openprogram.ledger.difference import Outline
from openprogram.ledger.verdict import Answered, explain

KEEP_AFTER_S: Final = 0.05
"""So long after a request went out it is taken apart and stored: the answer's first piece does not wait for that."""


class Sending:
    """One step's request on its way out. `sent` is called with each body that goes out, a retry's too."""

    def __init__(
        self, env: Environment, setup: Setup, plan: SurfacePlan, turn_id: str, step: int, message_id: str
    ) -> None:
        self._env = env
        self._setup = setup
        self._turn_id = turn_id
        self._step = step
        self._message_id = message_id
        self._parent_id = env.history.leaf_id
        self._cut = cut_of(env.history.view)
        self._plan = plan
        self._record: SentRecord | None = None
        self._outline: Outline | None = None
        self._body: JsonObject | None = None
        self._timer: asyncio.TimerHandle | None = None

    def sent(self, body: JsonObject) -> None:
        """Keep the body soon. Never blocks."""
        self.keep()
        self._body = body
        self._timer = asyncio.get_running_loop().call_later(KEEP_AFTER_S, self.keep)

    def keep(self) -> None:
        """Keep the body now, if that was not done yet, as the difference from the one before it."""
        body, self._body = self._body, None
        if self._timer is not None:
            self._timer.cancel()
        if body is not None:
            self._keep(body)

    def _keep(self, body: JsonObject) -> None:
        parts, known = split(body), self._env.progress.outline
        outline = Outline(
            tuple(segment.digest for segment in parts.tools),
            tuple(segment.digest for segment in parts.system),
            tuple(segment.digest for segment in parts.messages),
            parts.settings.digest,
        )
        if outline == self._outline:
            return  # the same again, after a failure that passed
        digests, before = outline.digests, known.digests if known else ()
        kept = common(before, digests)
        record = SentRecord(
            turn_id=self._turn_id,
            step=self._step,
            message_id=self._message_id,
            parent_id=self._parent_id,
            model=self._setup.model.id,
            api=self._setup.model.counting.api,
            sent_at=self._env.clock(),
            tools=len(outline.tools),
            system=len(outline.system),
            kept=kept,
            digests=digests[kept:],
            settings=outline.settings,
            marks=parts.marks,
            conditions=self._conditions(),
            rules=self._setup.model.caching,
            price=self._setup.model.price,
        )
        new = parts.prefix[kept:]
        if known is None or known.settings != outline.settings:
            new += (parts.settings,)
        self._record, self._outline = record, outline
        self._env.progress.outline = outline
        self._env.sent(PutSent(record, new))

    def _conditions(self) -> Conditions:
        plan, contract = self._plan, self._setup.contract
        return Conditions(
            plan=plan.kind,
            reason=plan.reason,
            epoch=plan.epoch,
            moved=moved(plan),
            predicted_loss=plan.predicted_loss,
            intent_revision=contract.intent_revision,
            registry_version=contract.registry_version,
            boot_id=self._env.boot_id,
            cut=self._cut,
        )

    def verdict(self, usage: Usage) -> CacheVerdict:
        """What the cache did, now that the endpoint has told; the next request is compared with this one."""
        if self._record is None or self._outline is None:
            return CacheVerdict(usage.cache_read, None)
        progress, model = self._env.progress, self._setup.model.id
        previous, current = progress.answered.get(model), Answered(self._record, self._outline, usage)
        left = previous is not None and previous.record.message_id not in {
            message.id for message in self._env.history.messages
        }
        if usage.prompt is not None:
            progress.answered[model] = current
        return explain(previous, current, left_branch=left).verdict


def common(before: Sequence[object], now: Sequence[object]) -> int:
    """How many leading parts of two requests are the same."""
    pairs = zip(before, now, strict=False)
    return next((place for place, (old, new) in enumerate(pairs) if old != new), min(len(before), len(now)))


def moved(plan: SurfacePlan) -> tuple[str, ...]:
    """What a plan does to single tools, such as `withdrawn:bash`."""
    kinds = (("withdrawn", plan.withdrawn), ("restored", plan.restored), ("added", plan.added))
    return tuple(f"{what}:{name}" for what, names in kinds for name in names)
