"""What the planner is asked: what the next request should offer, and what is known of the prefix that is cached."""

from collections.abc import Callable
from dataclasses import dataclass

from openprogram.core.jsonio import JsonObject


@dataclass(frozen=True, slots=True)
class Place:
    """The result of a call, and the message that it stands in."""

    message_id: str
    call_id: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the next request should offer.

    `tools` are the declarations that a rebase makes. `floor` are those that must be declared from the first request so
    that a later switch is free. `discovered` are what an epoch may add, in order (None: all of `tools`), but for those
    that are `waiting` for the next rebase. `deferred` are authorised and only named. What the model has and is not
    `authorised` (None: not among `tools`) is masked. `catalog` is the catalog of a rebase.

    `branch` are the ids of the messages that the request holds (None: whatever the deltas stand behind), the newest is
    `at`, and `answer` will be the id of its answer (None: not known yet). `search` is the newest result of a search for
    tools that nothing was answered to yet. `cut` is the summary that the branch begins with, if any.
    """

    model: str
    tools: tuple[JsonObject, ...]
    floor: tuple[JsonObject, ...]
    system_digest: str
    authorised: frozenset[str] | None = None
    discovered: tuple[JsonObject, ...] | None = None
    waiting: frozenset[str] = frozenset()
    deferred: tuple[JsonObject, ...] = ()
    catalog: str = ""
    branch: tuple[str, ...] | None = None
    at: str = ""
    answer: str | None = None
    search: Place | None = None
    cut: str | None = None

    @property
    def names(self) -> frozenset[str]:
        """Names of the authorised tools."""
        return self.authorised if self.authorised is not None else frozenset(str(tool["name"]) for tool in self.tools)


Size = Callable[[JsonObject], int]
"""Tokens that a declaration takes in a request."""


@dataclass(frozen=True, slots=True)
class Warmth:
    """What is known of the prefix, and of the chat that it belongs to; what is not known plans nothing.

    `now` is in Unix seconds. `prompt_tokens` are those of the request before, `requests` how many the chat has had.
    `turns_since_switch` counts turns since the last change of a switch was told. `discovery_tokens` is what one
    discovery is expected to cost where the array has to grow. The rates are prices relative to uncached input.
    """

    now: float
    turn_start: bool = True
    prompt_tokens: int | None = None
    size: Size | None = None
    requests: int = 0
    turns_since_switch: int = 0
    discovery_tokens: int | None = None
    read_rate: float = 0.1
    write_rate: float = 1.25
