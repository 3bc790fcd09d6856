"""Anthropic's cache: entries are written where `cache_control` stands and found again by lookback.

The documented rules that are simulated here:

- An entry covers the whole prefix up to its mark and is bound to the model.
- A prefix below the model's minimum is not written; nothing says so.
- A read looks, at each mark of the new request, at that block and the ones before it, 20 positions in
  all, for an entry written earlier; the longest one found is read.
- An entry lives 5 minutes or 1 hour from the start of the request that wrote it; reading renews it.
- With A the longest entry read, B the last 1-hour mark after it and C the last mark: A is read,
  A to B is written at the 1-hour price, B to C at the 5-minute price, and the rest is plain input.
- An entry can be read once the answer that wrote it has begun.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from openprogram.fakeapi.cache.prefix_tree import PrefixTree
from openprogram.fakeapi.cache.segments import Prompt, Ttl, prompt_size
from openprogram.fakeapi.cache.verdict import CacheVerdict

LOOKBACK: Final = 20
SECONDS: Final[dict[Ttl, float]] = {"5m": 300.0, "1h": 3600.0}
_MAX_ENTRIES: Final = 100_000


@dataclass(slots=True)
class _Entry:
    seconds: float
    expires: float


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place in the prompt: index of the segment, tokens up to and with it, key of that prefix."""

    index: int
    tokens: int
    key: bytes
    ttl: Ttl | None


@dataclass(frozen=True, slots=True)
class CachePlan:
    """A verdict and what committing it will write and renew."""

    verdict: CacheVerdict
    writes: tuple[tuple[bytes, Ttl], ...]
    renewals: tuple[bytes, ...]
    scope: str
    prompt: Prompt
    started: float


class BreakpointCache:
    """One organisation's cache."""

    def __init__(self) -> None:
        self._entries: dict[bytes, _Entry] = {}
        # Only for the report of the common prefix; it outlives every entry.
        self._tree = PrefixTree(SECONDS["1h"])

    def look_up(self, scope: str, prompt: Prompt, minimum: int, now: float) -> CachePlan:
        """What a request that starts at `now` reads and will write; changes nothing."""
        places = _places(scope, prompt)
        marks = [place for place in places if place.ttl is not None and place.tokens >= minimum]
        read = self._longest_entry(prompt, places, now)
        hour = max((m.tokens for m in marks if m.ttl == "1h" and m.tokens > read), default=read)
        last = max((m.tokens for m in marks), default=read)
        verdict = CacheVerdict(
            prompt=prompt_size(prompt),
            read=read,
            write_5m=max(0, last - hour),
            write_1h=hour - read,
            common_prefix=self._tree.longest(scope, prompt, now),
        )
        return CachePlan(
            verdict=verdict,
            writes=tuple((m.key, m.ttl) for m in marks if m.ttl is not None and not self._alive(m.key, now)),
            renewals=tuple(p.key for p in places if p.tokens <= read and self._alive(p.key, now)),
            scope=scope,
            prompt=prompt,
            started=now,
        )

    def commit(self, plan: CachePlan) -> None:
        """Write and renew what `plan` says. Called when the answer begins."""
        if len(self._entries) > _MAX_ENTRIES:
            self._entries = {key: entry for key, entry in self._entries.items() if entry.expires > plan.started}
        for key in plan.renewals:
            entry = self._entries.get(key)
            if entry is not None:
                entry.expires = max(entry.expires, plan.started + entry.seconds)
        for key, ttl in plan.writes:
            seconds = SECONDS[ttl]
            self._entries[key] = _Entry(seconds, plan.started + seconds)
        self._tree.add(plan.scope, plan.prompt, plan.started)

    def _longest_entry(self, prompt: Prompt, places: list[_Mark], now: float) -> int:
        """Tokens of the longest live entry in reach of any mark."""
        blocks = [place for place in places if prompt[place.index].block]
        for position in range(len(blocks) - 1, -1, -1):
            if blocks[position].ttl is None:
                continue
            window = blocks[max(0, position - LOOKBACK + 1) : position + 1]
            for place in reversed(window):
                if self._alive(place.key, now):
                    return place.tokens
        return 0

    def _alive(self, key: bytes, now: float) -> bool:
        entry = self._entries.get(key)
        return entry is not None and now < entry.expires


def _places(scope: str, prompt: Prompt) -> list[_Mark]:
    """Every segment boundary with the key of the prefix that ends there."""
    key = blake2b(scope.encode(), digest_size=16).digest()
    tokens = 0
    places = []
    for index, segment in enumerate(prompt):
        key = blake2b(key + segment.digest, digest_size=16).digest()
        tokens += segment.size
        places.append(_Mark(index, tokens, key, segment.breakpoint))
    return places
