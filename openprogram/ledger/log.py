"""From a chat's stored records to its requests in their order, each with its whole list of segments. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from openprogram.core.sent import SentRecord, StoredSegment
from openprogram.core.storage import UsageRow
from openprogram.ledger.body import Parts
from openprogram.ledger.difference import Outline
from openprogram.ledger.verdict import Answered


def outlines(records: Iterable[SentRecord]) -> tuple[tuple[SentRecord, Outline], ...]:
    """Each request as it was last sent, in the order of the steps' first sending.

    A record is the difference from the one before it, so that all of a chat's records are needed for any.
    """
    found: dict[tuple[str, int], tuple[SentRecord, Outline]] = {}
    digests: tuple[str, ...] = ()
    for record in records:
        digests = digests[: record.kept] + record.digests
        behind = record.tools + record.system
        outline = Outline(digests[: record.tools], digests[record.tools : behind], digests[behind:], record.settings)
        found[record.turn_id, record.step] = record, outline
    return tuple(found.values())


def last_outline(records: Sequence[SentRecord]) -> Outline | None:
    """What the newest record holds: the next one is written as the difference from it."""
    found = outlines(records)
    newest = {id(record): outline for record, outline in found}
    return newest.get(id(records[-1])) if records else None


def last_answered(records: Sequence[SentRecord], usage: Iterable[UsageRow]) -> dict[str, Answered]:
    """Of each model the last request whose tokens are known: its next one is compared with that."""
    counted = {(row.turn_id, row.step): row.usage for row in usage if row.kind == "step"}
    answered: dict[str, Answered] = {}
    for record, outline in outlines(records):
        used = counted.get((record.turn_id, record.step))
        if used is not None and used.prompt is not None:
            answered[record.model] = Answered(record, outline, used)
    return answered


def parts_of(record: SentRecord, outline: Outline, segments: Mapping[str, bytes]) -> Parts:
    """The parts of one request, from the bytes of its segments. Raises `KeyError` where one is missing."""

    def stored(digests: Iterable[str]) -> tuple[StoredSegment, ...]:
        return tuple(StoredSegment(digest, segments[digest]) for digest in digests)

    (settings,) = stored((record.settings,))
    return Parts(stored(outline.tools), stored(outline.system), stored(outline.messages), settings, record.marks)
