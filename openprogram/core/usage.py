"""Token usage in one canonical form for all providers (spec cache.md C17).

Input counts are exclusive: `uncached + cache_read + cache_write_*` is the whole prompt. What a provider does not
report is `None` (unknown), never zero.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model request."""

    uncached: int | None = None
    cache_read: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    output: int | None = None
    reasoning: int | None = None
    """Part of `output` that was spent on reasoning, where the provider tells."""
    searches: int | None = None
    """Searches that the provider made itself, where it tells: it bills them apart from tokens."""

    @property
    def prompt(self) -> int | None:
        """All input tokens, cached or not; unknown when the uncached part is."""
        if self.uncached is None:
            return None
        cached = (self.cache_read or 0) + (self.cache_write_5m or 0) + (self.cache_write_1h or 0)
        return self.uncached + cached

    def plus(self, other: "Usage") -> "Usage":
        """Sum; a side that does not know a count adds nothing to it, two unknowns stay unknown."""
        return Usage(
            uncached=_plus(self.uncached, other.uncached),
            cache_read=_plus(self.cache_read, other.cache_read),
            cache_write_5m=_plus(self.cache_write_5m, other.cache_write_5m),
            cache_write_1h=_plus(self.cache_write_1h, other.cache_write_1h),
            output=_plus(self.output, other.output),
            reasoning=_plus(self.reasoning, other.reasoning),
            searches=_plus(self.searches, other.searches),
        )


def _plus(left: int | None, right: int | None) -> int | None:
    if left is None:
        return right
    return left if right is None else left + right


@dataclass(frozen=True, slots=True)
class ProviderDiagnosis:
    """What a provider says of a request against the one before it: where they differ in its own word, such as
    `tools_changed`, and how many tokens that cost, where it tells."""

    said: str
    missed: int | None = None


@dataclass(frozen=True, slots=True)
class CacheVerdict:
    """What the cache did in one step: tokens read and not read that could have been, with the cause of a miss.

    `provider` is the provider's own diagnosis, where it offers one and has something to say."""

    read: int | None
    missed: int | None
    cause: str | None = None
    provider: ProviderDiagnosis | None = None


@dataclass(frozen=True, slots=True)
class CacheRules:
    """How an endpoint caches the prompts of a model, as far as that is documented."""

    ttl_s: float = 3600.0
    """So long is a prefix kept after its last use, at least."""
    minimum: int | None = None
    """Shorter prompts (tokens) are not cached, silently; None: not known."""
    granularity: int = 1
    """Tokens are read in multiples of this: that the rest is read again is no miss."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens of one model at one endpoint."""

    input: float
    output: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float

    def cost(self, usage: Usage) -> float | None:
        """Dollars for `usage`; unknown when the prompt or the output is."""
        if usage.uncached is None or usage.output is None:
            return None
        parts = (
            (usage.uncached, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write_5m, self.cache_write_5m),
            (usage.cache_write_1h, self.cache_write_1h),
            (usage.output, self.output),
        )
        return sum((tokens or 0) * rate for tokens, rate in parts) / 1_000_000
