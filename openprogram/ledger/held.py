"""What endpoints still hold of a chat's active branch, so that the next message is priced before it goes out. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from openprogram.core.sent import SentRecord
from openprogram.core.storage import Node, UsageRow
from openprogram.core.usage import Usage
from openprogram.ledger.verdict import below_minimum


@dataclass(frozen=True, slots=True)
class Asked:
    """An answered request. The first `reach` messages of the active branch are in it, or end in its answer (`own`)."""

    record: SentRecord
    usage: Usage
    reach: int
    own: bool


@dataclass(frozen=True, slots=True)
class Held:
    """Tokens of the branch that an endpoint has cached until `until` (Unix seconds; None where it has none)."""

    tokens: int = 0
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A chat's answered requests whose tokens are known, as its active branch has them."""

    asked: tuple[Asked, ...]

    @property
    def newest(self) -> Asked | None:
        """The newest one whose answer is on the branch: the next request repeats its prompt and its answer."""
        return max((one for one in self.asked if one.own), key=lambda one: one.reach, default=None)

    def last(self, model: str) -> Asked | None:
        """The last one to a model, on whatever branch."""
        return next((one for one in reversed(self.asked) if one.record.model == model), None)

    def held(self, model: str, now: float) -> Held:
        """What the endpoint of a model holds of the branch at `now`, in Unix seconds."""
        mine = self._alike(model)
        best = Held()
        for one in mine:
            until = one.record.sent_at + one.record.rules.ttl_s
            lives = now <= until and one.usage.cache_read is not None and not below_minimum(one.usage, one.record)
            tokens = _shared(one, mine) if lives else 0
            if tokens and (tokens, until) > (best.tokens, best.until or 0.0):
                best = Held(tokens, until)
        return best

    def _alike(self, model: str) -> list[Asked]:
        """The requests to a model that begin as its last one did; none where the history was cut since."""
        newest = self.newest
        mine = [one for one in self.asked if one.record.model == model]
        if newest is None or not mine:
            return []
        epoch, cut = mine[-1].record.conditions.epoch, newest.record.conditions.cut
        return [one for one in mine if (one.record.conditions.epoch, one.record.conditions.cut) == (epoch, cut)]


def standing(
    records: Iterable[SentRecord], counted: Iterable[UsageRow], nodes: Iterable[Node], branch: Sequence[str]
) -> Standing:
    """The requests of a chat. `branch` are the ids of its active branch, oldest first."""
    used = {(row.turn_id, row.step): row.usage for row in counted if row.kind == "step"}
    last = {(record.turn_id, record.step): record for record in records}
    parents = {node.id: node.parent_id for node in nodes}
    on_branch = frozenset(branch)
    depths: dict[str | None, int] = {None: 0, **{message_id: depth for depth, message_id in enumerate(branch, 1)}}
    found: list[Asked] = []
    for key, record in last.items():
        usage = used.get(key)
        if usage is not None and usage.prompt is not None:
            at = record.message_id if record.message_id in parents else record.parent_id
            found.append(Asked(record, usage, _depth(at, parents, depths), record.message_id in on_branch))
    return Standing(tuple(found))


def _shared(one: Asked, mine: Iterable[Asked]) -> int:
    """Tokens of a request that are on the branch: all of them, or those of the last one before it left the branch."""
    if one.own:
        return one.usage.prompt or 0
    return max((other.usage.prompt or 0 for other in mine if other.own and other.reach <= one.reach), default=0)


def _depth(message_id: str | None, parents: Mapping[str, str | None], depths: dict[str | None, int]) -> int:
    """How much of the branch lies above a message, which is looked up once for all that lies between."""
    passed: list[str] = []
    while message_id is not None and message_id not in depths:
        passed.append(message_id)
        message_id = parents.get(message_id)
    depth = depths[message_id]
    depths.update(dict.fromkeys(passed, depth))
    return depth
