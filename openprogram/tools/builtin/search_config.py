"""Which search providers are configured, in which order they are asked, and why none can be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

SearchProvider = Literal["tavily", "brave", "exa", "serper", "searxng", "keyless"]

ORDER: Final[tuple[SearchProvider, ...]] = get_args(SearchProvider)
"""Providers with a key first, in this order, then one's own SearXNG, last the keyless engines."""

UNAVAILABLE: Final = (
    "No search provider is configured. Set a key for Tavily, Brave, Exa or Serper, the address of a SearXNG, or allow "
    "the keyless engines."
)


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """Keys and addresses; what is None or empty is not configured.

    `keyless_consent` is the person's one-time consent to sending queries to third parties without an account. `order`
    may leave providers out. `urls` replaces the addresses of providers with a key. `demo` names the address of a
    canned search that speaks SearXNG's format; it is asked only where nothing else is configured, and says so.
    """

    tavily_key: str | None = field(default=None, repr=False)
    brave_key: str | None = field(default=None, repr=False)
    exa_key: str | None = field(default=None, repr=False)
    serper_key: str | None = field(default=None, repr=False)
    searxng_url: str | None = field(default=None, repr=False)
    keyless_consent: bool = False
    order: tuple[SearchProvider, ...] = ORDER
    urls: Mapping[SearchProvider, str] = field(default_factory=dict, repr=False)
    demo_url: str | None = field(default=None, repr=False)
    timeout_s: float = 12.0

    def key(self, provider: SearchProvider) -> str | None:
        """The key of a provider that takes one."""
        match provider:
            case "tavily":
                return self.tavily_key
            case "brave":
                return self.brave_key
            case "exa":
                return self.exa_key
            case "serper":
                return self.serper_key
            case "searxng" | "keyless":
                return None

    @property
    def configured(self) -> tuple[SearchProvider, ...]:
        """The providers that can be asked, in order."""
        return tuple(provider for provider in dict.fromkeys(self.order) if self._has(provider))

    def _has(self, provider: SearchProvider) -> bool:
        match provider:
            case "searxng":
                return bool(self.searxng_url)
            case "keyless":
                return self.keyless_consent
            case _:
                return bool(self.key(provider))


def availability(config: SearchConfig) -> str | None:
    """Why searching is unavailable, for people; None if it is available."""
    return None if config.configured or config.demo_url else UNAVAILABLE
