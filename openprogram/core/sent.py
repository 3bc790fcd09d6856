"""What was sent to an endpoint, kept so that every token can be explained later (spec cache.md C18, C20).

A request is a list of segments, each stored once by its digest. A record holds that list as a difference from the
record before it in the same chat, and the conditions that were in force: the inspector reads causes, it does not guess.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from openprogram.core.jsonio import JsonValue
from openprogram.core.prompt import Api
from openprogram.core.usage import CacheRules, Price, Usage

CallKind = Literal["step", "title", "subagent", "summary"]
"""What a counted model request was for. Titles, subagents and summaries have no steps of the chat's turns."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What was in force when a request was sent. Where two requests differ in one of these, it may be the cause."""

    plan: str
    """What the surface planner did: `rebase`, `keep`, `append` or a delta."""
    reason: str
    """Why, in the planner's words."""
    epoch: int
    moved: tuple[str, ...] = ()
    """What became of single tools, such as `withdrawn:bash`."""
    predicted_loss: int | None = None
    """Cached tokens that the plan gives up, where the planner knew."""
    intent_revision: int = 0
    registry_version: int = 0
    boot_id: str = ""
    cut: str | None = None
    """The summary (its message) that the request begins with; None: the history is whole."""


@dataclass(frozen=True, slots=True)
class SentRecord:
    """One request as it was sent, without its bytes.

    Its segments are the first `kept` of the record before it and then `digests`; the first `tools` of them are tools,
    the next `system` are blocks of the system prompt, the others messages. `settings` is the digest of the body without
    them, `marks` are the cache breakpoints: `[list, place, block or null, mark]`.
    """

    turn_id: str
    step: int
    message_id: str
    """The message that the answer becomes."""
    parent_id: str | None
    """The newest message that the request holds."""
    model: str
    api: Api
    sent_at: float
    """Unix seconds."""
    tools: int
    system: int
    kept: int
    digests: tuple[str, ...]
    settings: str
    marks: tuple[tuple[JsonValue, ...], ...]
    conditions: Conditions
    rules: CacheRules
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class StoredSegment:
    """A segment's digest and its bytes, canonical JSON."""

    digest: str
    data: bytes


@dataclass(frozen=True, slots=True)
class PutSent:
    """Keep a request that was sent, with those of its segments that may be new."""

    record: SentRecord
    segments: tuple[StoredSegment, ...]
    type: Literal["put_sent"] = "put_sent"


@dataclass(frozen=True, slots=True)
class Spending:
    """What one chat's requests of one kind to one model on one day (UTC, `YYYY-MM-DD`) came to.

    Sums are over what is known; `unknown` requests did not report their tokens, `unpriced` ones have no price.
    """

    session_id: str
    title: str
    model: str
    day: str
    kind: CallKind
    requests: int
    usage: Usage
    cost: float | None
    unknown: int
    unpriced: int


class SentLog(Protocol):
    """The part of the store that keeps what was sent. Every method may raise `StorageError`."""

    async def sent(self, session_id: str) -> tuple[SentRecord, ...]:
        """Every request of the chat in the order of sending; the last one of a step is the one that counts."""
        ...

    async def segments(self, session_id: str, digests: Collection[str]) -> Mapping[str, bytes]:
        """The bytes of those segments of the chat; unknown ones are left out."""
        ...

    async def spending(self, user_id: str) -> tuple[Spending, ...]:
        """All that the user's chats used, deleted ones included, newest day first."""
        ...
