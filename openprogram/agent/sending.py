"""Keeping what was sent: from a request's body to its record in the chat, and from the answer to its verdict."""

from openprogram.agent.environment import Environment, Setup
from openprogram.core.jsonio import JsonObject
from openprogram.core.sent import Conditions, PutSent, SentRecord
from openprogram.core.surface import SurfacePlan
from openprogram.core.usage import CacheVerdict, Usage
from openprogram.ledger.body import split
from openprogram.ledger.difference import Outline
from openprogram.ledger.verdict import Answered, explain


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
        self._plan = plan
        self._record: SentRecord | None = None
        self._outline: Outline | None = None

    def sent(self, body: JsonObject) -> None:
        """Keep the body, as the difference from the one before it. Never blocks."""
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
        pairs = zip(before, digests, strict=False)
        kept = next((place for place, (old, new) in enumerate(pairs) if old != new), min(len(before), len(digests)))
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


def moved(plan: SurfacePlan) -> tuple[str, ...]:
    """What a plan does to single tools, such as `withdrawn:bash`."""
    kinds = (("withdrawn", plan.withdrawn), ("restored", plan.restored), ("added", plan.added))
    return tuple(f"{what}:{name}" for what, names in kinds for name in names)
