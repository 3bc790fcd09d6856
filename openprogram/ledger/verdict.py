"""What the cache did in one step: tokens read, tokens that the endpoint held and did not reuse, and the cause. Pure.

A cause is read from the conditions that were recorded with both requests, at the place where their bytes part.
"""

import re
from dataclasses import dataclass
from typing import Final

from openprogram.core.protocol.cache_frames import MissCause
from openprogram.core.sent import SentRecord
from openprogram.core.usage import CacheVerdict, Price, Usage
from openprogram.ledger.difference import Excerpt, Outline, Place, first_place

_REASONS: Final[dict[str, MissCause]] = {
    "discovered": "discovery",
    "cold": "ttl",
    "model_changed": "model",
    "forced": "user",
    "economy": "rebase",
    "provider": "provider",
    "compacted": "compaction",
    "system_changed": "settings",
    "search_on": "toggle",
    "search_off": "toggle",
}
_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?|\d{1,2}:\d{2}(?::\d{2})?")


@dataclass(frozen=True, slots=True)
class Answered:
    """A request with what its endpoint said it used."""

    record: SentRecord
    outline: Outline
    usage: Usage


@dataclass(frozen=True, slots=True)
class Explained:
    """The verdict, and where the request first differs from the one before it; None: it does not."""

    verdict: CacheVerdict
    cause: MissCause | None = None
    place: Place | None = None


def explain(previous: Answered | None, current: Answered, *, left_branch: bool) -> Explained:
    """Compare a request with the last answered one to the same endpoint.

    `left_branch`: the answer of the one before is no part of this one's history. What could have been read is the whole
    previous prompt, as far as this one is that long. A provider that reports no cache has no verdict, which is no miss.
    """
    read = current.usage.cache_read
    if previous is None:
        return Explained(CacheVerdict(read, None))
    place = first_place(previous.outline, current.outline)
    missed = _missed(previous, current.usage)
    cause = _cause(previous, current, place, left_branch=left_branch) if missed else None
    return Explained(CacheVerdict(read, missed, cause), cause, place)


def below_minimum(usage: Usage, record: SentRecord) -> bool:
    """Whether a prompt is too short for its endpoint to cache it."""
    minimum, prompt = record.rules.minimum, usage.prompt
    return minimum is not None and prompt is not None and prompt < minimum


def shows_time(excerpt: Excerpt) -> bool:
    """Whether a date or a time stands on both sides at the byte that differs."""
    room = excerpt.room
    return all(
        any(found.start() <= room < found.end() for found in _TIME.finditer(side))
        for side in (excerpt.before, excerpt.after)
    )


def lost_cost(missed: int | None, usage: Usage, price: Price | None) -> float | None:
    """Dollars that a miss cost more than reading would have: what the tokens were billed at, less a read's rate."""
    if missed is None or price is None:
        return None
    return missed * max(0.0, new_input_rate(price, usage) - price.cache_read) / 1_000_000


def new_input_rate(price: Price, usage: Usage) -> float:
    """Dollars per million tokens that are not read from the cache: written to it, where a request like this writes."""
    if usage.cache_write_5m:
        return price.cache_write_5m
    return price.cache_write_1h if usage.cache_write_1h else price.input


def _missed(previous: Answered, usage: Usage) -> int | None:
    before, now = previous.usage.prompt, usage.prompt
    if usage.cache_read is None or before is None or now is None:
        return None
    if below_minimum(previous.usage, previous.record):
        return 0
    missed = max(0, min(before, now) - usage.cache_read)
    return missed if missed >= previous.record.rules.granularity else 0


def _cause(previous: Answered, current: Answered, place: Place | None, *, left_branch: bool) -> MissCause:
    before, now = previous.record, current.record
    expired = now.sent_at - before.sent_at > before.rules.ttl_s
    if expired and (place is None or not current.usage.cache_read):
        return "ttl"
    if place is None:
        return "settings" if previous.outline.settings != current.outline.settings else "provider"
    old, new = before.conditions, now.conditions
    if old.cut != new.cut and not left_branch:
        return "compaction"
    if place.section == "messages" and left_branch:
        return "edit"
    if old.epoch != new.epoch or place.section == "tools":
        reason = _REASONS.get(new.reason)
        if reason is not None:
            return reason
    if old.boot_id != new.boot_id:
        return "restart"
    if place.section != "messages" and old.intent_revision != new.intent_revision:
        return "toggle"
    if place.section != "messages" and old.registry_version != new.registry_version:
        return "mcp"
    return "program"
