"""What the cache panel is told: parts of the acks of `inspect_cache`, `inspect_step` and `usage`."""

from dataclasses import dataclass
from typing import Literal

from openprogram.core.usage import ProviderDiagnosis, Usage

MissCause = Literal[
    "toggle",
    "discovery",
    "mcp",
    "clock",
    "compaction",
    "edit",
    "model",
    "ttl",
    "restart",
    "provider",
    "rebase",
    "user",
    "settings",
    "program",
]
"""Why tokens that an endpoint held were not reused. `provider`: the bytes were the same and in time. `user`: the user
forced a rebase, `rebase`: it saved tokens. `program`: openprogram sent others for no reason on record."""

PromptSection = Literal["tools", "system", "messages"]
Warmth = Literal["warm", "cold", "none", "unknown"]
"""Whether the endpoint still holds a prompt. `none`: it has had none; `unknown`: it does not report its cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstDifference:
    """The first segment in which a request differs from the one before it, and the byte in it.

    `before` and `after` are the text around that byte, `room` characters of which stand before it.
    """

    section: PromptSection
    index: int
    name: str
    byte: int
    before: str
    after: str
    room: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStep:
    """One model request. What is not known (not reported, not answered, no price) is null.

    `hit` is the share of its prompt that was read from the cache, `reused` the share of the prompt before it that could
    be read and was. `missed` tokens were held by the endpoint and not reused; reading them would have saved `lost`
    dollars. `provider` is the provider's own diagnosis, where it offers one. `moved` are the switches and tools that
    the request tells of, such as `withdrawn:bash`.
    """

    turn_id: str
    step: int
    message_id: str
    model: str
    at: str
    usage: Usage | None
    prompt: int | None
    cost: float | None
    cost_so_far: float | None
    hit: float | None
    reused: float | None
    missed: int | None
    lost: float | None
    cause: MissCause | None
    below_minimum: bool
    difference: FirstDifference | None
    plan: str
    reason: str
    moved: tuple[str, ...]
    provider: ProviderDiagnosis | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheTotals:
    """All counted requests of a chat, titles and subagents included. Sums are over what is known.

    `reused` is the share of cacheable input that was read, by tokens, from the second request on; `hit` that of all
    input of the requests whose endpoint told what it read. `missed` is null where something could have been read, and
    no endpoint told.
    """

    requests: int
    unpriced: int
    usage: Usage
    cost: float | None
    hit: float | None
    reused: float | None
    missed: int | None
    lost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheState:
    """Whether the endpoint still holds the chat's prompt. The next send reads about `tokens` again; that costs
    `cost_warm` dollars while it is warm, and `cost_cold` when it is not. `forced`: the next request declares the tools
    anew, as the user asked for."""

    state: Warmth
    model: str | None = None
    warm_until: str | None = None
    tokens: int | None = None
    cost_warm: float | None = None
    cost_cold: float | None = None
    forced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentInfo:
    """One part of a request. `kept`: the request before it at the same endpoint had it at the same place."""

    section: PromptSection
    name: str
    digest: str
    bytes: int
    kept: bool
