"""A cache whose entries are written where a mark stands and are found again by lookback.

So does Anthropic's, with marks by `cache_control`; so does that of OpenAI's models since GPT-5.6, which set a
mark of their own at the newest message and look further back. The documented rules that are simulated here:

- An entry covers the whole prefix up to its mark and is bound to the model.
- A prefix below the model's minimum is not written; nothing says so.
- A read looks, at each mark of the new request, at that block and the ones before it, 20 positions in
  all (OpenAI: 80), for an entry written earlier; the longest one found is read.
- An entry lives for its mark's lifetime from the start of the request that wrote it; reading renews it.
- What is read ends at the longest entry found; from there to each mark in turn is written at the price of
  that mark's lifetime, and the rest is plain input.
- An entry can be read once the answer that wrote it has begun.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Final, assert_never

from openprogram.fakeapi.cache.prefix_tree import PrefixTree
from openprogram.fakeapi.cache.segments import Prompt, Ttl, prompt_size
from openprogram.fakeapi.cache.verdict import CacheVerdict

LOOKBACK: Final = 20
OPENAI_LOOKBACK: Final = 80
SECONDS: Final[dict[Ttl, float]] = {"5m": 300.0, "1h": 3600.0, "30m": 1800.0, "12h": 43_200.0}
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

    def __init__(self, lookback: int = LOOKBACK) -> None:
        self._lookback = lookback
        self._entries: dict[bytes, _Entry] = {}
        # Only for the report of the common prefix; it outlives every entry.
        self._tree = PrefixTree(max(SECONDS.values()))

    def look_up(self, scope: str, prompt: Prompt, minimum: int, now: float) -> CachePlan:
        """What a request that starts at `now` reads and will write; changes nothing."""
        places = _places(scope, prompt)
        marks = [place for place in places if place.ttl is not None and place.tokens >= minimum]
        read = self._longest_entry(prompt, places, now)
        verdict = CacheVerdict(prompt_size(prompt), read, 0, 0, common_prefix=self._tree.longest(scope, prompt, now))
        end = read
        for mark in marks:
            if mark.tokens > end and mark.ttl is not None:
                verdict = _with_write(verdict, mark.ttl, mark.tokens - end)
                end = mark.tokens
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
            window = blocks[max(0, position - self._lookback + 1) : position + 1]
            for place in reversed(window):
                if self._alive(place.key, now):
                    return place.tokens
        return 0

    def _alive(self, key: bytes, now: float) -> bool:
        entry = self._entries.get(key)
        return entry is not None and now < entry.expires


def _with_write(verdict: CacheVerdict, ttl: Ttl, tokens: int) -> CacheVerdict:
    match ttl:
        case "5m":
            return replace(verdict, write_5m=verdict.write_5m + tokens)
        case "1h":
            return replace(verdict, write_1h=verdict.write_1h + tokens)
        case "30m":
            return replace(verdict, write_30m=verdict.write_30m + tokens)
        case "12h":
            return replace(verdict, write_12h=verdict.write_12h + tokens)
        case _:
            assert_never(ttl)


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
