"""A chat's requests, each with its verdict: what the inspector shows, from stored values only (spec cache.md C18)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from openprogram.core.protocol.cache_frames import MissCause
from openprogram.core.sent import SentRecord
from openprogram.core.storage import Node, UsageRow
from openprogram.core.usage import CacheVerdict, Usage
from openprogram.ledger.difference import Outline, Place
from openprogram.ledger.log import SENT_KINDS, outlines
from openprogram.ledger.verdict import Answered, explain


@dataclass(frozen=True, slots=True)
class Inspected:
    """One request: `previous` is the last one to the same endpoint that was answered; `counted` what was reported."""

    record: SentRecord
    outline: Outline
    counted: UsageRow | None
    previous: Answered | None
    verdict: CacheVerdict
    cause: MissCause | None
    place: Place | None

    @property
    def usage(self) -> Usage:
        """Its tokens; all unknown where it was not answered."""
        return self.counted.usage if self.counted else Usage()

    @property
    def reusable(self) -> int | None:
        """How many tokens of the prompt before could have been read, at most; unknown where either side is."""
        before = self.previous.usage.prompt if self.previous else None
        return None if before is None or self.usage.cache_read is None else min(before, self.usage.prompt or before)


def inspect(records: Iterable[SentRecord], counted: Sequence[UsageRow], nodes: Iterable[Node]) -> tuple[Inspected, ...]:
    """Every request of a chat in the order of sending. One for a summary goes on from the step before it; the next step
    is compared with that step as well: so what the summary took out of the prompt shows as such."""
    rows = {(row.turn_id, row.step): row for row in counted if row.kind in SENT_KINDS}
    parents = {node.id: node.parent_id for node in nodes}
    last: dict[str, Answered] = {}
    found: list[Inspected] = []
    for record, outline in outlines(records):
        row = rows.get((record.turn_id, record.step))
        current = Answered(record, outline, row.usage if row else Usage())
        previous = last.get(record.model)
        left = previous is not None and not _below(record.parent_id, previous.record.message_id, parents)
        explained = explain(previous, current, left_branch=left)
        found.append(Inspected(record, outline, row, previous, explained.verdict, explained.cause, explained.place))
        if current.usage.prompt is not None and (row is None or row.kind == "step"):
            last[record.model] = current
    return tuple(found)


def reused_share(steps: Iterable[Inspected]) -> float | None:
    """The share of cacheable input that was read from the cache, by tokens (spec cache.md C22)."""
    pairs = [(min(step.usage.cache_read or 0, step.reusable), step.reusable) for step in steps if step.reusable]
    could = sum(reusable for _, reusable in pairs)
    return sum(read for read, _ in pairs) / could if could else None


def missed_of(steps: Sequence[Inspected]) -> int | None:
    """Tokens that were missed; unknown where a second request to an endpoint could have read some and none has told
    (C17)."""
    known = [step.verdict.missed for step in steps if step.verdict.missed is not None]
    first = {step.record.model for step in steps}
    return sum(known) if known or len(steps) == len(first) else None


def hit_share(usage: Usage) -> float | None:
    """The share of a prompt that was read from the cache."""
    return None if usage.cache_read is None or not usage.prompt else usage.cache_read / usage.prompt


def total(rows: Iterable[UsageRow]) -> tuple[Usage, float | None]:
    """Sums over what is known."""
    usage, cost = Usage(), None
    for row in rows:
        usage = usage.plus(row.usage)
        if row.cost is not None:
            cost = (cost or 0.0) + row.cost
    return usage, cost


def _below(message_id: str | None, wanted: str, parents: Mapping[str, str | None]) -> bool:
    while message_id is not None:
        if message_id == wanted:
            return True
        message_id = parents.get(message_id)
    return False
