"""What the next message would cost, before it is sent."""

from dataclasses import dataclass

from openprogram.core.protocol.base import SessionAck
from openprogram.core.protocol.cache_frames import Warmth


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    """Tokens of the conversation so far that are billed anew, though they were read or written before, for `cost`
    dollars at the rate at which new input is billed.

    0 where all is read from the cache, null where it is not known. `costly`: more than the user's setting
    `costly_send` lets pass without a word.
    """

    tokens: int | None
    cost: float | None
    costly: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """What the next message reads anew if it goes to this model."""

    model: str
    reread: Reread


@dataclass(frozen=True, slots=True, kw_only=True)
class SendPreviewAck(SessionAck):
    """What the next message would cost (`preview_send`): what of the conversation is billed anew `now`, and what will
    be `once_cold`, after `warm_until` or in `warm_s` seconds.

    `reason` is why the planner would rewrite what the endpoint holds (`cold`, `model_changed`, `system_changed`, ...),
    `branch` where another branch was read last, else `unchanged`. `input_cost` are the dollars for all of the next
    request's input but the message itself.
    """

    model: str | None
    state: Warmth
    warm_until: str | None
    warm_s: float | None
    reason: str
    now: Reread
    once_cold: Reread
    input_cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricesAck(SessionAck):
    """What the next message would read anew at each model (`preview_models`), as the choice of models has them."""

    prices: tuple[ModelPrice, ...]
