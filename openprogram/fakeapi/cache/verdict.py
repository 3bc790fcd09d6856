"""What a simulated cache makes of one request: the bill for its input, in tokens."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class CacheVerdict:
    """`prompt` = `read` + the four writes by lifetime + `uncached`, all in tokens.

    `common_prefix` is what the prompt shares with the most similar earlier request, whatever the
    cache's own rules made of it: the difference to `read` is what breakpoints, lookback, lifetime,
    minimum size and rounding cost.
    """

    prompt: int
    read: int
    write_5m: int
    write_1h: int
    common_prefix: int
    write_30m: int = 0
    write_12h: int = 0

    def times(self, factor: float) -> CacheVerdict:
        """The bill of a tokenizer that makes so many tokens of each of ours; its parts still add up."""
        exact = Fraction(factor)
        return CacheVerdict(*(int(getattr(self, field.name) * exact) for field in fields(self)))

    @property
    def written(self) -> int:
        """Tokens written to the cache, for whatever time."""
        return self.write_5m + self.write_1h + self.write_30m + self.write_12h

    @property
    def uncached(self) -> int:
        """Input billed at the full price."""
        return self.prompt - self.read - self.written
