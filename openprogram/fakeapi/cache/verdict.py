"""What a simulated cache makes of one request: the bill for its input, in tokens."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class CacheVerdict:
    """`prompt` = `read` + `write_5m` + `write_1h` + `uncached`, all in tokens.

    `common_prefix` is what the prompt shares with the most similar earlier request, whatever the
    cache's own rules made of it: the difference to `read` is what breakpoints, lookback, lifetime,
    minimum size and rounding cost.
    """

    prompt: int
    read: int
    write_5m: int
    write_1h: int
    common_prefix: int

    def times(self, factor: float) -> CacheVerdict:
        """The bill of a tokenizer that makes so many tokens of each of ours; its parts still add up."""
        exact = Fraction(factor)
        parts = (self.prompt, self.read, self.write_5m, self.write_1h, self.common_prefix)
        return CacheVerdict(*(int(part * exact) for part in parts))

    @property
    def uncached(self) -> int:
        """Input billed at the full price."""
        return self.prompt - self.read - self.write_5m - self.write_1h
