"""What an endpoint has been shown of a chat's tools, and how that may change, as values (spec cache.md sections 1, 2).

The functions over these values are in `openprogram.surface`; `openprogram.providers` tells what an endpoint can do.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final, Literal

from openprogram.core.jsonio import JsonObject

Strategy = Literal[
    "inline_changes",
    "reference_changes",
    "tool_reference",
    "additional_tools",
    "client_tool_search",
    "append",
    "bridge",
    "frozen",
]
"""How a surface may change between two rebases."""

BRIDGE_NAME: Final = "call_tool"
"""The tool through which `bridge` reaches tools that are not declared."""
PLACEHOLDER_NAME: Final = "reserved_tool"
"""The deferred tool that is declared from the first request where later changes are free only then."""
RESERVED_NAMES: Final = frozenset({BRIDGE_NAME, PLACEHOLDER_NAME})
"""Names that no registered tool may have: `openprogram.surface` owns these tools."""

PlanKind = Literal["rebase", "keep", "append", "delta"]
PlanReason = Literal[
    "first_request",
    "cold",
    "model_changed",
    "system_changed",
    "forced",
    "economy",
    "provider",
    "compacted",
    "summary",
    "unchanged",
    "added",
    "withdrawn",
    "restored",
    "discovered",
    "search_on",
    "search_off",
]


@dataclass(frozen=True, slots=True)
class Capability:
    """What an endpoint can do (a capability belongs to base URL + API + model, never to a model name alone).

    `downgraded`: the strategy is not what is known of the endpoint; it has refused that.
    """

    strategy: Strategy = "append"
    cache_ttl_s: float = 300.0
    supports_thinking: bool = False
    max_tools: int = 128
    """Most tools that a request may declare."""
    min_cache_tokens: int = 0
    """A shorter prefix is not cached; 0 where that is not known."""
    binds_thinking: bool = False
    """Thinking is refused once anything before it has changed, so that a rebase leaves out what came before it."""
    allowed_tools: bool = False
    """Takes a list of the declared tools that may be called, outside the cached prefix."""
    hosted_search: str | None = None
    """Searches the web itself, where the chip is on: the kind of tool in its API (None: our own tool searches)."""
    diagnosis: bool = False
    """Tells on request where a prompt differs from the one before it."""
    downgraded: bool = False
    endpoint: str = ""
    """API and base URL, which tell one endpoint from another of the same name; empty where they do not matter."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A change of the tools in the middle of the history. Its place and its bytes stay until the next rebase (C10).

    It stands behind the message `after`; or, where `call_id` is given, in that call's result in the message `after`.
    `answer` is the answer to the request that it was made for: a branch that goes on from `after` in another way does
    not have it (None: every branch through `after` has it).
    `defined` are declarations by value, `referenced` names of tools that were declared or defined before, `withdrawn`
    names that are no longer there; `text` is what has to be said of it where the API has no form for that.
    """

    after: str
    defined: tuple[JsonObject, ...] = ()
    referenced: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    text: str = ""
    call_id: str | None = None
    answer: str | None = None

    def stands_on(self, branch: Collection[str]) -> bool:
        """Whether the branch of these messages has it; the answer to a request that is planned counts as one."""
        return self.after in branch and (self.answer is None or self.answer in branch)

    @property
    def offered(self) -> tuple[str, ...]:
        """Names that can be called from here on."""
        return (*(str(tool["name"]) for tool in self.defined), *self.referenced)


@dataclass(frozen=True, slots=True)
class Surface:
    """What one endpoint has been shown for one session since the last rebase; stored, compared, extended.

    `declared` holds the declarations as they were sent, so that a tool that vanishes or changes moves no byte;
    `deferred` those that the endpoint keeps out of the prompt until a delta refers to them. `deltas` are those of all
    branches. `catalog` is the list of deferred tools that stands in the system prompt.
    """

    model: str
    """`endpoint/model`"""
    epoch: int
    declared: tuple[JsonObject, ...]
    masked: tuple[str, ...]
    system_digest: str
    last_request_at: float
    """Unix seconds; tells warm from cold against the endpoint's cache lifetime."""
    catalog: str = ""
    strategy: Strategy = "append"
    """Stays for the epoch, unless the endpoint refuses it."""
    deferred: tuple[JsonObject, ...] = ()
    deltas: tuple[Delta, ...] = ()
    shown: str | None = None
    """Id of the newest message that the endpoint has been sent."""
    thinking_after: str | None = None
    """Reasoning up to this message is no longer sent: what it was bound to has changed."""
    thinking_since: str | None = None
    """The epoch's first answer, where reasoning that was made before it is no longer sent, on whichever branch; then
    `thinking_after` says nothing more."""
    endpoint: str = ""
    """See `Capability.endpoint`; empty where it is not known."""
    cut: str | None = None
    """The summary (its message) that history began with when this epoch did; None: the history was whole."""

    def shown_to(self, model: str, endpoint: str) -> bool:
        """Whether it is this endpoint that was shown all that."""
        return self.model == model and (self.endpoint == endpoint or not (self.endpoint and endpoint))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tools whose schemas the model has, in their order: declared, then by deltas."""
        declared = (str(tool["name"]) for tool in self.declared)
        return tuple(dict.fromkeys((*declared, *(name for delta in self.deltas for name in delta.offered))))

    @property
    def hosted(self) -> frozenset[str]:
        """Names of those that the provider runs itself."""
        defined = (tool for delta in self.deltas for tool in delta.defined)
        return frozenset(str(tool["name"]) for tool in (*self.declared, *defined) if "hosted" in tool)

    @property
    def hidden(self) -> frozenset[str]:
        """Names that the deltas took away and did not give back."""
        hidden: set[str] = set()
        for delta in self.deltas:
            hidden.difference_update(delta.offered)
            hidden.update(delta.withdrawn)
        return frozenset(hidden)

    def on(self, branch: Collection[str]) -> "Surface":
        """The surface as the branch of these messages has it, with the id of the answer that it is about to get."""
        return replace(self, deltas=tuple(delta for delta in self.deltas if delta.stands_on(branch)))


@dataclass(frozen=True, slots=True)
class SurfacePlan:
    """How the next surface differs from the last, with the reason and the price of the choice.

    `withdrawn` and `restored` are tools whose mask changes: the model is told in the newest message. `added` are
    shown with their schemas for the first time in this epoch. `predicted_loss` counts the cached tokens that the plan
    gives up, where known.
    """

    kind: PlanKind
    reason: PlanReason
    epoch: int
    declared: tuple[str, ...]
    masked: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    predicted_loss: int | None = None
    strategy: Strategy = "append"


@dataclass(frozen=True, slots=True)
class PutSurface:
    """What the endpoint has now been shown."""

    surface: Surface
    type: Literal["put_surface"] = "put_surface"


@dataclass(frozen=True, slots=True)
class EndEpoch:
    """The user wants this epoch of the surface to end."""

    epoch: int
    type: Literal["end_epoch"] = "end_epoch"
