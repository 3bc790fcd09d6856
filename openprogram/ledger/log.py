"""From a chat's stored records to its requests in their order, each with its whole list of segments. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from openprogram.core.sent import CallKind, SentRecord, StoredSegment
from openprogram.core.storage import UsageRow
from openprogram.core.usage import Usage
from openprogram.ledger.body import Parts
from openprogram.ledger.difference import Outline
from openprogram.ledger.verdict import Answered

SENT_KINDS: Final[frozenset[CallKind]] = frozenset({"step", "summary"})
"""What the sent requests of a chat are counted as."""


@dataclass(frozen=True, slots=True)
class Newest:
    """Of a chat: what the newest request holds, from which the next one is written as a difference; and of each model
    the last request whose tokens are known, with which the next one is compared."""

    outline: Outline | None
    answered: dict[str, Answered]


def outlines(records: Iterable[SentRecord]) -> tuple[tuple[SentRecord, Outline], ...]:
    """Each request as it was last sent, in the order of the steps' first sending.

    A record is the difference from the one before it, so that all of a chat's records are needed for any.
    """
    found = {(record.turn_id, record.step): (record, digests) for record, digests in _whole(records)}
    return tuple((record, _outline(record, digests)) for record, digests in found.values())


def newest(records: Sequence[SentRecord], usage: Iterable[UsageRow]) -> Newest:
    """What the next request of a chat goes on from."""
    counted = {(row.turn_id, row.step): row.usage for row in usage if row.kind == "step"}
    found = {(record.turn_id, record.step): (record, digests) for record, digests in _whole(records)}
    last: dict[str, tuple[SentRecord, tuple[str, ...], Usage]] = {}
    for key, (record, digests) in found.items():
        used = counted.get(key)
        if used is not None and used.prompt is not None:
            last[record.model] = record, digests, used
    answered = {
        model: Answered(record, _outline(record, digests), used) for model, (record, digests, used) in last.items()
    }
    if not records:
        return Newest(None, answered)
    final = records[-1]
    return Newest(_outline(*found[final.turn_id, final.step]), answered)


def _whole(records: Iterable[SentRecord]) -> Iterator[tuple[SentRecord, tuple[str, ...]]]:
    digests: tuple[str, ...] = ()
    for record in records:
        digests = digests[: record.kept] + record.digests
        yield record, digests


def _outline(record: SentRecord, digests: tuple[str, ...]) -> Outline:
    behind = record.tools + record.system
    return Outline(digests[: record.tools], digests[record.tools : behind], digests[behind:], record.settings)


def parts_of(record: SentRecord, outline: Outline, segments: Mapping[str, bytes]) -> Parts:
    """The parts of one request, from the bytes of its segments. Raises `KeyError` where one is missing."""

    def stored(digests: Iterable[str]) -> tuple[StoredSegment, ...]:
        return tuple(StoredSegment(digest, segments[digest]) for digest in digests)

    (settings,) = stored((record.settings,))
    return Parts(stored(outline.tools), stored(outline.system), stored(outline.messages), settings, record.marks)
