"""What a plan costs, in tokens, and when a rewrite that nobody needs still pays (spec cache.md C4). Pure."""

from collections.abc import Callable, Sequence
from typing import Final

from openprogram.core.jsonio import JsonObject
from openprogram.core.surface import Capability, Surface
from openprogram.surface.wanted import Warmth

SETTLED: Final = 10
"""Turns after a switch before which nothing is rewritten for economy: what was switched off may come back."""


def worthwhile(here: Surface, rebased: Callable[[], Sequence[JsonObject]], warmth: Warmth) -> bool:
    """Whether a rewrite now is cheaper than carrying what it would drop over as many requests as there have been.

    `rebased` makes what it would declare."""
    if warmth.size is None or warmth.prompt_tokens is None or not warmth.turn_start:
        return False
    if warmth.turns_since_switch < SETTLED:
        return False
    needed = {tool["name"] for tool in rebased()}
    dead = sum(map(warmth.size, (tool for tool in _shown(here) if tool["name"] not in needed)))
    rewrite = max(0, warmth.prompt_tokens - dead) * (warmth.write_rate - warmth.read_rate)
    return dead * warmth.read_rate * warmth.requests > rewrite


def saved(here: Surface, after: Surface, warmth: Warmth) -> int | None:
    """Tokens by which a rewrite makes each later request shorter; negative where it makes it longer."""
    if warmth.size is None:
        return None
    return sum(map(warmth.size, _shown(here))) - sum(map(warmth.size, _shown(after)))


def _shown(surface: Surface) -> list[JsonObject]:
    """The schemas in the prompt: declared, defined by deltas, and those of deferred ones that a delta refers to."""
    defined = [tool for delta in surface.deltas for tool in delta.defined]
    referenced = {name for delta in surface.deltas for name in delta.referenced}
    return [*surface.declared, *defined, *(tool for tool in surface.deferred if tool["name"] in referenced)]


def cheap(deferred: Sequence[JsonObject], warmth: Warmth) -> bool:
    """Whether all deferred schemas together cost less than one expected discovery: written once, and read in as many
    further requests as there have been."""
    if warmth.size is None or warmth.discovery_tokens is None:
        return False
    return sum(map(warmth.size, deferred)) * (1 + warmth.read_rate * warmth.requests) < warmth.discovery_tokens


def grown_loss(here: Surface, capability: Capability, warmth: Warmth) -> int | None:
    """Cached tokens lost when the array grows at its end: all that stands behind it."""
    return _behind(here.declared, capability, warmth)


def rebase_loss(here: Surface, after: Surface, capability: Capability, warmth: Warmth) -> int | None:
    """Cached tokens lost when a warm prefix is rewritten; more is kept where system prompt and array stay the same.

    A summary in place of the history leaves nothing of what stood behind the tools.
    """
    if here.declared != after.declared:
        pairs = zip(here.declared, after.declared, strict=False)
        same = next((place for place, (old, new) in enumerate(pairs) if old != new), None)
        kept = here.declared[: min(len(here.declared), len(after.declared)) if same is None else same]
        return _behind(kept, capability, warmth)
    if (here.system_digest, here.catalog, here.cut) != (after.system_digest, after.catalog, after.cut):
        return _behind(here.declared, capability, warmth)
    return None if here.deltas or after.thinking_after else 0


def _behind(kept: Sequence[JsonObject], capability: Capability, warmth: Warmth) -> int | None:
    if warmth.prompt_tokens is None:
        return None
    if warmth.prompt_tokens < capability.min_cache_tokens:
        return 0
    if warmth.size is None:
        return None
    left = sum(map(warmth.size, kept))
    # What is too short to be cached is not read either, though it is the same.
    return max(0, warmth.prompt_tokens - (left if left >= capability.min_cache_tokens else 0))
